// Turns inputs into the token ids that the model reads: adds special tokens and truncates to the longest input.

import type { Embedder, LoadedEmbedder } from "../../../../ffi/llama/embedder.ts";
import type { EmbeddingInput, EmbeddingWork } from "../../../domain/embedding.ts";
import { fieldError, type SvcError } from "../../../domain/errors.ts";

/** Words of more than 100 letters, which BERT's tokenizer replaces as a whole by its unknown token. */
const ENDLESS_WORD = /[^\s\p{P}\p{Script=Han}$+<=>^`|~]{101,}/gu;

interface PreparedInputs {
  readonly inputs: readonly Int32Array[];
  /** How many inputs were truncated. */
  readonly truncated: number;
}

export class InputReader {
  private readonly model: LoadedEmbedder;
  /** Special tokens that end a text; truncating a text must keep them. */
  private readonly tail: Int32Array;

  constructor(
    private readonly embedder: Embedder,
    private readonly maxTokens: number,
  ) {
    this.model = embedder.model();
    const bare = embedder.tokenize("a", "none");
    const whole = embedder.tokenize("a", "around");
    const start = whole.findIndex((_, at) => bare.every((token, i) => whole[at + i] === token));
    this.tail = start < 0 ? new Int32Array() : whole.slice(start + bare.length);
  }

  /** Throws SvcError about token ids outside the vocabulary, and about a query that leaves no room for documents. */
  read(work: EmbeddingWork): PreparedInputs {
    const whole =
      work.kind === "embed"
        ? work.inputs.map((input, at) => this.cut(this.tokens(input, at), typeof input === "string"))
        : this.pairs(work.query, work.documents);
    return { inputs: whole.map(({ tokens }) => tokens), truncated: whole.filter(({ isCut }) => isCut).length };
  }

  private tokens(input: EmbeddingInput, at: number): Int32Array {
    if (typeof input === "string") return this.tokenize(input, "around");
    const { vocabulary } = this.model;
    const wrong = input.find((id) => id < 0 || id >= vocabulary);
    if (wrong === undefined) return Int32Array.from(input);
    const sentence = `must have token ids from 0 to ${vocabulary - 1} for this model; input ${at} has ${wrong}`;
    throw fieldError("invalid_value", "input", sentence);
  }

  /** Does what Hugging Face's BERT tokenizer does before splitting into word pieces, and llama.cpp only in part. */
  private tokenize(text: string, special: "none" | "around"): Int32Array {
    if (!this.model.stripsAccents) return this.embedder.tokenize(text, special);
    const bare = text.normalize("NFD").replace(/\p{Mn}/gu, "");
    return this.embedder.tokenize(bare.replace(ENDLESS_WORD, " [UNK] "), special);
  }

  private cut(tokens: Int32Array, isText: boolean) {
    if (tokens.length <= this.maxTokens) return { tokens, isCut: false };
    const tail = isText ? this.tail : new Int32Array();
    const kept = tokens.slice(0, this.maxTokens);
    kept.set(tail, this.maxTokens - tail.length);
    return { tokens: kept, isCut: true };
  }

  private pairs(query: string, documents: readonly string[]) {
    const { rerankTemplate } = this.model;
    if (rerankTemplate !== undefined) return documents.map((document) => this.fill(rerankTemplate, query, document));
    const asked = this.tokenize(query, "none");
    return documents.map((document) => this.join(asked, this.tokenize(document, "none")));
  }

  /** Joins query and document with the separators that the vocabulary puts between and around them. */
  private join(query: Int32Array, document: Int32Array) {
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

  /** Fills in the prompt template of a reranker that is a language model; shortens the document until all fits. */
  private fill(template: string, query: string, document: string) {
    let text = document;
    for (;;) {
      // Both are replaced at once, because the query may contain a placeholder's name.
      const prompt = template.replace(/\{query\}|\{document\}/g, (name) => (name === "{query}" ? query : text));
      const tokens = this.embedder.tokenize(prompt, "parsed");
      if (tokens.length <= this.maxTokens) return { tokens, isCut: text.length < document.length };
      if (text === "") throw this.tooLong(tokens.length);
      const share = Math.min(0.95, this.maxTokens / tokens.length);
      text = text.slice(0, Math.floor(text.length * share)).toWellFormed();
    }
  }

  private tooLong(tokens: number): SvcError {
    const sentence = `must leave room for documents in the ${this.maxTokens} tokens that this model takes; it has ${tokens}`;
    return fieldError("context_length_exceeded", "query", sentence);
  }
}
