// POST /completion and POST /infill, llama.cpp's own routes.

import { Elysia } from "elysia";
import { ChosenLlamaCompletions, LlamaCompletionRequest, LlamaInfillRequest } from "../../contract/llama-completion.ts";
import { decodeLlamaCompletion, decodeLlamaInfill, type RawPrompt } from "../../dialect/llama/decode.ts";
import { llamaWriter } from "../../dialect/llama/encode-stream.ts";
import { encodeLlama } from "../../dialect/llama/encode.ts";
import { fieldError, SvcError, withFieldNames } from "../../domain/errors.ts";
import type { Generation } from "../../domain/generate.ts";
import { tooManyTokens } from "../../domain/prompt-size.ts";
import type { TextPort } from "../../engine/text/port.ts";
import type { TextBackend } from "../../service/model-router.ts";
import type { AppDeps } from "../deps.ts";
import { readGenerationBody } from "../generation-body.ts";
import { isStreamed, respond } from "../generation-response.ts";
import { jsonRoute } from "../json-content.ts";

type Prompt = NonNullable<Generation["prompt"]>;

/** Names fields within each prompt. Next to texts, positions of tokens are not the client's, so they are omitted. */
const fieldOf = (prompts: readonly RawPrompt[]) => (at: number) => (place: string) => {
  const field = prompts.length > 1 ? `prompt.${at}` : "prompt";
  const prompt = prompts[at];
  return typeof prompt === "object" && areTokens(prompt) ? `${field}${place}` : field;
};

const areTokens = (prompt: readonly (string | number)[]): prompt is readonly number[] =>
  prompt.every((part) => typeof part === "number");

/** Raw completions in the form of llama.cpp's server, as JSON or as a stream. */
export const llamaCompletionRoutes = (deps: AppDeps) =>
  new Elysia({ name: "route.llama-completion" })
    .post(
      "/completion",
      ({ request }) => answer(deps, request, decodeLlamaCompletion),
      jsonRoute(LlamaCompletionRequest, ChosenLlamaCompletions),
    )
    .post(
      "/infill",
      ({ request }) => answer(deps, request, decodeLlamaInfill),
      jsonRoute(LlamaInfillRequest, ChosenLlamaCompletions),
    );

async function answer(deps: AppDeps, request: Request, decode: typeof decodeLlamaCompletion) {
  const { router, clock, config, contexts } = deps;
  const call = decode(await readGenerationBody(deps, request), deps.settings);
  const backend = router.find(call.request.model, "chat");
  const { client } = contexts.of(request);
  const work = () => read(call.prompts, backend, request.signal, client);
  const isText = call.prompts.every((prompt) => typeof prompt === "string");
  const { prompts, texts } = await (isText ? work() : deps.tokenizer.run(work));
  const requests = prompts.map((prompt): Generation => ({ ...call.request, prompt }));
  const { model, engine } = backend;
  const stream = isStreamed(deps, call.stream);
  const defaults = engine.status().model?.defaults ?? config.sampling;
  const context = { ...call, prompts: texts, model, stream, defaults };
  return respond(deps, request, {
    requests: requests as [Generation, ...Generation[]],
    stream,
    json: (events) => encodeLlama(events, context),
    writer: (put, accepted) => llamaWriter(put, context, accepted, clock.now),
  });
}

/** Returns the result of the model's tokenizer; undefined when the model has none here. */
async function tokenized<T>(
  { engine, surface }: TextBackend,
  work: (engine: TextPort) => Promise<T>,
): Promise<T | undefined> {
  if (surface) return undefined;
  try {
    return await work(engine);
  } catch (error) {
    if (error instanceof SvcError && error.code === "tokenize_unsupported") return undefined;
    throw error;
  }
}

/** Returns a prompt as tokens unless it is one text. Throws SvcError `unsupported_parameter` about `param`. */
async function tokensOf(
  prompt: RawPrompt,
  backend: TextBackend,
  param: string,
  signal: AbortSignal,
  client: string | undefined,
): Promise<Prompt> {
  if (typeof prompt === "string" || areTokens(prompt)) return prompt;
  const tokens = new Map<number, Int32Array>();
  const tokenize = async (text: string, at: number) => {
    const options = { parseSpecial: true, addSpecial: at === 0, client };
    const made = await tokenized(backend, (engine) => engine.tokenize(text, signal, options));
    if (made) return void tokens.set(at, made);
    const sentence = "must be a text or token ids: the model has no tokenizer here to mix them";
    throw fieldError("unsupported_parameter", param, sentence);
  };
  // There are few texts, but maybe a million token ids, which must not each become work of their own.
  await Promise.all(prompt.flatMap((part, at) => (typeof part === "string" ? tokenize(part, at) : [])));
  return prompt.flatMap((part, at) => (typeof part === "number" ? part : [...(tokens.get(at) ?? [])]));
}

/** Returns a prompt as text, empty for tokens of a model without tokenizer. Throws like `detokenize`, about `field`. */
async function textOf(
  prompt: Prompt,
  backend: TextBackend,
  field: (place: string) => string,
  signal: AbortSignal,
): Promise<string> {
  if (typeof prompt === "string") return prompt;
  try {
    return (await tokenized(backend, (engine) => engine.detokenize(prompt, signal))) ?? "";
  } catch (error) {
    const param = error instanceof SvcError ? error.details.param : undefined;
    throw !param?.startsWith("tokens") ? error : withFieldNames(error, { [param]: field(param.replace("tokens", "")) });
  }
}

/** Returns the prompts as the engine takes them, and as texts. Throws SvcError about one that cannot be computed. */
async function read(raw: readonly RawPrompt[], backend: TextBackend, signal: AbortSignal, client: string | undefined) {
  const field = fieldOf(raw);
  const prompts = await Promise.all(raw.map((prompt, at) => tokensOf(prompt, backend, field(at)(""), signal, client)));
  const { model } = backend.engine.status();
  for (const prompt of prompts) {
    const tooMany = model && typeof prompt === "object" && tooManyTokens({ prompt }, prompt.length, model.maxModelLen);
    if (tooMany) throw tooMany;
  }
  const texts = await Promise.all(prompts.map((prompt, at) => textOf(prompt, backend, field(at), signal)));
  return { prompts, texts };
}
