// Limits what all requests together may take for one purpose, in bytes: bodies that are being read, parsed bodies, media,
// answers held in memory, uploaded files. Work that does not fit is refused (`Semaphore` makes it wait).

import { SvcError } from "./errors.ts";

const MB = 1024 * 1024;

/** Two and a half of the largest bodies. For a moment, a body may take up to four times its own bytes in addition. */
const MOST_BYTES = 256 * MB;
/** Every account may hold this much, whatever others hold. */
export const FREE_BYTES = MB;
const RETRY_SECONDS = 2;

/** The budget for one purpose. */
export class ByteBudget {
  private held = 0;

  /** `most`: limit in bytes. `what`: what holds these bytes, for the error message. */
  constructor(
    readonly most = MOST_BYTES,
    private readonly what = "request bodies that are being read",
  ) {}

  /** Opens an account for one request. */
  open(): ByteAccount {
    return new ByteAccount((bytes) => {
      if (bytes > 0 && this.held + bytes > this.most) throw noRoom(this.most, this.what);
      this.held += bytes;
    });
  }
}

/** The bytes that one request holds. */
export class ByteAccount {
  private held = 0;

  constructor(private readonly take: (bytes: number) => void) {}

  /**
   * Sets the bytes held to `bytes`. Throws SvcError `server_busy` when all accounts together would hold too many; then
   * this one holds nothing at once, so that others that ask in the same moment are not refused as well.
   */
  hold(bytes: number): void {
    try {
      this.take(counted(bytes) - counted(this.held));
      this.held = bytes;
    } catch (error) {
      this.close();
      throw error;
    }
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
  const message = `The server is at capacity: ${what} may use at most ${most / MB} MiB together.`;
  return new SvcError("server_busy", message, { retryAfterSeconds: RETRY_SECONDS });
}
