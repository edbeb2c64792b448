import { describe, expect, test } from "bun:test";
import type { GenerateRequest } from "../../src/domain/generate.ts";
import { PendingJob } from "../../src/engine/process/jobs.ts";
import { culprit } from "../../src/engine/text/culprit.ts";
import type { TextEvent, TextJob } from "../../src/engine/text/protocol.ts";
import { plainRequest } from "../support/request.ts";

type Pending = PendingJob<TextJob, TextEvent>;
const rgb = new Uint8Array(300);
const media = [{ kind: "image", id: "i", width: 10, height: 10, rgb }] as const;

test("a request that is computed holds its images and sound no longer; before, another engine may need them", () => {
  const request = plainRequest("?", { media });
  const pending: Pending = new PendingJob(1, "r1", { type: "generate", request });
  pending.sent();
  expect(pending.job).toMatchObject({ request: { media: [{ rgb }] } });
  pending.started();
  expect(pending.progress).toBe("started");
  expect(Object.values(pending)).not.toContainEqual(expect.objectContaining({ request }));
});

describe("an engine that a grammar held up", () => {
  const ANSWER = 70;
  const PROMPT = 71;
  const constraint = { grammar: 'root ::= "x"', strict: false, inexpressible: false };

  function waiting(key: number, fields: Partial<GenerateRequest> = { constraint }): Pending {
    const pending: Pending = new PendingJob(key, "", { type: "generate", request: plainRequest("?", fields) });
    pending.sent();
    return pending;
  }

  const blames = (pending: readonly Pending[]) => culprit(PROMPT, pending)?.key;

  test("while it was made: was held up by the oldest request that waits for one", () => {
    const accepted = Object.assign(waiting(1), { accepted: true });
    expect(blames([waiting(1), waiting(2)])).toBe(1);
    expect(blames([accepted, waiting(2, {}), waiting(3), waiting(4)])).toBe(3);
    expect(blames([])).toBeUndefined();
    const tools = [{ name: "f", description: "", parameters: {}, enforced: {} }];
    expect(blames([waiting(1, {}), waiting(2, { tools })])).toBe(2);
    const tokenizing: Pending = new PendingJob(1, "", { type: "tokenize", text: "?" });
    tokenizing.sent();
    expect(blames([tokenizing])).toBeUndefined();
  });

  test("was held up by one with images only where there is no other: its grammar is made before they are read", () => {
    const pictured = waiting(1, { constraint, media });
    expect(blames([pictured, waiting(2)])).toBe(2);
    expect(blames([pictured, waiting(2, {})])).toBe(1);
  });

  test("was not held up by a request that it never got", () => {
    const unsent = waiting(1);
    unsent.waitForEngine(1000, () => {});
    expect(blames([unsent])).toBeUndefined();
    unsent.settle();
  });

  test("in an answer: was held up by nothing that waits", () => {
    expect(culprit(ANSWER, [waiting(1)])).toBeUndefined();
    expect(culprit(null, [waiting(1)])).toBeUndefined();
  });
});
