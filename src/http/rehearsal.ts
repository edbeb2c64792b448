// Handles a few requests before most real ones. Elysia composes a handler and TypeBox compiles a check when they are
// first used, and all code runs slowly at first: the first request would take tens of milliseconds longer.

import { nextTurn } from "../domain/next-turn.ts";
import type { JsonBodies } from "./json-body.ts";
import type { RequestContexts } from "./request-context.ts";

/** The routes whose first answer a person most likely waits for. */
const ROUTES = ["/v1/chat/completions", "/v1/messages", "/v1/responses", "/v1/completions", "/v1/embeddings"];
const BODY = "{}";

interface RehearsalDeps {
  /** Handles a request whose access has been checked. */
  readonly handle: (request: Request) => Response | Promise<Response>;
  readonly contexts: RequestContexts;
  readonly bodies: Pick<JsonBodies, "release">;
}

/**
 * Handles requests that the check of their bodies refuses: nothing is computed, counted or logged. Returns the statuses of
 * the answers.
 */
export async function rehearse({ handle, contexts, bodies }: RehearsalDeps): Promise<number[]> {
  const statuses: number[] = [];
  const headers = { "content-type": "application/json", "content-length": String(BODY.length) };
  for (const route of ROUTES) {
    await nextTurn();
    const request = new Request(`http://localhost${route}`, { method: "POST", headers, body: BODY });
    contexts.open(request, 0);
    statuses.push((await handle(request)).status);
    bodies.release(request);
  }
  return statuses;
}
