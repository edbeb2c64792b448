// Counts the memory of an answer that the client gets only when it is whole.

import type { BodyBudget } from "../domain/body-budget.ts";
import { fieldError } from "../domain/errors.ts";
import type { GenerateEvent } from "../domain/generate.ts";
import { memoryOf } from "../domain/json-bounds.ts";

/** Bytes of memory of a character, of a call, and of the log probability of a token or of one of its alternatives. */
const BYTES = { character: 2, call: 256, logprob: 192 } as const;

export class HeldAnswer {
  private readonly account;
  /** Bytes of each of several answers, and of all of them. */
  private readonly held: number[] = [];
  private total = 0;

  /** `budget`: of all such answers. */
  constructor(private readonly budget: BodyBudget) {
    this.account = budget.open();
  }

  /**
   * Counts what an event adds to the answer. Throws SvcError `invalid_value` when the answer is larger than all of them
   * may be together, and `server_busy` when all of them are.
   */
  add(event: GenerateEvent): void {
    const choice = ("choice" in event && event.choice) || 0;
    const before = this.held[choice] ?? 0;
    const bytes = event.type === "restarted" ? -before : bytesOf(event);
    this.held[choice] = before + bytes;
    this.total += bytes;
    if (this.total > this.budget.most) throw tooLarge(this.budget.most);
    this.account.add(bytes);
  }

  /** Called when the client has the answer, or will not get it. */
  close(): void {
    this.account.close();
  }
}

function bytesOf(event: GenerateEvent): number {
  if (event.type === "tool_call") return BYTES.call + BYTES.character * event.name.length;
  if (event.type === "finish") return memoryOf([event.tokens, event.promptLogprobs]);
  if (event.type !== "text") return "text" in event ? BYTES.character * event.text.length : 0;
  const { text, logprobs = [] } = event;
  return logprobs.reduce((sum, { top }) => sum + BYTES.logprob * (1 + top.length), BYTES.character * text.length);
}

const tooLarge = (most: number) =>
  fieldError(
    "invalid_value",
    "stream",
    `must be true for an answer of this size: one that is not streamed may take at most ${most / 2 ** 20} MiB of memory`,
  );
