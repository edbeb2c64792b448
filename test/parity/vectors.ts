// Compares the vectors and scores of both servers. svc has all models at once, llama-server one at a time.

import type { LaunchPlan } from "../bench/server-under-test.ts";
import { makeEncoder, type EncoderKind } from "../models/make-encoder.ts";
import { PROGRAM } from "../support/server.ts";
import { formOf, lacking, type Form } from "./form.ts";
import { ComparedServer, LLAMA_SERVER, MODELS } from "./servers.ts";
import type { Fields } from "./matrix.ts";
import { VECTOR_ROWS, type VectorRow } from "./vector-rows.ts";

/** Allowed difference of numbers in a vector of length 1. */
export const TOLERANCE = 1e-5;
/**
 * Allowed difference of scores: svc computes several documents together, which rounds sums differently. A single
 * document has exactly the same score.
 */
export const SCORE_TOLERANCE = 1e-4;

export interface VectorResult {
  readonly row: VectorRow;
  /** Number of vectors or scores compared. */
  readonly count: number;
  /** Largest difference of two numbers; undefined when nothing was compared. */
  readonly gap?: number;
  /** What differs; absent when nothing does. */
  readonly difference?: string;
}

/** llama-server repeats for each vector that it is base64; OpenAI's API does not. */
const NOT_TOLD = "data[].encoding_format";

interface Vectors {
  /** In the order of the inputs, or the best score first. */
  readonly vectors: readonly (readonly number[])[];
  /** Indexes of the documents in the order of their scores. */
  readonly order: readonly number[];
  readonly tokens: number;
}

interface Asked {
  readonly refused?: string;
  readonly answer?: Vectors;
  readonly form?: Form;
}

const words = (line: string) => line.split(" ");
const isReranker = (model: EncoderKind) => model.includes("rank");

/** Sends both servers the rows whose name contains `name`. Throws when a server does not start. */
export async function compareVectors(name: string): Promise<VectorResult[]> {
  const rows = VECTOR_ROWS.filter((row) => row.name.includes(name));
  const models = [...new Set(rows.map(({ model }) => model))];
  if (models.length === 0) return [];
  const results: VectorResult[] = [];
  const svc = await ComparedServer.start(svcPlan(models));
  try {
    for (const model of models) {
      const other = await ComparedServer.start(llamaPlan(model));
      try {
        for (const row of rows.filter((one) => one.model === model)) {
          results.push(compare(row, await ask(svc, row, row.fields), await ask(other, row, row.theirs ?? row.fields)));
        }
      } finally {
        await other.stop();
      }
    }
  } finally {
    await svc.stop();
  }
  return results.sort((a, b) => rows.indexOf(a.row) - rows.indexOf(b.row));
}

function svcPlan(models: readonly EncoderKind[]): LaunchPlan {
  const option = (model: EncoderKind) => (isReranker(model) ? "--rerank-model" : "--embedding-model");
  const files = models.flatMap((model) => [option(model), makeEncoder(model, MODELS)]);
  return { side: "svc", command: [...PROGRAM, ...words("--no-model --threads 1 --flash-attention off"), ...files] };
}

function llamaPlan(model: EncoderKind): LaunchPlan {
  const task = isReranker(model) ? "--reranking" : "--embeddings";
  const command = [LLAMA_SERVER, "--model", makeEncoder(model, MODELS), task];
  return { side: "llama-server", command: [...command, ...words("--parallel 1 --threads 1 --flash-attn off --no-ui")] };
}

async function ask(server: ComparedServer, { model }: VectorRow, fields: Fields): Promise<Asked> {
  // svc finds the model by the name of its file.
  const name = makeEncoder(model, MODELS).replace(/^.*\/|\.gguf$/g, "");
  const path = isReranker(model) ? "/v1/rerank" : "/v1/embeddings";
  const { ok, json } = await server.post(path, { model: name, ...fields });
  if (!ok) return { refused: (json as { readonly error: { readonly message: string } }).error.message };
  const { data, results, usage } = json as Answer;
  if (!data && !results) return { refused: `it answers in another shape: ${JSON.stringify(json).slice(0, 60)}` };
  return {
    form: formOf([json]),
    answer: {
      vectors: data?.map(({ embedding }) => numbers(embedding)) ?? results?.map((one) => [one.relevance_score]) ?? [],
      order: (data ?? results ?? []).map(({ index }) => index),
      tokens: usage.prompt_tokens,
    },
  };
}

interface Answer {
  readonly data?: readonly { readonly index: number; readonly embedding: readonly number[] | string }[];
  readonly results?: readonly { readonly index: number; readonly relevance_score: number }[];
  readonly usage: { readonly prompt_tokens: number };
}

function numbers(embedding: readonly number[] | string): readonly number[] {
  if (typeof embedding !== "string") return embedding;
  const bytes = Buffer.from(embedding, "base64");
  return Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(at * 4));
}

function compare(row: VectorRow, ours: Asked, theirs: Asked): VectorResult {
  if (!ours.answer) return { row, count: 0, difference: `svc refuses: ${ours.refused}` };
  if (!theirs.answer) return { row, count: 0, difference: `llama-server refuses: ${theirs.refused}` };
  const [a, b] = [ours.answer, theirs.answer];
  const count = a.vectors.length;
  const [sizes, other] = [a, b].map(({ vectors }) => vectors.map(({ length }) => length).join());
  if (sizes !== other) return { row, count, difference: `vectors of ${sizes} and ${other} numbers` };
  const gap = largestGap(a.vectors, b.vectors);
  if (a.tokens !== b.tokens) return { row, count, gap, difference: `${a.tokens} and ${b.tokens} tokens counted` };
  if (gap > (isReranker(row.model) ? SCORE_TOLERANCE : TOLERANCE))
    return { row, count, gap, difference: `numbers ${gap.toExponential(0)} apart` };
  if (a.order.join() !== b.order.join())
    return { row, count, gap, difference: `in the order ${a.order} and ${b.order}` };
  const lacks = ours.form && theirs.form && lacking(ours.form, theirs.form).find(({ path }) => path !== NOT_TOLD);
  if (lacks) return { row, count, gap, difference: `in another form: ${lacks.text}` };
  return { row, count, gap };
}

const largestGap = (ours: Vectors["vectors"], theirs: Vectors["vectors"]): number =>
  Math.max(
    ...ours.flatMap((vector, at) => vector.map((value, index) => Math.abs(value - (theirs[at]?.[index] ?? NaN)))),
  );
