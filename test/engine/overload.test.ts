import { expect, test } from "bun:test";
import { systemClock } from "../../src/domain/clock.ts";
import { overload } from "../../src/engine/text/child/overload.ts";
import type { ReadyPrompt } from "../../src/engine/text/child/intake.ts";
import type { Scheduler } from "../../src/scheduler/scheduler.ts";
import type { SequenceRequest } from "../../src/scheduler/sequence.ts";
import { plainRequest } from "../support/request.ts";

const clock = { ...systemClock, now: () => 0, wall: () => 0 };

interface Load {
  readonly running: number;
  readonly waiting: number;
  readonly waitingTokens?: number;
  /** Of prompts whose media are not encoded yet. */
  readonly coming?: { readonly prompts: number; readonly tokens: number };
  readonly tokens?: number;
  readonly deadline?: number;
}

const NONE = { prompts: 0, tokens: 0 };

/** Returns what becomes of a request with this many prompt tokens that is expected to take a minute. */
function refusal({ running, waiting, waitingTokens = 0, coming = NONE, tokens = 1, ...timed }: Load) {
  const counts = { runningCount: running, waitingCount: waiting, waitingTokens };
  const scheduler = { ...counts, firstTokenMs: () => 60_000 } as unknown as Scheduler;
  const prompt = { request: plainRequest("hi", { id: "a", ...timed }) } as unknown as ReadyPrompt;
  const sequence = { prompt: { length: tokens } } as unknown as SequenceRequest;
  return overload(prompt, sequence, { scheduler, coming }, { parallel: 4, maxQueueTokens: 1000 }, clock);
}

test("a deadline that will be missed is refused at once, except by an idle engine, whose estimate it may correct", () => {
  const missed = { code: "server_busy", details: { busy: "deadline" } };
  expect(refusal({ running: 1, waiting: 0, deadline: 1000 })).toMatchObject(missed);
  expect(refusal({ running: 0, waiting: 1, deadline: 1000 })).toMatchObject(missed);
  const coming = { prompts: 1, tokens: 10 };
  expect(refusal({ running: 0, waiting: 0, coming, deadline: 1000 })).toMatchObject(missed);
  expect(refusal({ running: 0, waiting: 0, deadline: 1000 })).toBeUndefined();
  expect(refusal({ running: 0, waiting: 0, deadline: -1 })).toMatchObject(missed);
});

test("a prompt is refused when too many tokens wait before it, however long it is itself", () => {
  const full = { code: "server_busy", details: { busy: "queue_tokens" } };
  expect(refusal({ running: 4, waiting: 2, waitingTokens: 900, tokens: 200 })).toMatchObject(full);
  expect(refusal({ running: 4, waiting: 2, waitingTokens: 900, tokens: 100 })).toBeUndefined();
  const coming = { prompts: 5, tokens: 900 };
  expect(refusal({ running: 0, waiting: 0, coming, tokens: 200 })).toMatchObject(full);
  expect(refusal({ running: 0, waiting: 0, coming, tokens: 100 })).toBeUndefined();
  // Only lines of a batch wait.
  expect(refusal({ running: 4, waiting: 2, waitingTokens: 0, tokens: 2000 })).toBeUndefined();
});
