// The endpoints that batches may use, each with a function that answers a line by its route's decoding and encoding.

import type { BatchEndpoint } from "../contract/batches.ts";
import { decodeCompletion } from "../dialect/completions/decode.ts";
import { encodeCompletion } from "../dialect/completions/encode.ts";
import { decodeEmbeddings } from "../dialect/embeddings/decode.ts";
import { encodeEmbeddings } from "../dialect/embeddings/encode.ts";
import { decodeResponses, type History } from "../dialect/responses/decode.ts";
import { encodeResponse, withReadInputs } from "../dialect/responses/encode.ts";
import { functionNames } from "../dialect/responses/functions.ts";
import { decodeTranscription } from "../dialect/transcriptions/decode.ts";
import { collectSpeech, encodeTranscription } from "../dialect/transcriptions/encode.ts";
import { unixSeconds } from "../domain/clock.ts";
import type { AcceptedEvent, GenerateEvent, Generations } from "../domain/generate.ts";
import { newCompletionId, newResponseId } from "../domain/ids.ts";
import { jsonParts } from "../domain/json-parts.ts";
import type { AnswerLine, LineOrigin } from "../service/batch/answer-line.ts";
import { HeldAnswer } from "../service/held-answer.ts";
import type { Capability } from "../service/model-router.ts";
import { answerOrigin } from "./answer-origin.ts";
import { chatExchange } from "./chat-exchange.ts";
import type { AppDeps } from "./deps.ts";
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
  "/v1/chat/completions": holding(deps, chatLine),
  "/v1/completions": holding(deps, completionLine),
  "/v1/responses": holding(deps, responseLine),
  "/v1/embeddings": embeddingLine(deps),
  "/v1/audio/transcriptions": speechLine(deps, "transcribe"),
  "/v1/audio/translations": speechLine(deps, "translate"),
});

/** The deps of lines with generations. `held`: counts the memory of the line's answer. */
interface HoldingDeps extends AppDeps {
  readonly held: HeldAnswer;
}

const holding =
  (deps: AppDeps, line: (deps: HoldingDeps) => AnswerLine): AnswerLine =>
  async (...call) => {
    const held = new HeldAnswer(deps.answerBudget);
    return line({ ...deps, held })(...call).finally(() => held.close());
  };

const chatLine =
  (deps: HoldingDeps): AnswerLine =>
  async (body, own, signal) => {
    const { request, json } = chatExchange(deps, body, undefined);
    const { events, accepted } = await begin(deps, [request], own, signal);
    return json(events, { requestId: own.id, promptTokens: 0, ...accepted });
  };

const completionLine =
  (deps: HoldingDeps): AnswerLine =>
  async (body, own, signal) => {
    const call = decodeCompletion(body, deps.settings);
    const origin = answerOrigin(deps, newCompletionId(), call.requests[0].model);
    const { events } = await begin(deps, call.requests, own, signal);
    return encodeCompletion(events, origin, call);
  };

/** Responses of a batch are only in its output; nothing is stored. */
const NOTHING_STORED: History = { upTo: () => undefined, items: () => undefined, item: () => undefined };

const responseLine =
  (deps: HoldingDeps): AnswerLine =>
  async (body, own, signal) => {
    const call = decodeResponses({ ...body, store: false, background: false }, deps.settings, NOTHING_STORED);
    const { clock } = deps;
    const context = {
      resource: beginResource(deps, newResponseId(), call),
      names: functionNames(call.asked.tools),
      now: () => unixSeconds(clock),
      onEnd: () => {},
    };
    const { events, accepted } = await begin(deps, [call.request], own, signal);
    return encodeResponse(events, withReadInputs(context, accepted));
  };

const embeddingLine =
  ({ embeddings }: AppDeps): AnswerLine =>
  async (body, own, signal) => {
    // A line may be longer than the bodies that this route accepts.
    let bytes = 0;
    for (const part of jsonParts(body)) {
      bytes += Buffer.byteLength(part);
      if (bytes > bodyCeilings.embeddings) {
        throw tooLarge(bodyCeilings.embeddings, `more than ${bodyCeilings.embeddings} bytes`);
      }
    }
    const asked = decodeEmbeddings(body);
    const origin = { ...own, background: true as const };
    const { result, model } = await embeddings.embed(asked.inputs, { ...asked, origin }, signal);
    const list = await encodeEmbeddings(result, model, asked.base64);
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

/** Begins a generation in the background. `events` are those after the acceptance. */
async function begin(
  { generation, held }: HoldingDeps,
  generations: Generations,
  own: LineOrigin,
  signal: AbortSignal,
): Promise<{ events: AsyncGenerator<GenerateEvent>; accepted: Partial<AcceptedEvent> }> {
  const events = generation.generate(generations, { ...own, background: true }, signal, {}, { held });
  const { value } = await events.next();
  return { events, accepted: value?.type === "accepted" ? value : {} };
}
