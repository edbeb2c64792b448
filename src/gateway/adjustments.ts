// Adjusts requests to OpenAI-compatible servers of an unknown kind, whose models differ in the fields that they take. What
// a model takes shows only when it refuses a request.

import { HINTS } from "../domain/hints.ts";
import type { UpstreamCall } from "./openai/encode-request.ts";
import type { Replica } from "./replica.ts";
import { UpstreamFailure } from "./upstream-failure.ts";

type Body = UpstreamCall["body"];
type Adjustment = (body: Body) => Body;

/** The adjustments that replicas need for one model. */
export class Adjustments {
  private readonly known = new WeakMap<Replica, readonly Adjustment[]>();

  /**
   * Sends a request with the adjustments known for the replica, and after a refusal once more with each further one that
   * may help. Throws what `post` throws.
   */
  async send(
    replica: Replica,
    call: UpstreamCall,
    post: (body: Body) => Promise<Response>,
    used = this.of(replica),
  ): Promise<Response> {
    const body = used.reduce((adjusted, adjust) => adjust(adjusted), call.body);
    let further: Adjustment | undefined;
    try {
      const response = await post(body);
      if (used.length > this.of(replica).length) this.known.set(replica, used);
      return response;
    } catch (error) {
      if (replica.kind === "openai") further = furtherFor(error, body);
      if (!further) throw error;
    }
    return this.send(replica, call, post, [...used, further]);
  }

  private of(replica: Replica): readonly Adjustment[] {
    return this.known.get(replica) ?? [];
  }
}

/** Returns an adjustment that changes the refused body and may help; undefined if there is none. */
function furtherFor(error: unknown, body: Body): Adjustment | undefined {
  if (!(error instanceof UpstreamFailure) || error.error.code !== "invalid_value") return undefined;
  const { param } = error.error.details;
  if (param === "max_tokens") return "messages" in body && param in body ? renameLimit : undefined;
  // Some servers refuse all fields that they do not know, and not all of them name the field.
  const refused = HINTS.filter((hint) => hint in body && (param === undefined || param.split(".")[0] === hint));
  return refused.length > 0 ? without(param === undefined ? HINTS : refused) : undefined;
}

/** OpenAI's models that reason have another name for the limit, and older servers know only the usual one. */
const renameLimit: Adjustment = ({ max_tokens, ...others }) =>
  max_tokens === undefined ? others : { ...others, max_completion_tokens: max_tokens };

const without =
  (fields: readonly string[]): Adjustment =>
  (body) =>
    Object.fromEntries(Object.entries(body).filter(([name]) => !fields.includes(name)));
