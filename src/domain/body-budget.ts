// Limits what all request bodies together may take: memory while they are read, parsed or held as media; disk as files.

import { SvcError } from "./errors.ts";

const MB = 1024 * 1024;

/** Two and a half of the largest bodies. For a moment, a body may take up to four times its own bytes in addition. */
const MOST_BYTES = 256 * MB;
/** Every body may hold this much, whatever others hold. */
const FREE_BYTES = MB;
const RETRY_SECONDS = 2;

/** One budget for all bodies in flight, or for all media or files that they contained. */
export class BodyBudget {
  private held = 0;

  /** `most`: limit in bytes. `what`: what holds these bytes, for the error message. */
  constructor(
    readonly most = MOST_BYTES,
    private readonly what = "request bodies that are being read",
  ) {}

  /** Opens an account for a new body. */
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

  /** Sets the bytes held to `bytes`. Throws SvcError `server_busy` when all bodies together would hold too many. */
  hold(bytes: number): void {
    this.take(counted(bytes) - counted(this.held));
    this.held = bytes;
  }

  /** Adds `bytes` to the bytes held. Throws SvcError `server_busy` like `hold`. */
  add(bytes: number): void {
    this.hold(this.held + bytes);
  }

  /** Releases all bytes held. */
  close(): void {
    this.hold(0);
  }
}

const counted = (bytes: number): number => Math.max(0, bytes - FREE_BYTES);

function noRoom(most: number, what: string): SvcError {
  const message = `The server is at capacity: ${what} may have at most ${most / MB} MiB in all.`;
  return new SvcError("server_busy", message, { retryAfterSeconds: RETRY_SECONDS });
}
