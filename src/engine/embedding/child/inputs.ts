// Turns inputs into the token ids that the model reads: adds special tokens and truncates to the longest input.

import type { Embedder, LoadedEmbedder } from "../../../../ffi/llama/embedder.ts";
import { joined } from "../../../../ffi/runtime/library.ts";
import { refuseTooLong, type EmbeddingInput, type EmbeddingWork } from "../../../domain/embedding.ts";
import { fieldError, type SvcError } from "../../../domain/errors.ts";
import type { TextJobs, TextsOf } from "./text-jobs.ts";

/** Words of more than 100 letters, which BERT's tokenizer replaces as a whole by its unknown token. */
const ENDLESS_WORD = /[^\s\p{P}\p{Script=Han}$+<=>^`|~]{101,}/gu;
/** Maximum characters of the prompts that a reranker's template makes of one request, each with the whole query. */
const MOST_FILLED = 16 * 2 ** 20;

interface PreparedInput {
  readonly tokens: Int32Array;
  readonly isCut: boolean;
}

interface PreparedInputs {
  readonly inputs: readonly Int32Array[];
  /** How many inputs were truncated. */
  readonly truncated: number;
}

type Of = Omit<TextsOf, "field">;

export class InputReader {
  private readonly model: LoadedEmbedder;
  /** Special tokens that end a text; truncating a text must keep them. */
  private readonly tail: Int32Array;
  /** What an endless word becomes. */
  private readonly unknown: Int32Array;

  constructor(
    embedder: Embedder,
    private readonly texts: TextJobs,
    private readonly maxTokens: number,
  ) {
    this.model = embedder.model();
    this.unknown = embedder.tokenize("[UNK]", "parsed");
    const bare = embedder.tokenize("a", "none");
    const whole = embedder.tokenize("a", "around");
    const start = whole.findIndex((_, at) => bare.every((token, i) => whole[at + i] === token));
    this.tail = start < 0 ? new Int32Array() : whole.slice(start + bare.length);
  }

  /**
   * Throws SvcError about token ids outside the vocabulary, an empty text for a model without tokens around texts, a
   * query that leaves no room for documents, and texts that are too long where they must not be truncated.
   */
  async read(work: EmbeddingWork, of: Of): Promise<PreparedInputs> {
    const whole =
      work.kind === "embed" ? await this.inputs(work.inputs, of) : await this.pairs(work.query, work.documents, of);
    const empty = whole.findIndex(({ tokens }) => tokens.length === 0);
    if (empty >= 0) {
      const sentence = `must have no empty text: this model reads no tokens around a text; number ${empty} is empty`;
      throw fieldError("invalid_value", work.kind === "embed" ? "input" : "documents", sentence);
    }
    refuseTooLong(
      work,
      this.maxTokens,
      whole.findIndex(({ isCut }) => isCut),
    );
    return { inputs: whole.map(({ tokens }) => tokens), truncated: whole.filter(({ isCut }) => isCut).length };
  }

  private async inputs(inputs: readonly EmbeddingInput[], of: Of): Promise<PreparedInput[]> {
    const ids = inputs.map((input, at) => (typeof input === "string" ? undefined : this.known(input, at)));
    const texts = inputs.filter((input) => typeof input === "string").map((text) => this.parts(text).join(" [UNK] "));
    const ofTexts = (await this.texts.tokenize(texts, "around", { ...of, field: "input" })).values();
    return ids.map((own) => (own ? this.cut(own, false) : this.cut(ofTexts.next().value ?? new Int32Array(), true)));
  }

  private known(input: readonly number[], at: number): Int32Array {
    const { vocabulary } = this.model;
    const wrong = input.find((id) => id < 0 || id >= vocabulary);
    if (wrong === undefined) return Int32Array.from(input);
    const sentence = `must have token ids from 0 to ${vocabulary - 1} for this model; input ${at} has ${wrong}`;
    throw fieldError("invalid_value", "input", sentence);
  }

  /**
   * Does what Hugging Face's BERT tokenizer does before splitting into word pieces, and llama.cpp only in part. Returns
   * what is between unknown tokens.
   */
  private parts(text: string): string[] {
    if (!this.model.stripsAccents) return [text];
    return text
      .normalize("NFD")
      .replace(/\p{Mn}/gu, "")
      .split(ENDLESS_WORD);
  }

  private cut(tokens: Int32Array, isText: boolean): PreparedInput {
    if (tokens.length <= this.maxTokens) return { tokens, isCut: false };
    const tail = isText ? this.tail : new Int32Array();
    const kept = tokens.slice(0, this.maxTokens);
    kept.set(tail, this.maxTokens - tail.length);
    return { tokens: kept, isCut: true };
  }

  private async pairs(query: string, documents: readonly string[], of: Of): Promise<PreparedInput[]> {
    const { rerankTemplate } = this.model;
    if (rerankTemplate !== undefined) return this.fill(rerankTemplate, query, documents, of);
    const texts = [query, ...documents].map((text) => this.parts(text));
    // No text may spell the separators.
    const tokens = (await this.texts.tokenize(texts.flat(), "none", { ...of, field: "documents" })).values();
    const [first = new Int32Array(), ...read] = texts.map((parts) => {
      const pieces = parts.flatMap(() => [this.unknown, tokens.next().value ?? new Int32Array()]);
      // `joined` adds a place.
      return joined(pieces.slice(1)).subarray(0, -1);
    });
    return read.map((document) => this.join(first, document));
  }

  /** Joins query and document with the separators that the vocabulary puts between and around them. */
  private join(query: Int32Array, document: Int32Array): PreparedInput {
    const { bos, sep, addBos, addEos, addSep } = this.model;
    const eos = this.model.eos < 0 ? sep : this.model.eos;
    const before = [...(addBos ? [bos] : []), ...query, ...(addEos ? [eos] : []), ...(addSep ? [sep] : [])];
    const after = addEos ? [eos] : addSep ? [sep] : [];
    const room = this.maxTokens - before.length - after.length;
    if (room < 1) throw this.tooLong(query.length);
    return {
      tokens: Int32Array.from([...before, ...document.subarray(0, room), ...after]),
      isCut: document.length > room,
    };
  }

  /** Fills in the prompt template of a reranker that is a language model; shortens documents until all fit. */
  private async fill(template: string, query: string, documents: readonly string[], of: Of): Promise<PreparedInput[]> {
    const filled = documents.length * (template.length + query.length);
    if (filled > MOST_FILLED) throw tooLongFor(documents.length, query.length);
    const prepared: PreparedInput[] = [];
    // Both are replaced at once, because the query may contain a placeholder's name.
    const prompt = (document: string) =>
      template.replace(/\{query\}|\{document\}/g, (name) => (name === "{query}" ? query : document));
    for (let waiting = documents.map((text, at) => ({ text, at })); waiting.length > 0;) {
      const prompts = waiting.map(({ text }) => prompt(text));
      const read = await this.texts.tokenize(prompts, "parsed", { ...of, field: "documents" });
      waiting = waiting.flatMap(({ text, at }, index) => {
        const tokens = read[index] ?? new Int32Array();
        if (tokens.length <= this.maxTokens) {
          prepared[at] = { tokens, isCut: text.length < (documents[at]?.length ?? 0) };
          return [];
        }
        if (text === "") throw this.tooLong(tokens.length);
        const share = Math.min(0.95, this.maxTokens / tokens.length);
        return [{ text: text.slice(0, Math.floor(text.length * share)).toWellFormed(), at }];
      });
    }
    return prepared;
  }

  private tooLong(tokens: number): SvcError {
    const sentence = `must leave room for documents in the ${this.maxTokens} tokens that this model takes; it has ${tokens}`;
    return fieldError("context_length_exceeded", "query", sentence);
  }
}

const tooLongFor = (documents: number, length: number): SvcError => {
  const most = Math.floor(MOST_FILLED / documents);
  return fieldError(
    "invalid_value",
    "query",
    `must have at most ${most} characters for ${documents} documents; got ${length}`,
  );
};
