// POST /v1/batch/completions

import { Elysia } from "elysia";
import { MultiplexRequest } from "../../contract/multiplex.ts";
import { decodeProfile } from "../../dialect/chat/profile.ts";
import { decodeMultiplex } from "../../dialect/multiplex/decode.ts";
import { encodeFailure, eventTagger } from "../../dialect/multiplex/encode.ts";
import { DONE, streamed, type Put, type StreamedRequest, type StreamWriter } from "../../dialect/stream/streamed.ts";
import { typedError } from "../../domain/errors.ts";
import type { AcceptedEvent, GenerateEvent, Generation } from "../../domain/generate.ts";
import { jsonParts } from "../../domain/json-parts.ts";
import { HeldAnswer } from "../../service/held-answer.ts";
import type { MultiplexService } from "../../service/multiplex.ts";
import type { ItemText } from "../../service/multiplex-run.ts";
import type { AppDeps } from "../deps.ts";
import { chatExchange, type ChatExchange } from "../chat-exchange.ts";
import { DOWNGRADED, isStreamed, requestOrigin, streamResponse } from "../generation-response.ts";
import { bodyCeilings } from "../json-body.ts";
import { hooksOf, jsonContent } from "../json-content.ts";
import { reportFields } from "../log-fields.ts";
import type { Frame } from "../sse.ts";

/** Answers many chat completions in one request, with their events in one stream. */
export const multiplexRoutes = (deps: AppDeps, multiplex: MultiplexService) =>
  new Elysia({ name: "route.multiplex" }).post(
    "/v1/batch/completions",
    async ({ request }) => {
      const profile = decodeProfile(request.headers.get("x-svc-profile"));
      const body = await deps.bodies.read(request, bodyCeilings.generation);
      const calls = await decodeMultiplex(body, (own) => chatExchange(deps, own, profile));
      const origin = requestOrigin(deps, request);
      const context = deps.contexts.of(request);
      const { id, signal, onUnexpected } = context;
      const items = calls.map(({ customId, call }, index) => ({
        customId,
        request: call.request,
        origin: { ...origin, id: `${id}/${index}` },
        held: isStreamed(deps, call.stream) ? undefined : new HeldAnswer(deps.answerBudget),
        texts: (events: AsyncGenerator<GenerateEvent>, { downgraded, ...accepted }: AcceptedEvent) => {
          const tag = eventTagger(customId, downgraded);
          const known = { ...accepted, requestId: id };
          const writer = (put: Put<string>) => itemWriter(call, (text) => put(tag(text)), known);
          return isStreamed(deps, call.stream)
            ? streamed(events, writer, { signal, onUnexpected })
            : whole(call, events, known, tag);
        },
        failure: (error: unknown) => encodeFailure(customId, typedError(error, onUnexpected), id),
      }));
      const isDowngraded = calls.some(({ call }) => mustBeDowngraded(deps, call.request));
      const run = multiplex.begin(origin, items, signal);
      context.logFields = () => ({
        items: items.length,
        failed: run.failed,
        ...reportFields(run.usage ? { usage: run.usage } : {}),
      });
      return streamResponse(deps, request, run.texts(), eventsOf, {
        terminator: DONE,
        opens: true,
        headers: isDowngraded ? DOWNGRADED : {},
      });
    },
    hooksOf({ description: "", content: {} }, jsonContent(MultiplexRequest)),
  );

/** Returns the writer of an item's stream; the batch writes the item's failure and ends the stream. */
const itemWriter = (call: ChatExchange, put: Put<string>, known: StreamedRequest): StreamWriter<GenerateEvent> => ({
  ...call.writer(put, known),
  failure: (error) => {
    throw error;
  },
});

async function* whole(
  call: ChatExchange,
  events: AsyncGenerator<GenerateEvent>,
  known: StreamedRequest,
  tag: (text: string) => string,
): AsyncGenerator<ItemText, void, void> {
  yield tagged(jsonParts(await call.json(events, known)), tag);
}

function* tagged(parts: Iterator<string, void>, tag: (text: string) => string): Generator<string, void, void> {
  const { value: first = "" } = parts.next();
  yield tag(first);
  for (let part = parts.next(); !part.done; part = parts.next()) yield part.value;
}

const eventsOf = (put: Put<Frame>): StreamWriter<ItemText> => ({
  event: (data) => put(typeof data === "string" ? data : { data }),
});

/** Returns what is known before the engine has the item; the item's events report what only its answer reveals. */
function mustBeDowngraded({ config, router }: AppDeps, request: Generation): boolean {
  const { constraint, model } = request;
  if (!constraint?.strict) return false;
  const { enforces = () => config.constrain } = router.find(model, "chat");
  return constraint.inexpressible || !enforces(request);
}
