// Prompts of a given size without shared prefixes, so that no server can reuse cached tokens.

/** Tokens that the benchmark models need for a word of four letters with its space, and for the chat template. */
const TOKENS_PER_WORD = 2.65;
const TEMPLATE_TOKENS = 14;

/** Returns prompts of about `tokens` tokens; the same seed gives the same sequence of prompts. */
export class PromptSource {
  #state: number;

  constructor(seed: number) {
    this.#state = seed * 2_654_435_761 + 1;
  }

  next(tokens: number): string {
    const words = Math.max(4, Math.round((tokens - TEMPLATE_TOKENS) / TOKENS_PER_WORD));
    return Array.from({ length: words }, () => this.#word()).join(" ");
  }

  #word(): string {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    const letters = this.#state >>> 8;
    return [0, 5, 10, 15].map((shift) => String.fromCharCode(97 + (((letters >> shift) & 31) % 26))).join("");
  }
}
