// Embedding models through the same library: vectors and relevance scores instead of text.

import { joined } from "../runtime/library.ts";
import { DECODE_RESULTS, type LoadConfig, type ModelDescription, type PromptThreads } from "./api.ts";
import { LlamaLibrary } from "./library.ts";

type Common = "path" | "batch" | "sequences" | "threads" | "gpuLayers" | "flashAttention" | "mmap" | "mlock" | "warmup";

/** See svc_load_start in shim.h. */
export type EmbedderConfig = Pick<LoadConfig, Common> & { readonly embedding: "embed" | "rank" };

/** See svc_embed_info in shim.h. */
export interface LoadedEmbedder extends ModelDescription {
  readonly dimensions: number;
  readonly batch: number;
  readonly sequences: number;
  readonly bos: number;
  readonly eos: number;
  readonly sep: number;
  readonly addBos: boolean;
  readonly addEos: boolean;
  readonly addSep: boolean;
  /** The tokenizer is BERT's for text without accents. */
  readonly stripsAccents: boolean;
  /** Scores are probabilities. */
  readonly probabilities: boolean;
  /** Prompt template of a reranker that is a language model, with `{query}` and `{document}`. */
  readonly rerankTemplate?: string;
}

export interface Embedder extends PromptThreads {
  /** Throws LlamaError while nothing is loaded. */
  model(): LoadedEmbedder;
  /**
   * Tokenizes a text. With `parsed`, special tokens spelt in the text count as such; with `around`, the tokens that the
   * model puts around an input are added as well.
   */
  tokenize(text: string, special: "none" | "around" | "parsed"): Int32Array;
  /**
   * Computes several inputs together and returns their numbers, one input after the other; undefined when an abort
   * request for `owner` stopped the computation. Throws LlamaError.
   */
  embed(inputs: readonly Int32Array[], owner: number): Float32Array | undefined;
}

/** Loads the library set in `directory`, as openLlama does, for an embedding model. Throws LlamaError. */
export const openEmbedder = (directory: string): NativeEmbedder => new NativeEmbedder(directory);

export class NativeEmbedder extends LlamaLibrary<EmbedderConfig> implements Embedder {
  private known: LoadedEmbedder | undefined;

  model(): LoadedEmbedder {
    return (this.known ??= this.readJson(this.native.svc_embed_info, "describe the model") as LoadedEmbedder);
  }

  tokenize(text: string, special: "none" | "around" | "parsed"): Int32Array {
    const bytes = this.bytes(text);
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
    return out.subarray(0, this.check(count, "tokenize"));
  }

  embed(inputs: readonly Int32Array[], owner: number): Float32Array | undefined {
    const lengths = Int32Array.from(inputs, (input) => input.length);
    const out = new Float32Array(inputs.length * this.model().dimensions);
    const result = this.native.svc_embed(joined(inputs), lengths, inputs.length, owner, out);
    return this.named(DECODE_RESULTS, result, "embed") === "aborted" ? undefined : out;
  }

  override unload(): void {
    super.unload();
    this.known = undefined;
  }
}
