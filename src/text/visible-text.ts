// Prepares text for the client: cuts it at stop sequences and keeps log probabilities together with their text.

import type { TokenLogprob } from "../domain/usage.ts";
import { StopMatcher } from "./stop.ts";

export interface Released {
  readonly text: string;
  /** Log probabilities of the tokens whose last character is in `text`. */
  readonly logprobs: readonly TokenLogprob[];
  /** The stop sequence that was found: no more text follows. */
  readonly stop?: string;
}

const NOTHING: readonly TokenLogprob[] = [];

/** Releases a token's log probability with the token's last character, so that text and list match. */
export class VisibleText {
  private readonly stop: StopMatcher;
  /** Characters received and released so far; the difference is what the stop matcher holds. */
  private received = 0;
  private released = 0;
  /** Log probabilities not released yet; `at`: how many characters must be released first. */
  private readonly waiting: { readonly at: number; readonly logprob: TokenLogprob }[] = [];

  constructor(stops: readonly string[]) {
    this.stop = new StopMatcher(stops);
  }

  /** Adds characters, and the log probabilities of the tokens that end with the last of them. */
  push(characters: string, logprobs: readonly TokenLogprob[] = NOTHING): Released {
    this.received += characters.length;
    // A token that completes no character belongs to the character that the next token completes.
    const at = characters === "" ? this.received + 1 : this.received;
    for (const logprob of logprobs) this.waiting.push({ at, logprob });
    const { text, stop } = this.stop.push(characters);
    return this.release(text, stop);
  }

  /** Adds the last text and releases all held text. */
  end(rest = ""): Released {
    this.received += rest.length;
    const { text, stop } = this.stop.push(rest);
    return this.release(stop === undefined ? text + this.stop.end() : text, stop);
  }

  private release(text: string, stop: string | undefined): Released {
    this.released += text.length;
    const found = stop === undefined ? {} : { stop };
    if (this.waiting.length === 0) return { text, logprobs: NOTHING, ...found };
    const ready = this.waiting.findIndex(({ at }) => at > this.released);
    const logprobs = this.waiting.splice(0, ready < 0 ? this.waiting.length : ready).map(({ logprob }) => logprob);
    return { text, logprobs, ...found };
  }
}
