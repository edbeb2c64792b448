// The resource of a response that is begun now.

import type { ResponseResource } from "../contract/responses.ts";
import type { ResponsesCall } from "../dialect/responses/decode.ts";
import { newResource } from "../dialect/responses/resource.ts";
import type { AppDeps } from "./deps.ts";

/** Throws SvcError when no backend can answer it. */
export function beginResource(
  { router, clock, config }: AppDeps,
  id: string,
  { request, asked }: Pick<ResponsesCall, "request" | "asked">,
): ResponseResource {
  const { model, engine, takesForeignFields: isRemote } = router.find(request.model, "chat");
  const identity = { id, createdAt: Math.floor(clock.wall() / 1000), model };
  // What another server samples with is not known.
  const others = isRemote ? { temperature: null, topP: null } : config.sampling;
  const defaults = engine.status().model?.sampling ?? others;
  return newResource(identity, asked, defaults);
}
