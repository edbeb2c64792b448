// Generates a valid byte-level BPE vocabulary of any size: the 256 bytes, pairs of letters, pairs of pairs, special
// tokens. It can tokenize every text, so that benchmarks need no tokenizer of a published model.

import type { GgufValue } from "../../vendor/gguf-writer.ts";

export interface Vocabulary {
  readonly tokens: readonly string[];
  readonly merges: readonly string[];
  /** llama.cpp's token kinds: 1 normal, 3 control. */
  readonly kinds: readonly number[];
  readonly endOfTurn: number;
  readonly endOfText: number;
  /** True for tokens made of letters and spaces only; a benchmark model may generate nothing else. */
  readonly isPlain: (token: number) => boolean;
}

const SPECIALS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"];
const LETTERS = [..."abcdefghijklmnopqrstuvwxyz"];
/** The spelling of a space in byte-level BPE. */
const SPACE = "Ġ";

/** Builds a vocabulary of exactly `size` tokens (at least 256 + 702 + 3, at most about 475,000). */
export function makeVocabulary(size: number): Vocabulary {
  const tokens = byteSpellings();
  const merges: string[] = [];
  const add = (left: string, right: string) => {
    tokens.push(left + right);
    merges.push(`${left} ${right}`);
  };
  const heads = [...LETTERS, SPACE].flatMap((first) => LETTERS.map((second) => [first, second] as const));
  for (const [first, second] of heads) add(first, second);
  const tails = LETTERS.flatMap((first) => LETTERS.map((second) => first + second));
  const wanted = size - SPECIALS.length;
  fill: for (const [first, second] of heads) {
    for (const tail of tails) {
      if (tokens.length >= wanted) break fill;
      add(first + second, tail);
    }
  }
  const firstSpecial = tokens.length;
  tokens.push(...SPECIALS);
  const plain = /^[a-zĠ]+$/;
  const isPlain = tokens.map((token) => plain.test(token));
  return {
    tokens,
    merges,
    kinds: tokens.map((_, id) => (id < firstSpecial ? 1 : 3)),
    endOfText: firstSpecial,
    endOfTurn: firstSpecial + 2,
    isPlain: (token) => isPlain[token] === true,
  };
}

/** Returns the metadata of a model with these tokens. */
export const byteLevelTokenizer = ({
  tokens,
  kinds,
  merges,
}: Pick<Vocabulary, "tokens" | "kinds" | "merges">): Record<string, GgufValue> => ({
  "tokenizer.ggml.model": { type: "string", value: "gpt2" },
  "tokenizer.ggml.pre": { type: "string", value: "qwen2" },
  "tokenizer.ggml.tokens": { type: "strings", value: tokens },
  "tokenizer.ggml.token_type": { type: "i32s", value: kinds },
  "tokenizer.ggml.merges": { type: "strings", value: merges },
});

/** Returns GPT-2's printable stand-in for each byte: visible Latin-1 stays, the rest moves up from U+0100. */
function byteSpellings(): string[] {
  const isVisible = (byte: number) =>
    (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || (byte >= 0xae && byte <= 0xff);
  let moved = 0;
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(isVisible(byte) ? byte : 0x100 + moved++));
}
