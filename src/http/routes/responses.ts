// POST /v1/responses, and fetching, cancelling and deleting responses.

import { Elysia } from "elysia";
import {
  CompactedResponse,
  CountResponseTokensRequest,
  CountResponseTokensResponse,
  DeletedResponse,
  InputItemList,
  ResponseResource,
  ResponsesRequest,
} from "../../contract/responses.ts";
import { decodeResponses, decodeResponsesPrompt, type ResponsesCall } from "../../dialect/responses/decode.ts";
import { compacting, encodeCompacted } from "../../dialect/responses/compact.ts";
import {
  encodeResponse,
  responseWriter,
  withReadInputs,
  type ResponseContext,
} from "../../dialect/responses/encode.ts";
import { decodePage } from "../../dialect/fields/page.ts";
import { inputItems, listItems, withReferred, type ListedItem } from "../../dialect/responses/items.ts";
import { decodeResumption } from "../../dialect/responses/resumption.ts";
import {
  DONE,
  passThrough,
  streamed,
  type LongEvent,
  type NamedEvent,
  type Put,
  type StreamWriter,
} from "../../dialect/stream/streamed.ts";
import { abortable } from "../../domain/abortable.ts";
import { unixSeconds } from "../../domain/clock.ts";
import { fieldError, SvcError } from "../../domain/errors.ts";
import type { GenerateEvent } from "../../domain/generate.ts";
import { newResponseId } from "../../domain/ids.ts";
import { TurnLimit } from "../../domain/turn-limit.ts";
import { EventLog } from "../../service/event-log.ts";
import { fewerLogprobs, HeldAnswer } from "../../service/held-answer.ts";
import type { RequestReport } from "../../service/request.ts";
import type { AppDeps } from "../deps.ts";
import { readGenerationBody } from "../generation-body.ts";
import { isStreamed, respond, respondLater, streamResponse, type GenerationCall } from "../generation-response.ts";
import { countTokens } from "../tokenize.ts";
import { bodyCeilings } from "../json-body.ts";
import { jsonAnswer, jsonRoute } from "../json-content.ts";
import { jsonResponse, LEAST_READ } from "../json-response.ts";
import type { StoredResponses } from "../stored-responses.ts";
import { beginResource } from "../response-resource.ts";

/** Milliseconds for a cancelled response to end: a stream that its client does not read ends only when it is read. */
const CANCEL_PATIENCE_MS = 3000;

/** The OpenAI-compatible Responses API: its answers have ids and can be stored. */
export const responsesRoutes = (deps: AppDeps, kept: StoredResponses) =>
  new Elysia({ name: "route.responses" })
    .post("/v1/responses", ({ request }) => create(deps, kept, request), jsonRoute(ResponsesRequest, ResponseResource))
    .post(
      "/v1/responses/input_tokens",
      ({ request }) => countInput(deps, kept, request),
      jsonRoute(CountResponseTokensRequest, CountResponseTokensResponse),
    )
    .post(
      "/v1/responses/compact",
      ({ request }) => compact(deps, kept, request),
      jsonRoute(CountResponseTokensRequest, CompactedResponse),
    )
    .get(
      "/v1/responses/:id",
      ({ params, request }) => retrieve(deps, request, stored(kept, params.id)),
      jsonAnswer(ResponseResource),
    )
    .delete(
      "/v1/responses/:id",
      ({ params, request }) => {
        checkOwner(deps, kept, params.id, request);
        kept.responses.delete(params.id);
        return Response.json({ id: params.id, object: "response.deleted", deleted: true });
      },
      jsonAnswer(DeletedResponse),
    )
    .post(
      "/v1/responses/:id/cancel",
      async ({ params, request }) => {
        checkOwner(deps, kept, params.id, request);
        const patience = AbortSignal.any([request.signal, AbortSignal.timeout(CANCEL_PATIENCE_MS)]);
        await abortable(kept.responses.cancel(params.id), patience).catch(() => {});
        return jsonResponse(deps.contexts.of(request), stored(kept, params.id).resource);
      },
      jsonAnswer(ResponseResource),
    )
    .get(
      "/v1/responses/:id/input_items",
      ({ params, request }) => {
        const { input } = stored(kept, params.id);
        const page = decodePage(new URL(request.url).searchParams);
        return jsonResponse(deps.contexts.of(request), listItems(input, page));
      },
      jsonAnswer(InputItemList),
    );

async function create(deps: AppDeps, kept: StoredResponses, request: Request): Promise<Response> {
  const decoded = decodeResponses(await readGenerationBody(deps, request), deps.settings, kept.history);
  const report: RequestReport = {};
  const log = decoded.background && isStreamed(deps, decoded.stream) ? new EventLog<NamedEvent>() : undefined;
  const context = begin(deps, kept, decoded, request, report, log);
  const { id } = context.resource;
  const call: GenerationCall = {
    report,
    requests: [decoded.request],
    stream: decoded.stream,
    json: (events, known) => {
      const reported = withReadInputs(context, known);
      if (!log) return encodeResponse(events, reported);
      return kept.responses.record(id, log, recorded(deps, request, events, reported));
    },
    writer: (put, known) => countedWriter(deps, put, withReadInputs(context, known)),
    framing: { terminator: DONE, leastRead: LEAST_READ },
  };
  try {
    if (!decoded.background) return await respond(deps, request, call);
    const headers = await respondLater(deps, request, call);
    if (log) return follow(deps, request, log, 0, headers);
    return jsonResponse(deps.contexts.of(request), context.resource, headers);
  } catch (error) {
    // The client gets an error instead of the id, so the response cannot be fetched.
    kept.responses.forget(id);
    throw error;
  }
}

/** Begins a response; its end, and the events of its stream, are stored if the request wants that. */
function begin(
  deps: AppDeps,
  kept: StoredResponses,
  call: ResponsesCall,
  request: Request,
  report: RequestReport,
  events?: EventLog<NamedEvent>,
): ResponseContext {
  const id = newResponseId();
  const resource = beginResource(deps, id, call);
  const input = inputItems(call.body.input);
  const goOn = continued(kept, input, resource);
  const fetchable = call.store ? { resource, input, ...(events && { events }) } : undefined;
  const { apiKey: client } = deps.contexts.of(request);
  kept.responses.begin(id, { client, stop: () => report.cancel?.() }, fetchable);
  return {
    resource,
    tools: call.tools,
    now: () => unixSeconds(deps.clock),
    onEnd: (end) => {
      kept.responses.end(id, end.resource, [...call.conversation, end.message]);
      goOn?.(end.resource);
    },
  };
}

/** Returns what adds a turn to the response's conversation. Throws SvcError `payload_too_large` when it is full. */
function continued(
  { conversations, history }: StoredResponses,
  input: readonly ListedItem[],
  { conversation: named }: ResponseResource,
) {
  if (!named) return undefined;
  const items = withReferred(input, history.item);
  conversations.checkSize(conversations.get(named.id), items);
  return ({ status, output }: ResponseResource) => {
    if (status === "completed" || status === "incomplete") conversations.append(named.id, [...items, ...output]);
  };
}

/** Returns a response's writer whose memory counts: it keeps the log probabilities of all tokens until the end. */
function countedWriter(
  { answerBudget }: Pick<AppDeps, "answerBudget">,
  put: Put<LongEvent>,
  context: ResponseContext,
): StreamWriter<GenerateEvent> {
  const held = new HeldAnswer(answerBudget, fewerLogprobs);
  const writer = responseWriter(put, context);
  return {
    ...writer,
    event(event) {
      held.add(event);
      writer.event(event);
    },
    close() {
      writer.close?.();
      held.close();
    },
  };
}

/** Characters of stored events to write per turn of the event loop. */
const WRITTEN_IN_A_TURN = 64 * 1024;

/** Yields the stream of a response that continues when its client disconnects. */
async function* recorded(
  deps: AppDeps,
  request: Request,
  events: AsyncIterable<GenerateEvent>,
  context: ResponseContext,
): AsyncGenerator<NamedEvent, void, void> {
  const { onUnexpected } = deps.contexts.of(request);
  const written = streamed(events[Symbol.asyncIterator](), (put: Put<LongEvent>) => countedWriter(deps, put, context), {
    signal: new AbortController().signal,
    onUnexpected,
  });
  const turns = new TurnLimit(WRITTEN_IN_A_TURN);
  for await (const { event, data } of written) {
    let text = "";
    for (const part of typeof data === "string" ? [data] : data) {
      await turns.enter(part.length);
      text += part;
    }
    yield { event, data: text };
  }
}

async function countInput(deps: AppDeps, { history }: StoredResponses, request: Request): Promise<Response> {
  const body = await deps.bodies.read(request, bodyCeilings.generation);
  const tokens = await countTokens(deps, request, decodeResponsesPrompt(body, deps.settings, history));
  return Response.json({ object: "response.input_tokens", input_tokens: tokens });
}

async function compact(deps: AppDeps, { history }: StoredResponses, request: Request): Promise<Response> {
  const { clock, config } = deps;
  const prompt = decodeResponsesPrompt(await readGenerationBody(deps, request), deps.settings, history);
  const compacted = { id: newResponseId(), created: unixSeconds(clock) };
  return respond(deps, request, {
    requests: [compacting(prompt, config.maxTokens)],
    stream: false,
    json: (events) => encodeCompacted(events, compacted),
  });
}

function stored(kept: StoredResponses, id: string) {
  const response = kept.responses.get(id);
  if (response) return response;
  throw new SvcError("not_found", "No response with this id is stored.", { param: "response_id" });
}

/** Throws SvcError `not_found` unless the response is stored, and not in progress for another API key. */
function checkOwner({ contexts }: AppDeps, kept: StoredResponses, id: string, request: Request): void {
  stored(kept, id);
  if (kept.responses.mayEnd(id, contexts.of(request).apiKey)) return;
  const message = "The response with this id is in progress for another API key; it can be ended only with that key.";
  throw new SvcError("not_found", message, { param: "response_id" });
}

/** Returns a stored response, or its stream from the event that the query names. */
async function retrieve(
  deps: AppDeps,
  request: Request,
  { resource, events }: ReturnType<typeof stored>,
): Promise<Response> {
  const start = decodeResumption(new URL(request.url).searchParams);
  if (start === undefined) return jsonResponse(deps.contexts.of(request), resource);
  if (events) return follow(deps, request, events, start);
  throw fieldError("invalid_value", "stream", "needs a response that was made with background and stream");
}

/** Answers with a response's stream from event `start` on; the response itself does not depend on this reader. */
function follow(deps: AppDeps, request: Request, events: EventLog<NamedEvent>, start: number, headers = {}) {
  const read = events.read(start, deps.contexts.of(request).signal);
  return streamResponse(deps, request, read, passThrough, { headers, terminator: DONE });
}
