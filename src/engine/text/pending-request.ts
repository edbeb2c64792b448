// A request between the port and the engine process: what was asked, how far it got, and the events it waits for.

import type { SvcError } from "../../domain/errors.ts";
import type { EngineEvent } from "../../domain/generate.ts";
import { EventQueue } from "../process/queue.ts";
import type { RequestKey } from "../process/protocol.ts";
import type { ToEngine } from "./protocol.ts";

/** `unsent`: no engine has it · `sent`: an engine has it, not computed yet · `started`: lost if the engine dies. */
type Progress = "unsent" | "sent" | "started";

/** Engine deaths that an untouched request survives; more than this and it may be their cause. */
const MOST_LIVES = 3;
/** With which an engine ends that the making of a request's grammar held up: `ffi/llama/grammar-watch.hpp`. */
const PROMPT_HELD_UP = 71;

/**
 * The request whose grammar ended the engine before it was accepted, as the exit code says. Grammars are made in the order in
 * which requests come; what waits for its images or sound has that behind it, as a rule.
 */
export function culprit(code: number | null, pending: Iterable<PendingRequest>): PendingRequest | undefined {
  if (code !== PROMPT_HELD_UP) return undefined;
  const suspects = [...pending].filter((one) => one.waitsForGrammar);
  return suspects.find(({ message }) => !hasMedia(message)) ?? suspects[0];
}

/** A grammar is made for it. */
function isConstrained(message: ToEngine | undefined): boolean {
  if (!message || !("request" in message)) return false;
  const { constraint, tools } = message.request;
  return constraint !== undefined || tools.length > 0;
}

const hasMedia = (message: ToEngine | undefined): boolean =>
  message !== undefined && "request" in message && (message.request.media?.length ?? 0) > 0;

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

  /** An engine has it and has not accepted it yet, and makes a grammar for it. */
  get waitsForGrammar(): boolean {
    return this.progress === "sent" && !this.accepted && isConstrained(this.message);
  }

  /** The engine died while holding this request untouched. False when it has been through that too often. */
  survives(): boolean {
    return --this.lives > 0;
  }

  settle(error?: SvcError): void {
    clearTimeout(this.timer);
    if (error) this.events.fail(error);
    else this.events.end();
  }
}
