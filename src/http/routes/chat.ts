// POST /v1/chat/completions

import { Elysia } from "elysia";
import { ChatCompletion, ChatCompletionRequest } from "../../contract/chat.ts";
import { decodeChat } from "../../dialect/chat/decode.ts";
import { encodeChatStream } from "../../dialect/chat/encode-stream.ts";
import { encodeChat, type ChatAnswer } from "../../dialect/chat/encode.ts";
import { SvcError } from "../../domain/errors.ts";
import type { GenerateEvent } from "../../domain/generate.ts";
import { newChatCompletionId } from "../../domain/ids.ts";
import type { GenerationReport } from "../../service/generation.ts";
import type { LogFields } from "../../telemetry/log.ts";
import type { AppDeps } from "../app.ts";
import { bodyCeilings, readJson } from "../json-body.ts";
import { jsonContent } from "../json-content.ts";
import { logUnexpected } from "../log-unexpected.ts";
import type { RequestContexts } from "../request-context.ts";
import { eventStream } from "../sse.ts";

const STREAM_HEADERS = {
  "Content-Type": "text/event-stream",
  "Cache-Control": "no-cache",
  "X-Accel-Buffering": "no",
};

/** Chat completions, as JSON or as a stream. */
export const chatRoutes = (deps: AppDeps, contexts: RequestContexts) =>
  new Elysia({ name: "route.chat" }).post(
    "/v1/chat/completions",
    async ({ request }) => {
      const { config, generation } = deps;
      const context = contexts.of(request);
      refuseProfile(request.headers);
      const body = await readJson(request, bodyCeilings.generation);
      const call = decodeChat(body, config);
      const report: GenerationReport = {};
      context.logFields = () => logFields(report);

      const left = new AbortController();
      const abort = () => left.abort();
      request.signal.addEventListener("abort", abort, { once: true });
      if (request.signal.aborted) abort();
      const events = generation.generate({ ...call.request, id: context.id }, left.signal, report);
      if (!call.stream || !config.streaming) {
        // The first event says what the headers say; the answer is made of the others.
        const headers = constraintHeaders(await events.next());
        const { choices, topLogprobs } = call.request;
        const form = { choices, withLogprobs: topLogprobs !== undefined };
        return Response.json(await encodeChat(events, answerOf(deps), form), { headers });
      }
      // Until the engine has accepted the request, a failure still has its own status.
      const headers = { ...STREAM_HEADERS, ...constraintHeaders(await events.next()) };
      const chunks = encodeChatStream(events, {
        answer: answerOf(deps),
        choices: call.request.choices,
        includeUsage: call.includeUsage,
        requestId: context.id,
        signal: left.signal,
        onUnexpected: (error) => logUnexpected(deps.log, error, context.id),
      });
      const stream = eventStream(chunks, { heartbeatMs: config.heartbeatMs, signal: left.signal, abort });
      context.bodyEnded = stream.ended;
      return new Response(stream.body, { headers });
    },
    {
      parse: "none",
      detail: { requestBody: jsonContent(ChatCompletionRequest), responses: { 200: jsonContent(ChatCompletion) } },
    },
  );

/** Tells a client that was promised a strict schema when it does not get one. */
function constraintHeaders({ value }: IteratorResult<GenerateEvent, void>): Record<string, string> {
  return value?.type === "accepted" && value.downgraded ? { "X-Grammar-Constraints": "downgraded" } : {};
}

function answerOf({ engine, clock, version }: AppDeps): ChatAnswer {
  return {
    id: newChatCompletionId(),
    created: Math.floor(clock.wall() / 1000),
    model: engine.status().modelId,
    systemFingerprint: `svc_${version}`,
  };
}

function refuseProfile(headers: Headers): void {
  const param = "X-Svc-Profile";
  const asked = headers.get(param)?.trim().toLowerCase();
  if (asked === "true" || asked === "extended") {
    throw new SvcError("unsupported_parameter", `'${param}' is not supported.`, { param });
  }
}

function logFields({ reason, usage, error, firstTextMs }: GenerationReport): LogFields {
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
