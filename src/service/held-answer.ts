// Counts the memory of an answer that the client gets only when it is whole.

import type { ByteBudget } from "../domain/byte-budget.ts";
import { fieldError, type SvcError } from "../domain/errors.ts";
import type { GenerateEvent } from "../domain/generate.ts";
import { memoryOf } from "../domain/json-bounds.ts";
import type { RecognizedPage } from "../domain/recognition.ts";

/** Bytes of memory of a byte of a file that becomes base64. */
const FILE_BYTES = 7 / 3;
/**
 * Bytes of memory of a character, of a call, of the log probability of a token or of one of its alternatives, of a word
 * or code with its place on a page, and of a cell of a table. Answers repeat the text of pages several times.
 */
const BYTES = { character: 2, call: 256, logprob: 192, word: 1024, pageCharacter: 16, cell: 128 } as const;

export class HeldAnswer {
  private readonly account;
  /** Bytes of each of several answers, and of all of them. */
  private readonly held: number[] = [];
  private total = 0;

  /** `budget`: of all such answers. `tooLarge`: returns the error about one that exceeds it alone. */
  constructor(
    private readonly budget: ByteBudget,
    private readonly tooLarge: (limit: string) => SvcError = streamIt,
  ) {
    this.account = budget.open();
  }

  /**
   * Counts what an event adds to the answer. Throws the error of `tooLarge` when the answer is larger than all of them
   * may be together, and SvcError `server_busy` when all of them are.
   */
  add(event: GenerateEvent): void {
    const choice = ("choice" in event && event.choice) || 0;
    const before = this.held[choice] ?? 0;
    const bytes = event.type === "restarted" ? -before : bytesOf(event);
    this.held[choice] = before + bytes;
    this.addBytes(bytes);
  }

  /** Counts what a page adds to the answer; throws like `add`. */
  addPage({ lines, tables, barcodes, picture, saliency }: RecognizedPage): void {
    const codes = barcodes.reduce((sum, { payload }) => sum + BYTES.word + BYTES.pageCharacter * payload.length, 0);
    const text = lines.reduce(
      (sum, line) => sum + BYTES.word * line.words.length + BYTES.pageCharacter * line.text.length,
      codes,
    );
    const cells = tables.reduce((sum, { rows, columnCount }) => sum + rows.length * columnCount, 0);
    this.addBytes(text + BYTES.cell * cells + (picture?.length ?? 0) + (saliency?.heatMap?.length ?? 0));
  }

  /** Counts a file that the answer has as base64; throws like `add`. */
  addFile(file: Uint8Array): void {
    this.addBytes(FILE_BYTES * file.length);
  }

  /** Counts further bytes of the answer; throws like `add`. */
  addBytes(bytes: number): void {
    this.total += bytes;
    if (this.total > this.budget.most) throw this.tooLarge(`${this.budget.most / 2 ** 20} MiB of memory`);
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

/** Returns the error about pages with too much on them. */
export const fewerPages = (limit: string): SvcError =>
  fieldError("unprocessable_media", "pages", `must name fewer pages: what is on these takes more than ${limit}`);

/** Returns the error about an answer with too many log probabilities, where streaming it would not help. */
export const fewerLogprobs = (limit: string): SvcError =>
  fieldError(
    "invalid_value",
    "top_logprobs",
    `must be smaller for an answer of this length, which may take at most ${limit}`,
  );

const streamIt = (limit: string) =>
  fieldError(
    "invalid_value",
    "stream",
    `must be true for an answer of this size: one that is not streamed may take at most ${limit}`,
  );
