// Connects a WebSocket to its live session: handles the client's events one after another and sends the session's.

import { parseEvent } from "../dialect/realtime/decode.ts";
import type { RealtimeWire } from "../dialect/realtime/wire.ts";
import type { ByteAccount, ByteBudget } from "../domain/byte-budget.ts";
import { SvcError, typedError } from "../domain/errors.ts";
import type { LiveEnd, LiveEvent } from "../domain/live.ts";
import type { TurnLimit } from "../domain/turn-limit.ts";
import type { LiveSession } from "../service/live/session.ts";
import type { SocketConnection, SocketHandler } from "./socket.ts";

const MB = 2 ** 20;

/** What the shortest event counts, in characters: as much work as there is in an event without any. */
const SHORTEST_COUNTS = 4096;
/** Most events of a session that may wait: all the sound that may wait, in pieces of 15 ms. */
const MOST_EVENTS = 20_000;
/** Most bytes of a session's waiting events: all the sound that may wait, and an event of the largest size. */
const MOST_WAITING = 64 * MB;
/** Bytes that a character takes, unless all of its event are of Latin script. */
const CHARACTER_BYTES = 2;

/** Close codes and reasons of RFC 6455. */
const CLOSING: Readonly<Record<LiveEnd, readonly [code: number, reason: string]>> = {
  closed: [1000, "the session has ended"],
  limit: [1008, "the session reached a limit"],
  shutdown: [1001, "the server is shutting down"],
  failed: [1011, "the session failed"],
};

/** What all sessions share. */
export interface SharedLimits {
  /** The turns in which events are handled, counted in characters; each session waits for one at a time. */
  readonly turns: TurnLimit;
  /** The memory of the events that wait for their turn. */
  readonly waiting: ByteBudget;
}

/** A live session's WebSocket. */
export class RealtimeSocket implements SocketHandler {
  session: Pick<LiveSession, "begin" | "handle" | "fail" | "close"> | undefined;
  /** How the session ended. */
  how: LiveEnd | undefined;
  private connection: SocketConnection | undefined;
  private readonly end = Promise.withResolvers<void>();
  private readonly waiting: (string | Uint8Array)[] = [];
  private waitingBytes = 0;
  private readonly account: ByteAccount;

  constructor(
    private readonly wire: RealtimeWire,
    private readonly shared: SharedLimits,
    readonly onUnexpected: (error: unknown) => void,
  ) {
    this.account = shared.waiting.open();
  }

  /** Resolves when the connection is closed. */
  get ended(): Promise<void> {
    return this.end.promise;
  }

  opened(connection: SocketConnection): void {
    this.connection = connection;
    if (this.how) this.close(this.how);
    else this.session?.begin();
  }

  received(message: string | Uint8Array): void {
    if (this.how) return;
    try {
      if (this.waiting.length >= MOST_EVENTS || this.waitingBytes > MOST_WAITING) throw tooMuchWaits();
      this.hold(this.waitingBytes + bytesOf(message));
    } catch (error) {
      return this.session?.fail(typedError(error, this.onUnexpected), "limit");
    }
    if (this.waiting.push(message) === 1) void this.work();
  }

  /** Handles the waiting messages, each in its turn, until none is left or the session has ended. */
  private async work(): Promise<void> {
    for (let [message] = this.waiting; message !== undefined; [message] = this.waiting) {
      const turn = this.shared.turns.enter(Math.max(message.length, SHORTEST_COUNTS));
      if (turn) await turn;
      if (this.how) return;
      this.waiting.shift();
      this.hold(this.waitingBytes - bytesOf(message));
      this.take(message);
    }
  }

  private hold(bytes: number): void {
    this.account.hold(bytes);
    this.waitingBytes = bytes;
  }

  private take(message: string | Uint8Array): void {
    let id: string | undefined;
    try {
      if (typeof message !== "string") {
        const sentence = `An event must be a text message; got a binary one of ${message.length} bytes.`;
        throw new SvcError("unsupported_media_type", sentence);
      }
      const event = parseEvent(message);
      ({ id } = event);
      this.session?.handle(this.wire.read(event), id);
    } catch (error) {
      this.emit({
        type: "error",
        error: typedError(error, this.onUnexpected),
        ...(id !== undefined && { cause: id }),
      });
    }
  }

  closed(): void {
    this.connection = undefined;
    this.over("closed");
    this.session?.close();
    this.end.resolve();
  }

  readonly emit = (event: LiveEvent): void => {
    for (const text of this.wire.write(event)) this.connection?.send(text);
  };

  readonly onEnd = (how: LiveEnd): void => {
    this.over(how);
    this.close(how);
  };

  /** Discards the messages that are still waiting. */
  private over(how: LiveEnd): void {
    this.how ??= how;
    this.waiting.length = 0;
    this.hold(0);
  }

  private close(how: LiveEnd): void {
    this.connection?.close(...CLOSING[how]);
  }
}

const bytesOf = ({ length }: string | Uint8Array): number => CHARACTER_BYTES * length;

function tooMuchWaits(): SvcError {
  const message = `At most ${MOST_EVENTS} events, or ${MOST_WAITING / MB} MiB of them, may wait: the session ends.`;
  return new SvcError("rate_limit_exceeded", message);
}
