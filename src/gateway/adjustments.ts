// Adjusts requests to OpenAI-compatible servers of an unknown kind, whose models differ in the fields that they take. What
// a model takes shows only when it refuses a request.

import type { UpstreamCall } from "./openai/encode-request.ts";
import type { Replica } from "./replica.ts";
import { UpstreamFailure } from "./upstream-failure.ts";

type Body = UpstreamCall["body"];

interface Adjustment {
  /** Returns whether the adjusted request may succeed. `param`: the refused field, if the server named one. */
  readonly mayHelp: (body: Body, param: string | undefined) => boolean;
  readonly adjust: (body: Body) => Body;
}

/** OpenAI's models that reason have another name for the limit, and older servers know only the usual one. */
const renamedLimit: Adjustment = {
  mayHelp: (body, param) => param === "max_tokens" && "messages" in body && "max_tokens" in body,
  adjust: ({ max_tokens, ...others }) => ({ ...others, max_completion_tokens: max_tokens }),
};

const ADJUSTMENTS: readonly Adjustment[] = [renamedLimit];

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
    used = this.known.get(replica) ?? [],
  ): Promise<Response> {
    const body = used.reduce((adjusted, { adjust }) => adjust(adjusted), call.body);
    let further: Adjustment | undefined;
    try {
      const response = await post(body);
      this.known.set(replica, used);
      return response;
    } catch (error) {
      if (replica.kind === "openai") further = furtherFor(error, body, used);
      if (!further) throw error;
    }
    return this.send(replica, call, post, [...used, further]);
  }
}

function furtherFor(error: unknown, body: Body, used: readonly Adjustment[]): Adjustment | undefined {
  if (!(error instanceof UpstreamFailure) || error.error.code !== "invalid_value") return undefined;
  const { param } = error.error.details;
  return ADJUSTMENTS.find((one) => !used.includes(one) && one.mayHelp(body, param));
}
