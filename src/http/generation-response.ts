// What every route that generates has in common: the run, its abort when the client leaves, JSON or a stream, the log.

import type { StreamContext } from "../dialect/fields/stream.ts";
import { SvcError } from "../domain/errors.ts";
import type { AcceptedEvent, GenerateEvent, GenerateRequest } from "../domain/generate.ts";
import type { GenerationReport } from "../service/generation.ts";
import type { LogFields } from "../telemetry/log.ts";
import type { AppDeps } from "./deps.ts";
import { checkClient, decodeDeadline, isForwarded } from "./generation-headers.ts";
import { logUnexpected } from "./log-unexpected.ts";
import type { RequestContexts } from "./request-context.ts";
import { eventStream, type Frame } from "./sse.ts";

const STREAM_HEADERS = {
  "Cache-Control": "no-cache",
  "X-Accel-Buffering": "no",
};

/** Headers of an answer whose strict schema is not enforced, or not all of it. */
export const DOWNGRADED = { "X-Grammar-Constraints": "downgraded" } as const;

export interface GenerationCall {
  /** Answered together; ids are given here. */
  readonly requests: readonly [Omit<GenerateRequest, "id">, ...Omit<GenerateRequest, "id">[]];
  readonly stream: boolean;
  /** The whole answer as JSON; throws what the generation throws. */
  readonly json: (events: AsyncIterable<GenerateEvent>) => Promise<unknown>;
  /** The answer as events, terminator included. Never throws. */
  readonly frames: (events: AsyncIterator<GenerateEvent>, context: StreamContext) => AsyncIterator<Frame>;
  /** Filled in while the call runs. */
  readonly report?: GenerationReport;
  /** What is sent while a stream is silent; default: a comment. */
  readonly heartbeat?: string;
  /** How frames are written; default: server-sent events. */
  readonly format?: "sse" | "ndjson";
}

/** Runs the call and answers it. Throws SvcError as long as the status is not settled. */
export async function respond(
  deps: AppDeps,
  contexts: RequestContexts,
  request: Request,
  call: GenerationCall,
): Promise<Response> {
  const { config, log } = deps;
  const left = leaving(request);
  const { events, accepted } = await begin(deps, contexts, request, call, left.signal);
  const headers = constraintHeaders(accepted);
  if (!call.stream || !config.streaming) return Response.json(await call.json(events), { headers });
  const { id } = contexts.of(request);
  const frames = call.frames(events, {
    requestId: id,
    signal: left.signal,
    onUnexpected: (error) => logUnexpected(log, error, id),
    promptTokens: accepted?.promptTokens ?? 0,
  });
  const { heartbeat, format = "sse" } = call;
  return streamed(deps, contexts, request, frames, {
    left,
    headers,
    format,
    ...(heartbeat !== undefined && { heartbeat }),
  });
}

/** Aborted when the client leaves; whoever streams to it aborts it as well. */
export function leaving(request: Request): AbortController {
  const left = new AbortController();
  request.signal.addEventListener("abort", () => left.abort(), { once: true });
  if (request.signal.aborted) left.abort();
  return left;
}

interface StreamOptions extends Pick<GenerationCall, "heartbeat" | "format"> {
  /** Its signal ends `frames`. */
  readonly left: AbortController;
  readonly headers?: Readonly<Record<string, string>>;
  /** A comment goes out at once, and the headers with it. */
  readonly opens?: boolean;
}

/** An answer of these frames, which are to end when the client has left. */
export function streamed(
  { config }: AppDeps,
  contexts: RequestContexts,
  request: Request,
  frames: AsyncIterator<Frame>,
  { left, headers, format = "sse", heartbeat, opens = false }: StreamOptions,
): Response {
  const options = { heartbeatMs: config.heartbeatMs, format, opens, ...(heartbeat !== undefined && { heartbeat }) };
  const stream = eventStream(frames, { ...options, signal: left.signal, abort: () => left.abort() });
  contexts.of(request).bodyEnded = stream.ended;
  const type = format === "sse" ? "text/event-stream" : "application/x-ndjson";
  return new Response(stream.body, { headers: { "Content-Type": type, ...STREAM_HEADERS, ...headers } });
}

/** Begins the call and lets it run to its end, whether its client stays or not. Returns headers for the answer. */
export async function respondLater(
  deps: AppDeps,
  contexts: RequestContexts,
  request: Request,
  call: GenerationCall,
): Promise<Record<string, string>> {
  const { events, accepted } = await begin(deps, contexts, request, call, new AbortController().signal);
  const { id } = contexts.of(request);
  call.json(events).catch((error: unknown) => {
    if (!(error instanceof SvcError)) logUnexpected(deps.log, error, id);
  });
  return constraintHeaders(accepted);
}

/** Runs up to the acceptance: until then, a failure has its own status. */
async function begin(
  deps: AppDeps,
  contexts: RequestContexts,
  request: Request,
  call: GenerationCall,
  signal: AbortSignal,
): Promise<{ events: AsyncGenerator<GenerateEvent, void, void>; accepted: AcceptedEvent | undefined }> {
  const context = contexts.of(request);
  const { report = {} } = call;
  context.logFields = () => logFields(report);
  const own = requestOrigin(deps, contexts, request);
  const [first, ...others] = call.requests;
  const events = deps.generation.generate(
    [{ ...first, ...own }, ...others.map((other) => ({ ...other, ...own }))],
    signal,
    report,
  );
  const { value } = await events.next();
  return { events, accepted: value?.type === "accepted" ? value : undefined };
}

/** What a request's headers and connection say about each generation of it. Throws SvcError `invalid_value`. */
export function requestOrigin(
  { clock }: AppDeps,
  contexts: RequestContexts,
  request: Request,
): Pick<GenerateRequest, "id" | "client" | "deadline" | "forwarded"> {
  const { id, client, startedAt } = contexts.of(request);
  checkClient(request.headers);
  const deadlineMs = decodeDeadline(request.headers);
  const arrived = clock.wall() - (clock.now() - startedAt);
  return {
    id,
    ...(client !== undefined && { client }),
    ...(deadlineMs !== undefined && { deadline: arrived + deadlineMs }),
    ...(isForwarded(request.headers) && { forwarded: true as const }),
  };
}

/** Tells a client that was promised a strict schema when it does not get one. */
function constraintHeaders(accepted: AcceptedEvent | undefined): Record<string, string> {
  return accepted?.downgraded ? DOWNGRADED : {};
}

/** How a generation went, for the request's log line. */
export function logFields({ reason, usage, error, firstTextMs }: GenerationReport): LogFields {
  const decodeSeconds = (usage?.completionMs ?? 0) / 1000;
  return {
    finish: error ?? reason,
    prompt: usage?.promptTokens,
    cached: usage?.cachedTokens,
    completion: usage?.completionTokens,
    ttft_ms: firstTextMs === undefined ? undefined : Math.round(firstTextMs),
    tok_s:
      usage && decodeSeconds > 0 ? Math.round(((usage.completionTokens - 1) / decodeSeconds) * 10) / 10 : undefined,
  };
}
