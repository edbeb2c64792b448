// POST /completion and POST /infill, llama.cpp's own.

import { Elysia } from "elysia";
import { LlamaCompletionRequest, LlamaCompletions, LlamaInfillRequest } from "../../contract/llama-completion.ts";
import {
  decodeLlamaCompletion,
  decodeLlamaInfill,
  type LlamaCall,
  type RawPrompt,
} from "../../dialect/llama/decode.ts";
import { llamaWriter } from "../../dialect/llama/encode-stream.ts";
import { encodeLlama } from "../../dialect/llama/encode.ts";
import { withFieldNames } from "../../domain/errors.ts";
import type { GenerateRequest } from "../../domain/generate.ts";
import type { TokenizerService } from "../../service/tokenizer.ts";
import type { AppDeps } from "../deps.ts";
import { readGenerationBody } from "../generation-body.ts";
import { respond } from "../generation-response.ts";
import { jsonRoute } from "../json-content.ts";
import type { RequestContexts } from "../request-context.ts";

/** What others call them that fill gaps. */
const INFILL_FIELDS = { prompt: "input_prefix", suffix: "input_suffix" };

type Generate = Omit<GenerateRequest, "id">;

/** Raw completions as llama.cpp's server answers them, whole or as a stream. */
export const llamaCompletionRoutes = (deps: AppDeps, contexts: RequestContexts, tokenizer: TokenizerService) => {
  const { engine, router, clock, config } = deps;

  /** The tokens of a prompt that is not one text. */
  const tokensOf = async (prompt: RawPrompt, signal: AbortSignal): Promise<readonly number[] | string> => {
    if (typeof prompt === "string") return prompt;
    const parts = prompt.map((part, at) =>
      typeof part === "number"
        ? [part]
        : tokenizer.run(() => engine.tokenize(part, signal, { parseSpecial: true, addSpecial: at === 0 })),
    );
    return (await Promise.all(parts)).flatMap((tokens) => [...tokens]);
  };

  const textOf = (prompt: string | readonly number[], signal: AbortSignal): Promise<string> | string =>
    typeof prompt === "string" ? prompt : tokenizer.run(() => engine.detokenize(prompt, signal));

  const answer = async (request: Request, call: LlamaCall) => {
    const prompts = await Promise.all(call.prompts.map((prompt) => tokensOf(prompt, request.signal)));
    const texts = await Promise.all(prompts.map((prompt) => textOf(prompt, request.signal)));
    const requests = prompts.map((prompt): Generate => ({ ...call.request, prompt }));
    const { model } = router.find(call.request.model, "chat");
    const stream = call.stream && config.streaming;
    const defaults = engine.status().model?.defaults ?? config.sampling;
    const context = { ...call, prompts: texts, model, stream, defaults };
    return respond(deps, contexts, request, {
      requests: requests as [Generate, ...Generate[]],
      stream,
      json: (events) => encodeLlama(events, context),
      writer: (put, accepted) => llamaWriter(put, context, accepted, clock.now),
    });
  };

  return new Elysia({ name: "route.llama-completion" })
    .post(
      "/completion",
      async ({ request }) => answer(request, decodeLlamaCompletion(await readGenerationBody(deps, request), config)),
      jsonRoute(LlamaCompletionRequest, LlamaCompletions),
    )
    .post(
      "/infill",
      async ({ request }) => {
        const call = decodeLlamaInfill(await readGenerationBody(deps, request), config);
        return answer(request, call).catch((error: unknown) => {
          throw withFieldNames(error, INFILL_FIELDS);
        });
      },
      jsonRoute(LlamaInfillRequest, LlamaCompletions),
    );
};
