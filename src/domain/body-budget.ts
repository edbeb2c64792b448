// What the bodies of requests may take together: memory while they are read and parsed and as media, and the disk as files.

import { SvcError } from "./errors.ts";

const MB = 1024 * 1024;

/** Two of the largest bodies and a half. What a body takes beside its bytes is up to four times as much, for a moment. */
const MOST_BYTES = 256 * MB;
/** What every body may have whatever others take. */
const FREE_BYTES = MB;
const RETRY_SECONDS = 2;

/** One budget for all bodies in flight, or for all media or files that came in them. */
export class BodyBudget {
  private held = 0;

  /** `most`: bytes. `what` they are of, for the message. */
  constructor(
    readonly most = MOST_BYTES,
    private readonly what = "request bodies that are being read",
  ) {}

  /** The account of a body that begins. */
  open(): BodyAccount {
    return new BodyAccount((bytes) => {
      if (bytes > 0 && this.held + bytes > this.most) throw noRoom(this.most, this.what);
      this.held += bytes;
    });
  }
}

/** The bytes that one body holds. */
export class BodyAccount {
  private held = 0;

  constructor(private readonly take: (bytes: number) => void) {}

  /** So many bytes are held now. Throws SvcError `server_busy` when all bodies together have too many. */
  hold(bytes: number): void {
    this.take(counted(bytes) - counted(this.held));
    this.held = bytes;
  }

  /** So many bytes are held besides. Throws the same. */
  add(bytes: number): void {
    this.hold(this.held + bytes);
  }

  /** None is held any more. */
  close(): void {
    this.hold(0);
  }
}

const counted = (bytes: number): number => Math.max(0, bytes - FREE_BYTES);

function noRoom(most: number, what: string): SvcError {
  const message = `The server is at capacity: ${what} have ${most / MB} MB together.`;
  return new SvcError("server_busy", message, { retryAfterSeconds: RETRY_SECONDS });
}
