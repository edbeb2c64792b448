// Reads the body of a generation request.

import { decodeModel } from "../dialect/fields/limits.ts";
import type { AppDeps } from "./deps.ts";
import { bodyCeilings } from "./json-body.ts";

/**
 * Reads the body of a generation request. Overload fails fast: while the model's queue is full, the request is refused
 * once its model is known, before it is decoded, so that a burst costs little. Throws SvcError like `JsonBodies`, about
 * the model that the body names, and `server_busy`.
 */
export async function readGenerationBody(
  { bodies, contexts, generation }: AppDeps,
  request: Request,
): Promise<unknown> {
  const body = await bodies.read(request, bodyCeilings.generation);
  generation.checkCapacity(namedModel(body), contexts.of(request));
  return body;
}

function namedModel(body: unknown): string | undefined {
  const named = typeof body === "object" && body !== null && "model" in body ? body.model : undefined;
  return typeof named === "string" ? decodeModel(named).model : undefined;
}
