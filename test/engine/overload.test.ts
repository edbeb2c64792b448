import { expect, test } from "bun:test";
import { systemClock } from "../../src/domain/clock.ts";
import { overload } from "../../src/engine/text/child/overload.ts";
import type { ReadyPrompt } from "../../src/engine/text/child/intake.ts";
import type { Scheduler } from "../../src/scheduler/scheduler.ts";
import type { SequenceRequest } from "../../src/scheduler/sequence.ts";
import { plainRequest } from "../support/request.ts";

const clock = { ...systemClock, now: () => 0, wall: () => 0 };

/** Returns what becomes of a request with a deadline in a second that is expected to take a minute. */
function refusal(runningCount: number, waitingCount: number, deadline = 1000) {
  const scheduler = { runningCount, waitingCount, waitingTokens: 0, firstTokenMs: () => 60_000 };
  const prompt = { request: plainRequest("hi", { id: "a", deadline }) };
  const limits = { parallel: 4, maxQueueTokens: 1000 };
  const sequence = { prompt: [1] } as unknown as SequenceRequest;
  return overload(prompt as unknown as ReadyPrompt, sequence, scheduler as unknown as Scheduler, limits, clock);
}

test("a deadline that will be missed is refused at once, except by an idle engine, whose estimate it may correct", () => {
  expect(refusal(1, 0)).toMatchObject({ code: "server_busy", busy: "deadline" });
  expect(refusal(0, 1)).toMatchObject({ code: "server_busy", busy: "deadline" });
  expect(refusal(0, 0)).toBeUndefined();
  expect(refusal(0, 0, -1)).toMatchObject({ code: "server_busy", busy: "deadline" });
});
