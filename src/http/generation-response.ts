// Common to all routes that generate: running the call, aborting it on disconnect, JSON or stream, and the log.

import { streamed, type Put, type StreamedRequest, type StreamWriter } from "../dialect/stream/streamed.ts";
import { SvcError } from "../domain/errors.ts";
import type { GenerateEvent, Generations } from "../domain/generate.ts";
import type { RequestOrigin } from "../domain/request-origin.ts";
import { acceptance } from "../service/generation.ts";
import { HeldAnswer } from "../service/held-answer.ts";
import type { RequestReport } from "../service/request.ts";
import type { AppDeps } from "./deps.ts";
import { checkClient, decodeDeadline, isForwarded } from "./generation-headers.ts";
import { reportFields } from "./log-fields.ts";
import { jsonResponse, wholeAnswer } from "./json-response.ts";
import { eventStream, type Frame } from "./sse.ts";

const STREAM_HEADERS = {
  "Cache-Control": "no-cache",
  "X-Accel-Buffering": "no",
};

/** Header of an answer whose strict schema is not, or not fully, enforced. */
export const DOWNGRADED = { "X-Grammar-Constraints": "downgraded" } as const;

export interface GenerationCall {
  /** The requests to answer together. */
  readonly requests: Generations;
  /** Whether the client wants a stream. */
  readonly stream: boolean;
  /** Returns the whole answer as JSON; throws what the generation throws. */
  readonly json: (events: AsyncIterable<GenerateEvent>, request: StreamedRequest) => Promise<unknown>;
  /** Writes the answer as a stream; absent: the answer is never streamed. */
  readonly writer?: (put: Put<Frame>, request: StreamedRequest) => StreamWriter<GenerateEvent>;
  /** Filled in while the call runs. */
  readonly report?: RequestReport;
  readonly framing?: Framing;
}

/** Runs the call and answers it. Throws SvcError until the status is decided. */
export async function respond(deps: AppDeps, request: Request, call: GenerationCall): Promise<Response> {
  const context = deps.contexts.of(request);
  const { signal } = context;
  const writer = isStreamed(deps, call.stream) ? call.writer : undefined;
  if (!writer) {
    return wholeAnswer(deps.answerBudget, context, async (held) => {
      const { events, known, headers } = await begin(deps, request, call, signal, held);
      return jsonResponse(context, await call.json(events, known), headers);
    });
  }
  const { events, known, headers } = await begin(deps, request, call, signal);
  const open = (put: Put<Frame>) => writer(put, known);
  return streamResponse(deps, request, events, open, { ...call.framing, headers });
}

/** How a dialect's stream frames its chunks. */
interface Framing {
  /** Ends the stream, whether or not it failed. */
  readonly terminator?: Frame;
  /** Sent while the stream is silent; default: a comment. */
  readonly heartbeat?: string;
  /** Characters that a reader must take within its patience, of a stream that holds memory until it is read. */
  readonly leastRead?: number;
  /** How frames are written; default: server-sent events. */
  readonly format?: "sse" | "ndjson";
}

interface ResponseOptions extends Framing {
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether to send a heartbeat at once, and the headers with it. */
  readonly opens?: boolean;
}

/**
 * Returns an answer that streams what is written for `events`, which must end when the signal of the request's context
 * aborts.
 */
export function streamResponse<Event>(
  { config, contexts }: AppDeps,
  request: Request,
  events: AsyncIterator<Event>,
  open: (put: Put<Frame>) => StreamWriter<Event>,
  { headers, terminator, ...framing }: ResponseOptions = {},
): Response {
  const context = contexts.of(request);
  const { signal, onUnexpected } = context;
  const frames = streamed(events, open, { signal, terminator, onUnexpected });
  const { heartbeatMs } = config;
  const body = context.stream((reader) => eventStream(frames, { ...framing, ...reader, heartbeatMs }));
  const type = framing.format === "ndjson" ? "application/x-ndjson" : "text/event-stream";
  return new Response(body, { headers: { "Content-Type": type, ...STREAM_HEADERS, ...headers } });
}

/** Begins the call and runs it to its end, even if the client disconnects. Returns headers for the answer. */
export async function respondLater(
  deps: AppDeps,
  request: Request,
  call: GenerationCall,
): Promise<Record<string, string>> {
  const held = isStreamed(deps, call.stream) ? undefined : new HeldAnswer(deps.answerBudget);
  const { events, known, headers } = await begin(deps, request, call, new AbortController().signal, held);
  const context = deps.contexts.of(request);
  context.workEnded = call
    .json(events, known)
    .catch((error: unknown) => {
      if (!(error instanceof SvcError)) context.onUnexpected(error);
    })
    .then(() => held?.close());
  return headers;
}

interface Begun {
  readonly events: AsyncGenerator<GenerateEvent, void, void>;
  readonly known: StreamedRequest;
  /** Headers for the answer. */
  readonly headers: Record<string, string>;
}

/** Runs the call up to its acceptance: until then, a failure has its own status. */
async function begin(
  deps: AppDeps,
  request: Request,
  call: GenerationCall,
  signal: AbortSignal,
  held?: HeldAnswer,
): Promise<Begun> {
  const context = deps.contexts.of(request);
  const { report = {} } = call;
  context.logFields = () => reportFields(report);
  const origin = requestOrigin(deps, request);
  const events = deps.generation.generate(call.requests, origin, signal, report, { held });
  const { downgraded, ...accepted } = await acceptance(events);
  return { events, known: { ...accepted, requestId: context.id }, headers: downgraded ? DOWNGRADED : {} };
}

/** Returns settings of a request's generations from its headers and connection. Throws SvcError `invalid_value`. */
export function requestOrigin({ clock, contexts }: AppDeps, request: Request): RequestOrigin {
  const { id, client, holder, startedAt } = contexts.of(request);
  checkClient(request.headers);
  const deadlineMs = decodeDeadline(request.headers);
  const arrived = clock.wall() - (clock.now() - startedAt);
  return {
    id,
    client,
    holder,
    ...(deadlineMs !== undefined && { deadline: arrived + deadlineMs }),
    ...(isForwarded(request.headers) && { forwarded: true as const }),
  };
}

/** Returns whether the answer is streamed, given whether the client wants a stream. */
export const isStreamed = ({ config }: AppDeps, wanted: boolean): boolean => wanted && config.streaming;
