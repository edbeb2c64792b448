import { expect, test } from "bun:test";
import { systemClock } from "../../../src/domain/clock.ts";
import { PendingJob } from "../../../src/engine/process/jobs.ts";
import type { TextEvent, TextJob } from "../../../src/engine/text/protocol.ts";
import { plainRequest } from "../../support/request.ts";

test("a job keeps its images and sound until its computation starts, in case another process needs them", () => {
  const rgb = new Uint8Array(300);
  const request = plainRequest("?");
  const job = { type: "generate", request } as const;
  const pending = new PendingJob<TextJob, TextEvent>(systemClock, 1, "r1", job, [rgb]);
  const messages: ReturnType<typeof pending.next>[] = [
    { type: "part", key: 1, index: 0, length: 300, from: 0, bytes: rgb },
    { type: "submit", key: 1, job },
  ];
  expect([pending.next(), pending.next()]).toEqual(messages);
  pending.sent();
  pending.waitForEngine(1000, () => {});
  expect([pending.next(), pending.next()]).toEqual(messages);
  pending.sent();
  pending.started();
  expect(pending.progress).toBe("started");
  expect(pending.next()).toBeUndefined();
  expect(Object.values(pending)).not.toContainEqual(expect.objectContaining({ request }));
  expect(Object.values(pending)).not.toContainEqual([rgb]);
});
