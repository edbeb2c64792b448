// Tokenizes texts: a few short ones at once, all others on the library's prompt threads, in parts, so that the texts of
// one request hold up no other.

import { LlamaError } from "../../../../ffi/llama/api.ts";
import type { Embedder } from "../../../../ffi/llama/embedder.ts";
import { fieldError } from "../../../domain/errors.ts";
import { lengthOf } from "../../../domain/prompt-size.ts";
import type { JobKey } from "../../process/protocol.ts";

export type Special = Parameters<Embedder["tokenize"]>[1];

/** Whose texts these are. */
export interface TextsOf {
  readonly key: JobKey;
  readonly client?: string | undefined;
  /** The request field that holds the texts. */
  readonly field: string;
}

/** Characters of texts that are tokenized at once: some milliseconds of work. */
const SHORT = 16 * 1024;
/** Characters of texts, about, that are tokenized by one job on a prompt thread. */
const PART = 64 * 1024;

interface Waiting extends PromiseWithResolvers<Int32Array[]> {
  readonly of: TextsOf;
}

export class TextJobs {
  private readonly waiting = new Map<number, Waiting>();

  constructor(private readonly embedder: Embedder) {}

  /** Whether the prompt threads have work. */
  get isBusy(): boolean {
    return this.waiting.size > 0;
  }

  /** Returns the tokens of each text. Throws SvcError about texts that take too long; never settles after `cancel`. */
  async tokenize(texts: readonly string[], special: Special, of: TextsOf): Promise<Int32Array[]> {
    if (lengthOf(texts) <= SHORT) return texts.map((text) => this.embedder.tokenize(text, special));
    const tokens: Int32Array[] = [];
    for (let at = 0; at < texts.length;) {
      let end = at + 1;
      for (let size = texts[at]?.length ?? 0; end < texts.length; end++) {
        size += texts[end]?.length ?? 0;
        if (size > PART) break;
      }
      tokens.push(...(await this.start(texts.slice(at, end), special, of)));
      at = end;
    }
    return tokens;
  }

  /** Forgets the texts of a request. */
  cancel(key: JobKey): void {
    for (const [job, { of }] of this.waiting) {
      if (of.key !== key) continue;
      this.waiting.delete(job);
      this.embedder.cancelPrompt(job);
    }
  }

  /** Hands over finished texts; blocks this thread for up to `waitMs` milliseconds while the prompt threads work. */
  collect(waitMs: number): void {
    const first = this.isBusy ? this.embedder.takePrompt(waitMs) : undefined;
    for (let done = first; done; done = this.embedder.takePrompt(0)) {
      const waiting = this.waiting.get(done.job);
      this.waiting.delete(done.job);
      if (!("error" in done)) waiting?.resolve(split(done.tokens, done.lengths ?? []));
      else if (done.code === "prompt-too-slow") waiting?.reject(tooSlow(waiting.of.field));
      else waiting?.reject(new LlamaError(done.error, done.code));
    }
  }

  private start(texts: readonly string[], special: Special, of: TextsOf): Promise<Int32Array[]> {
    const request = { texts, addSpecial: special === "around", parseSpecial: special !== "none" };
    const waiting = { ...Promise.withResolvers<Int32Array[]>(), of };
    this.waiting.set(this.embedder.submitPrompt(request, of.key, of.client), waiting);
    return waiting.promise;
  }
}

function split(tokens: Int32Array, lengths: readonly number[]): Int32Array[] {
  let start = 0;
  return lengths.map((length) => tokens.subarray(start, (start += length)));
}

const tooSlow = (field: string) => fieldError("invalid_value", field, "takes more than 20 seconds to be tokenized");
