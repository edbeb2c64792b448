// Asks servers with several chat models, and looks at their lists.

import { join } from "node:path";
import { scrambledModel } from "../models/scrambled-model.ts";
import { MODEL } from "../native/harness.ts";
import { post } from "../support/post.ts";
import type { TestServer } from "../support/server.ts";

/** Folder of models that tests make. */
export const MODELS = join(import.meta.dir, "../../vendor/.build/models");
/** A model whose answers differ from those of MODEL. */
export const SCRAMBLED = scrambledModel(MODEL, MODELS);
export const LIMITS = ["--ctx", "2048", "--parallel", "2", "--threads", "1"];
/** What MODEL answers to `ask`. */
export const PARIS = "The capital of France is Paris.";

/** Returns the status of an answer, its model or the error's code, and its text. */
export async function ask({ url }: TestServer, model?: string, fields: object = {}) {
  const body = {
    ...fields,
    model,
    messages: [{ role: "user", content: "What is the capital of France?" }],
    max_tokens: 12,
    seed: 1,
  };
  const response = await post(`${url}/v1/chat/completions`, body);
  const answer = (await response.json()) as Record<string, any>;
  return [response.status, answer["model"] ?? answer["error"].code, answer["choices"]?.[0].message.content];
}

interface Listed {
  readonly data: readonly { readonly id: string; readonly loaded: boolean; readonly context_length?: number }[];
  readonly models: readonly { readonly name: string; readonly capabilities: readonly string[] }[];
}

const list = async ({ url }: TestServer) => (await (await fetch(`${url}/v1/models`)).json()) as Listed;

/** Returns what the list says of a model. */
export async function listed(server: TestServer, model: string) {
  const { data, models } = await list(server);
  return { ...data.find(({ id }) => id === model), ...models.find(({ name }) => name === model) };
}

/** Returns the names of the models that can chat, as the list has them. */
export const chatNames = async (server: TestServer): Promise<string[]> =>
  (await list(server)).models.filter(({ capabilities }) => capabilities.includes("chat")).map(({ name }) => name);
