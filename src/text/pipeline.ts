// From sampled tokens to visible text: whole characters, cut at stop sequences, log probabilities beside their text.

import type { TokenLogprob } from "../domain/usage.ts";
import { VisibleText, type Released } from "./visible-text.ts";

/** One for each request whose tokens are its text. */
export class TextPipeline {
  /** Holds an incomplete character back until it is complete; broken bytes become U+FFFD. */
  private readonly decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  private readonly visible: VisibleText;

  constructor(stops: readonly string[]) {
    this.visible = new VisibleText(stops);
  }

  push(bytes: Uint8Array, logprob?: TokenLogprob): Released {
    const text = bytes.length === 0 ? "" : this.decoder.decode(bytes, { stream: true });
    // A token without any text is not visible: nothing to report.
    return this.visible.push(text, logprob && bytes.length > 0 ? [logprob] : []);
  }

  /** The generation ended: whatever was held back is text. */
  end(): Released {
    return this.visible.end(this.decoder.decode());
  }
}
