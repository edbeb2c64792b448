// Creates the resource of a response that begins now.

import type { ResponseResource } from "../contract/responses.ts";
import type { ResponsesCall } from "../dialect/responses/decode.ts";
import { newResource } from "../dialect/responses/resource.ts";
import { unixSeconds } from "../domain/clock.ts";
import type { AppDeps } from "./deps.ts";

/** Returns the resource. Throws SvcError when no backend can answer. */
export function beginResource(
  { router, clock, config }: AppDeps,
  id: string,
  { request, body }: Pick<ResponsesCall, "request" | "body">,
): ResponseResource {
  const { model, engine, takesForeignFields: isRemote } = router.find(request.model, "chat");
  const identity = { id, createdAt: unixSeconds(clock), model };
  // The sampling settings of an upstream are unknown, as are those of a model file until it is loaded.
  const unknown = { temperature: null, topP: null };
  const others = isRemote ? unknown : { ...unknown, ...config.sampling };
  return newResource(identity, body, engine.status().model?.sampling ?? others);
}
