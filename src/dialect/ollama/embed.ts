// Decodes and encodes embeddings in Ollama's API.

import {
  OllamaEmbeddingsRequest,
  OllamaEmbedRequest,
  type OllamaEmbedAnswer,
  type OllamaEmbeddingsAnswer,
} from "../../contract/ollama-embed.ts";
import { checker } from "../../contract/schema.ts";
import { vectorsOf, type EmbeddingResult } from "../../domain/embedding.ts";
import { decodeModel } from "../fields/limits.ts";
import { unloads } from "./decode.ts";

export interface DecodedEmbed {
  readonly model?: string;
  readonly inputs: readonly string[];
  /** The field whose texts are refused when they are too long; absent: they are truncated. */
  readonly refuseLong?: string;
  readonly dimensions?: number;
  /** Whether the client no longer needs the model. */
  readonly unloads: boolean;
}

const checkEmbed = checker(OllamaEmbedRequest);
const checkEmbeddings = checker(OllamaEmbeddingsRequest);

/** Decodes a request. Throws SvcError naming the invalid field. */
export function decodeEmbed(body: unknown): DecodedEmbed {
  const { model, input, truncate, dimensions, keep_alive } = checkEmbed(body);
  return {
    ...decodeModel(model),
    inputs: typeof input === "string" ? withoutNothing(input) : input,
    unloads: unloads(keep_alive),
    ...(truncate === false && { refuseLong: "input" }),
    ...(typeof dimensions === "number" && { dimensions }),
  };
}

/** Decodes the older form, which has one text. Throws SvcError naming the invalid field. */
export function decodeOlderEmbed(body: unknown): DecodedEmbed {
  const { model, prompt, keep_alive } = checkEmbeddings(body);
  return { ...decodeModel(model), inputs: withoutNothing(prompt), unloads: unloads(keep_alive) };
}

const withoutNothing = (text: string): string[] => (text === "" ? [] : [text]);

/** Encodes vectors. `ms`: how long they took. */
export async function encodeEmbed(
  result: EmbeddingResult,
  { model, ms }: { readonly model: string; readonly ms: number },
): Promise<OllamaEmbedAnswer> {
  const { tokens } = result;
  const embeddings: number[][] = [];
  for await (const vector of vectorsOf(result)) embeddings.push([...vector]);
  return { model, embeddings, total_duration: Math.round(ms * 1e6), load_duration: 0, prompt_eval_count: tokens };
}

/** Encodes the only vector. */
export const encodeOlderEmbed = (result: EmbeddingResult): OllamaEmbeddingsAnswer => ({
  embedding: [...result.values],
});
