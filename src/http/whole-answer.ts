// Answers that are put together before they are sent: they hold memory until the client has them.

import type { HeldAnswer } from "../service/held-answer.ts";
import type { RequestContext } from "./request-context.ts";

/** Returns the response of `answer`. The memory is free when its body has ended, or when `answer` throws. */
export async function wholeAnswer(
  held: HeldAnswer,
  context: Pick<RequestContext, "bodyEnded">,
  answer: () => Promise<Response>,
): Promise<Response> {
  try {
    return await answer();
  } finally {
    if (context.bodyEnded) void context.bodyEnded.then(() => held.close());
    else held.close();
  }
}
