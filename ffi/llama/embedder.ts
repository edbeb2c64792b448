// Embedding models through the same library: vectors and relevance scores instead of text.

import { dlopen } from "bun:ffi";
import { join } from "node:path";
import type { LoadState } from "./api.ts";
import { LIBRARY, openLlama, type NativeLlama } from "./binding.ts";
import { symbols } from "./symbols.ts";

/** See svc_load_start in shim.h. */
export interface EmbedderConfig {
  readonly path: string;
  readonly embedding: "embed" | "rank";
  readonly batch: number;
  readonly sequences: number;
  readonly threads: number;
  readonly gpuLayers: number;
  readonly flashAttention: "auto" | "on" | "off";
  readonly mmap: boolean;
  readonly mlock: boolean;
  readonly warmup: boolean;
}

/** See svc_embed_info in shim.h. */
export interface LoadedEmbedder {
  readonly description: string;
  readonly architecture: string;
  readonly parameters: number;
  readonly bytes: number;
  readonly vocabulary: number;
  readonly trainedContext: number;
  readonly dimensions: number;
  readonly pooling: "mean" | "cls" | "last" | "rank";
  readonly batch: number;
  readonly sequences: number;
  readonly device: string;
  readonly bos: number;
  readonly eos: number;
  readonly sep: number;
  readonly addBos: boolean;
  readonly addEos: boolean;
  readonly addSep: boolean;
  /** The tokenizer is BERT's for text without accents. */
  readonly stripsAccents: boolean;
  /** The prompt of a reranker that is a language model, with `{query}` and `{document}`. */
  readonly rerankTemplate?: string;
}

export interface Embedder {
  loadStart(config: EmbedderConfig): void;
  loadPoll(): LoadState;
  /** Throws LlamaError while nothing is loaded. */
  model(): LoadedEmbedder;
  /** `special`: `parsed` reads special tokens spelt in the text, `around` also adds what the model puts around an input. */
  tokenize(text: string, special: "none" | "around" | "parsed"): Int32Array;
  /**
   * The numbers of some inputs, computed together, one input after the other; undefined when an abort request for `owner`
   * stopped it. Throws LlamaError.
   */
  embed(inputs: readonly Int32Array[], owner: number): Float32Array | undefined;
  listenForAborts(fd: number): void;
  unload(): void;
  drainLog: NativeLlama["drainLog"];
}

const INFO_BYTES = 64 * 1024;
const ABORTED = 2;

const { svc_embed, svc_embed_info, svc_embed_tokenize, svc_load_start } = symbols;
const table = { svc_embed, svc_embed_info, svc_embed_tokenize, svc_load_start } as const;
type Native = ReturnType<typeof dlopen<typeof table>>["symbols"];

/** Loads the library set in `directory`, as openLlama does, for an embedding model. Throws LlamaError. */
export function openEmbedder(directory: string): Embedder {
  const llama = openLlama(directory);
  return new Binding(llama, dlopen(join(directory, LIBRARY), table).symbols);
}

class Binding implements Embedder {
  private readonly encoder = new TextEncoder();
  private known: LoadedEmbedder | undefined;

  constructor(
    private readonly llama: NativeLlama,
    private readonly native: Native,
  ) {}

  loadStart(config: EmbedderConfig): void {
    const json = this.encoder.encode(JSON.stringify(config));
    this.llama.check(this.native.svc_load_start(json, json.length), "start loading");
  }

  loadPoll(): LoadState {
    return this.llama.loadPoll();
  }

  model(): LoadedEmbedder {
    return (this.known ??= this.readModel());
  }

  tokenize(text: string, special: "none" | "around" | "parsed"): Int32Array {
    // One byte and one token more: an empty array has no address.
    const bytes = this.encoder.encode(`${text.toWellFormed()} `);
    const size = bytes.length - 1;
    const run = (out: Int32Array) =>
      this.native.svc_embed_tokenize(
        bytes,
        size,
        Number(special === "around"),
        Number(special !== "none"),
        out,
        out.length,
      );
    let out = new Int32Array(size + 8);
    let count = run(out);
    if (count < 0) {
      out = new Int32Array(-count);
      count = run(out);
    }
    return out.subarray(0, count);
  }

  embed(inputs: readonly Int32Array[], owner: number): Float32Array | undefined {
    const lengths = Int32Array.from(inputs, (input) => input.length);
    const tokens = new Int32Array(lengths.reduce((sum, length) => sum + length, 0));
    let at = 0;
    for (const input of inputs) {
      tokens.set(input, at);
      at += input.length;
    }
    const out = new Float32Array(inputs.length * this.model().dimensions);
    const result = this.native.svc_embed(tokens, lengths, inputs.length, owner, out);
    return this.llama.check(result, "embed") === ABORTED ? undefined : out;
  }

  listenForAborts(fd: number): void {
    this.llama.listenForAborts(fd);
  }

  unload(): void {
    this.llama.unload();
    this.known = undefined;
  }

  drainLog(): ReturnType<NativeLlama["drainLog"]> {
    return this.llama.drainLog();
  }

  private readModel(): LoadedEmbedder {
    const text = new Uint8Array(INFO_BYTES);
    const length = this.llama.check(this.native.svc_embed_info(text, INFO_BYTES), "describe the model");
    return JSON.parse(new TextDecoder().decode(text.subarray(0, length))) as LoadedEmbedder;
  }
}
