// Overload fails fast: a prompt is refused when too many tokens wait already, or when its deadline cannot be met.

import type { Clock } from "../../../domain/clock.ts";
import { SvcError } from "../../../domain/errors.ts";
import type { Scheduler } from "../../../scheduler/scheduler.ts";
import type { SequenceRequest } from "../../../scheduler/sequence.ts";
import type { EngineOptions } from "../protocol.ts";
import type { ReadyPrompt } from "./intake.ts";
import type { Coming } from "./media-prompts.ts";

/** What has been accepted before. */
interface Load {
  readonly scheduler: Scheduler;
  readonly coming: Coming;
}

/** Returns why the scheduler should not take a request now; undefined if it should. */
export function overload(
  { request }: ReadyPrompt,
  sequence: SequenceRequest,
  { scheduler, coming }: Load,
  { parallel, maxQueueTokens: limit }: Pick<EngineOptions, "parallel" | "maxQueueTokens">,
  clock: Clock,
): SvcError | undefined {
  const { id, group = id, deadline } = request;
  // Only the first of several answers to a request is checked: the others belong to work that has begun.
  if (group !== id) return undefined;
  const { runningCount, waitingCount } = scheduler;
  const waitingTokens = scheduler.waitingTokens + coming.tokens;
  const accepted = runningCount + waitingCount + coming.prompts;
  // While sequences are free, waiting requests start with the next step.
  const queues = !request.background && accepted > parallel;
  // A prompt that is longer than the limit is taken when no other waits; lines of a batch do not count.
  if (queues && waitingTokens > 0 && waitingTokens + sequence.prompt.length > limit) {
    const message = `The server is at capacity: ${waitingTokens} prompt tokens wait in the queue; the limit is ${limit}.`;
    return new SvcError("server_busy", message, { busy: "queue_tokens" });
  }
  if (deadline === undefined) return undefined;
  // On an idle engine the request costs nobody anything, and shows whether the estimate is right.
  const expectedMs = accepted === 0 ? 0 : scheduler.firstTokenMs(sequence, clock.now());
  if (clock.wall() + expectedMs <= deadline) return undefined;
  const message = "The server is too busy to begin an answer before the deadline of X-Svc-Deadline-Ms.";
  return new SvcError("server_busy", message, { busy: "deadline" });
}
