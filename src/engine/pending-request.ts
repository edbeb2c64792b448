// A request between the port and the engine process: what was asked, how far it got, and the events it waits for.

import type { SvcError } from "../domain/errors.ts";
import type { EngineEvent } from "../domain/generate.ts";
import { EventQueue } from "./event-queue.ts";
import type { RequestKey, ToEngine } from "./protocol.ts";

/** `unsent`: no engine has it · `sent`: an engine has it, not computed yet · `started`: lost if the engine dies. */
type Progress = "unsent" | "sent" | "started";

/** Engine deaths that an untouched request survives; more than this and it may be their cause. */
const MOST_LIVES = 3;
/** With which an engine ends that a grammar held up for too long: `ffi/llama/grammar-watch.cpp`. */
const HELD_UP = 70;

/** A grammar is made for it. */
function isConstrained(message: ToEngine | undefined): boolean {
  if (!message || !("request" in message)) return false;
  const { constraint, tools } = message.request;
  return constraint !== undefined || tools.length > 0;
}

export class PendingRequest {
  readonly events = new EventQueue<EngineEvent | Int32Array | string>();
  progress: Progress = "unsent";
  accepted = false;
  /** What an engine is sent; nothing once one computes it: images and sound are large. */
  message: ToEngine | undefined;
  private lives = MOST_LIVES;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    readonly key: RequestKey,
    /** Correlation id; empty for work that cannot be cancelled by name. */
    readonly id: string,
    message: ToEngine,
  ) {
    this.message = message;
  }

  /** Calls `expire` unless the request is sent or settled within `ms`. */
  waitForEngine(ms: number, expire: () => void): void {
    this.progress = "unsent";
    this.timer = setTimeout(expire, ms);
  }

  sent(): void {
    clearTimeout(this.timer);
    this.progress = "sent";
  }

  /** The engine computes it: no other one will be sent it. */
  started(): void {
    this.progress = "started";
    this.message = undefined;
  }

  /**
   * The engine died, with an exit code or by a signal, while holding this request untouched. False when it has been through
   * that too often, or may have been what the engine was held up by.
   */
  survives(code: number | null): boolean {
    if (code === HELD_UP && !this.accepted && isConstrained(this.message)) return false;
    return --this.lives > 0;
  }

  settle(error?: SvcError): void {
    clearTimeout(this.timer);
    if (error) this.events.fail(error);
    else this.events.end();
  }
}
