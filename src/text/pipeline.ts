// From sampled tokens to visible text: whole characters, cut at stop sequences, log probabilities beside their text.

import type { TokenLogprob } from "../domain/usage.ts";
import { StopMatcher } from "./stop.ts";
import { Utf8Assembler } from "./utf8.ts";

export interface Released {
  readonly text: string;
  /** Of the tokens whose last character is in `text`. */
  readonly logprobs: readonly TokenLogprob[];
  /** A stop sequence was found: nothing more will come. */
  readonly stopped: boolean;
}

const NOTHING: readonly TokenLogprob[] = [];

/** One for each request. A token's log probability is released with its last character, so text and list stay in step. */
export class TextPipeline {
  private readonly utf8 = new Utf8Assembler();
  private readonly stop: StopMatcher;
  /** Characters assembled and released so far; between them lies what the stop matcher holds. */
  private assembled = 0;
  private released = 0;
  /** Log probabilities not released yet, each with the number of assembled characters at which it may go. */
  private readonly waiting: { readonly at: number; readonly logprob: TokenLogprob }[] = [];

  constructor(stops: readonly string[]) {
    this.stop = new StopMatcher(stops);
  }

  push(bytes: Uint8Array, logprob?: TokenLogprob): Released {
    const characters = this.utf8.push(bytes);
    this.assembled += characters.length;
    // A token that completes no character belongs to the one that the next token completes.
    // A token without any text is not visible: nothing to report.
    if (logprob && bytes.length > 0)
      this.waiting.push({ at: characters === "" ? this.assembled + 1 : this.assembled, logprob });
    const { text, stopped } = this.stop.push(characters);
    return this.release(text, stopped);
  }

  /** The generation ended: whatever was held back is text. */
  end(): Released {
    const rest = this.utf8.end();
    this.assembled += rest.length;
    const { text, stopped } = this.stop.push(rest);
    return this.release(stopped ? text : text + this.stop.end(), stopped);
  }

  private release(text: string, stopped: boolean): Released {
    this.released += text.length;
    if (this.waiting.length === 0) return { text, logprobs: NOTHING, stopped };
    const ready = this.waiting.findIndex(({ at }) => at > this.released);
    const logprobs = this.waiting.splice(0, ready < 0 ? this.waiting.length : ready).map(({ logprob }) => logprob);
    return { text, logprobs, stopped };
  }
}
