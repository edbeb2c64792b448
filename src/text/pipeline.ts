// Converts sampled tokens to visible text: whole characters, cut at stop sequences, with the matching log
// probabilities.

import type { TokenLogprob } from "../domain/usage.ts";
import { VisibleText, type Released } from "./visible-text.ts";

/** The pipeline of one request whose tokens are its text. */
export class TextPipeline {
  /** Holds incomplete characters back until they are complete; invalid bytes become U+FFFD. */
  private readonly decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  private readonly visible: VisibleText;

  constructor(stops: readonly string[]) {
    this.visible = new VisibleText(stops);
  }

  push(bytes: Uint8Array, logprob?: TokenLogprob): Released {
    const text = bytes.length === 0 ? "" : this.decoder.decode(bytes, { stream: true });
    // A token without text is invisible, so its log probability is not reported.
    return this.visible.push(text, logprob && bytes.length > 0 ? [logprob] : []);
  }

  /** Releases all held text at the end of the generation. */
  end(): Released {
    return this.visible.end(this.decoder.decode());
  }
}
