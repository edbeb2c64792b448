// From sampled tokens to visible text: whole characters, cut at stop sequences, log probabilities beside their text.

import type { TokenLogprob } from "../domain/usage.ts";
import { Utf8Assembler } from "./utf8.ts";
import { VisibleText, type Released } from "./visible-text.ts";

/** One for each request whose tokens are its text. */
export class TextPipeline {
  private readonly utf8 = new Utf8Assembler();
  private readonly visible: VisibleText;

  constructor(stops: readonly string[]) {
    this.visible = new VisibleText(stops);
  }

  push(bytes: Uint8Array, logprob?: TokenLogprob): Released {
    // A token without any text is not visible: nothing to report.
    return this.visible.push(this.utf8.push(bytes), logprob && bytes.length > 0 ? [logprob] : []);
  }

  /** The generation ended: whatever was held back is text. */
  end(): Released {
    return this.visible.end(this.utf8.end());
  }
}
