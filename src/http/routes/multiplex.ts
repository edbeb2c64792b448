// POST /v1/batch/completions

import { Elysia } from "elysia";
import { MultiplexRequest } from "../../contract/multiplex.ts";
import { decodeProfile } from "../../dialect/chat/profile.ts";
import { typedError } from "../../dialect/fields/typed-error.ts";
import { decodeMultiplex } from "../../dialect/multiplex/decode.ts";
import { encodeFailure, eventTagger } from "../../dialect/multiplex/encode.ts";
import type { GenerateEvent, GenerateRequest } from "../../domain/generate.ts";
import type { MultiplexRun } from "../../service/multiplex-run.ts";
import type { MultiplexService } from "../../service/multiplex.ts";
import type { AppDeps } from "../deps.ts";
import { chatExchange, type ChatExchange } from "../chat-exchange.ts";
import { DOWNGRADED, leaving, logFields, requestOrigin, streamed } from "../generation-response.ts";
import { bodyCeilings, readJson } from "../json-body.ts";
import { jsonContent } from "../json-content.ts";
import { logUnexpected } from "../log-unexpected.ts";
import type { RequestContexts } from "../request-context.ts";

/** Many chat completions in one request, their events in one stream. */
export const multiplexRoutes = (deps: AppDeps, contexts: RequestContexts, multiplex: MultiplexService) =>
  new Elysia({ name: "route.multiplex" }).post(
    "/v1/batch/completions",
    async ({ request }) => {
      const profile = decodeProfile(request.headers.get("x-svc-profile"));
      const body = await readJson(request, bodyCeilings.generation);
      const calls = decodeMultiplex(body, (own) => chatExchange(deps, own, profile));
      const origin = requestOrigin(deps, contexts, request);
      const { id } = origin;
      const failure = (customId: string) => (error: unknown) =>
        encodeFailure(
          customId,
          typedError(error, (unexpected) => logUnexpected(deps.log, unexpected, id)),
          id,
        );
      const items = calls.map(({ customId, call }, index) => ({
        customId,
        request: { ...call.request, ...origin, id: `${id}/${index}` },
        texts: (events: AsyncGenerator<GenerateEvent>, { downgraded }: { readonly downgraded: boolean }) =>
          tagged(textsOf(call, events), eventTagger(customId, downgraded)),
        failure: failure(customId),
      }));
      const left = leaving(request);
      const run = multiplex.begin(id, items, left.signal);
      contexts.of(request).logFields = () => ({
        items: items.length,
        failed: run.failed,
        ...logFields(run.usage ? { usage: run.usage } : {}),
      });
      const isDowngraded = calls.some(({ call }) => mustBeDowngraded(call.request, deps.config.constrain));
      return streamed(deps, contexts, request, terminated(run, left.signal), {
        left,
        opens: true,
        headers: isDowngraded ? DOWNGRADED : {},
      });
    },
    {
      parse: "none",
      detail: {
        requestBody: jsonContent(MultiplexRequest),
        responses: { 200: { description: "", content: {} } },
      },
    },
  );

async function* textsOf(call: ChatExchange, events: AsyncGenerator<GenerateEvent>): AsyncGenerator<string, void, void> {
  if (call.stream) yield* call.chunks(events);
  else yield JSON.stringify(await call.json(events));
}

async function* tagged(
  texts: AsyncIterable<string>,
  tag: (text: string) => string,
): AsyncGenerator<string, void, void> {
  for await (const text of texts) yield tag(text);
}

async function* terminated(run: MultiplexRun, signal: AbortSignal): AsyncGenerator<string, void, void> {
  yield* run.texts();
  if (!signal.aborted) yield "[DONE]";
}

/** Known before the engine has looked at the item; what it finds out itself is told with the item's events. */
const mustBeDowngraded = ({ constraint }: Pick<GenerateRequest, "constraint">, constrain: boolean): boolean =>
  constraint?.strict === true && (constraint.inexpressible || !constrain);
