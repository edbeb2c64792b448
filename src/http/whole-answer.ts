// Answers that are put together before they are sent: they hold memory until the client has them.

import type { HeldAnswer } from "../service/held-answer.ts";

/**
 * Returns the response of `answer`, which calls `ends` when the client has it or has disconnected. The memory is free
 * then, or when `answer` throws.
 */
export async function wholeAnswer(
  held: HeldAnswer,
  answer: (ends: () => void) => Promise<Response>,
): Promise<Response> {
  const ends = () => held.close();
  try {
    return await answer(ends);
  } catch (error) {
    ends();
    throw error;
  }
}
