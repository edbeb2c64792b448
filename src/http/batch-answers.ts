// The endpoints that batches may use, each with a function that answers a line by its route's decoding and encoding.

import type { BatchEndpoint } from "../contract/batches.ts";
import { decodeEmbeddings } from "../dialect/embeddings/decode.ts";
import { encodeEmbeddings } from "../dialect/embeddings/encode.ts";
import { decodeResponses, type History } from "../dialect/responses/decode.ts";
import { encodeResponse, withReadInputs } from "../dialect/responses/encode.ts";
import { decodeTranscription } from "../dialect/transcriptions/decode.ts";
import { encodeTranscription } from "../dialect/transcriptions/encode.ts";
import { unixSeconds } from "../domain/clock.ts";
import { newResponseId } from "../domain/ids.ts";
import { jsonParts } from "../domain/json-parts.ts";
import { collectSpeech } from "../domain/transcription.ts";
import type { AnswerLine, LineBody } from "../service/batch/answer-line.ts";
import { acceptance } from "../service/generation.ts";
import { fewerLogprobs, HeldAnswer } from "../service/held-answer.ts";
import type { Capability, ModelRouter } from "../service/model-router.ts";
import { chatExchange, completionExchange } from "./chat-exchange.ts";
import type { AppDeps } from "./deps.ts";
import type { GenerationCall } from "./generation-response.ts";
import { bodyCeilings, tooLarge } from "./json-body.ts";
import { beginResource } from "./response-resource.ts";

/** The capability of the model that answers lines without a model. */
export const BATCH_CAPABILITIES: Readonly<Record<BatchEndpoint, Capability>> = {
  "/v1/chat/completions": "chat",
  "/v1/completions": "chat",
  "/v1/responses": "chat",
  "/v1/embeddings": "embeddings",
  "/v1/audio/transcriptions": "transcription",
  "/v1/audio/translations": "transcription",
};

export const batchAnswers = (deps: AppDeps): Readonly<Record<BatchEndpoint, AnswerLine>> => ({
  "/v1/chat/completions": generated(deps, (body) => {
    const { request, json } = chatExchange(deps, body, undefined);
    return { requests: [request], json };
  }),
  "/v1/completions": generated(deps, (body) => completionExchange(deps, body)),
  "/v1/responses": generated(deps, (body) => responseExchange(deps, body)),
  "/v1/embeddings": embeddingLine(deps),
  "/v1/audio/transcriptions": speechLine(deps, "transcribe"),
  "/v1/audio/translations": speechLine(deps, "translate"),
});

/** Returns a function that answers a line by a generation in the background. `exchange` decodes the line. */
const generated =
  (deps: AppDeps, exchange: (body: LineBody) => Pick<GenerationCall, "requests" | "json">): AnswerLine =>
  async (body, own, signal) => {
    awaitModel(deps.router, body, "chat");
    const { requests, json } = exchange(body);
    const held = new HeldAnswer(deps.answerBudget, fewerLogprobs);
    try {
      const events = deps.generation.generate(requests, { ...own, background: true }, signal, {}, { held });
      return await json(events, { ...(await acceptance(events)), requestId: own.id });
    } finally {
      held.close();
    }
  };

/** Throws SvcError `upstream_unavailable` while the line's model may be one that an upstream has not listed yet. */
function awaitModel(router: ModelRouter, { model }: LineBody, capability: Capability): void {
  if (typeof model === "string") router.awaitNamed(model, capability);
}

/** Responses of a batch are only in its output; nothing is stored. */
const NOTHING_STORED: History = { upTo: () => undefined, items: () => undefined, item: () => undefined };

function responseExchange(deps: AppDeps, body: LineBody): Pick<GenerationCall, "requests" | "json"> {
  const call = decodeResponses({ ...body, store: false, background: false }, deps.settings, NOTHING_STORED);
  const context = {
    resource: beginResource(deps, newResponseId(), call),
    tools: call.tools,
    now: () => unixSeconds(deps.clock),
    onEnd: () => {},
  };
  return {
    requests: [call.request],
    json: (events, known) => encodeResponse(events, withReadInputs(context, known)),
  };
}

const embeddingLine =
  ({ embeddings, router }: AppDeps): AnswerLine =>
  async (body, own, signal) => {
    awaitModel(router, body, "embeddings");
    // A line may be longer than the bodies that this route accepts.
    let bytes = 0;
    for (const part of jsonParts(body)) {
      bytes += Buffer.byteLength(part);
      if (bytes > bodyCeilings.embeddings) {
        throw tooLarge(bodyCeilings.embeddings, `more than ${bodyCeilings.embeddings} bytes`);
      }
    }
    const call = decodeEmbeddings(body);
    const origin = { ...own, background: true as const };
    const { result, model } = await embeddings.embed(call.inputs, { ...call, origin }, signal, {});
    const list = await encodeEmbeddings(result, model, call.base64);
    // A line has no headers.
    return result.truncated > 0 ? { ...list, truncated: result.truncated } : list;
  };

const speechLine =
  ({ transcriptions }: AppDeps, task: "transcribe" | "translate"): AnswerLine =>
  async (body, own, signal) => {
    const call = decodeTranscription(body, task);
    const { model, work } = call;
    const recording = await transcriptions.recording(call.source, signal);
    const run = { ...own, work, background: true as const, model };
    const transcript = await collectSpeech(transcriptions.transcribe(recording, run, signal, {}));
    const { type, body: text } = encodeTranscription(transcript, call);
    return type === "application/json" ? JSON.parse(text) : text;
  };
