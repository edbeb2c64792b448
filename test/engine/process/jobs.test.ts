import { expect, test } from "bun:test";
import { systemClock } from "../../../src/domain/clock.ts";
import { PendingJob } from "../../../src/engine/process/jobs.ts";
import type { TextEvent, TextJob } from "../../../src/engine/text/protocol.ts";
import { plainRequest } from "../../support/request.ts";

test("a request that is computed holds its images and sound no longer; before, another engine may need them", () => {
  const rgb = new Uint8Array(300);
  const request = plainRequest("?", { media: [{ kind: "image", id: "i", width: 10, height: 10, rgb }] });
  const pending = new PendingJob<TextJob, TextEvent>(systemClock, 1, "r1", { type: "generate", request });
  pending.sent();
  expect(pending.job).toMatchObject({ request: { media: [{ rgb }] } });
  pending.started();
  expect(pending.progress).toBe("started");
  expect(Object.values(pending)).not.toContainEqual(expect.objectContaining({ request }));
});
