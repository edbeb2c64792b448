// Who pays for an engine that a grammar held up.

import { describe, expect, test } from "bun:test";
import { culprit, PendingRequest } from "../../src/engine/pending-request.ts";
import type { ToEngine } from "../../src/engine/protocol.ts";

const PROMPT_HELD_UP = 71;
const ANSWER_HELD_UP = 70;

interface Ask {
  readonly tools?: readonly object[];
  readonly media?: readonly object[];
}

function sent(key: number, { tools = [{}], media = [] }: Ask = {}): PendingRequest {
  const pending = new PendingRequest(key, "", {
    type: "generate",
    key,
    request: { tools, media },
  } as unknown as ToEngine);
  pending.sent();
  return pending;
}

const accepted = (key: number): PendingRequest => Object.assign(sent(key), { accepted: true });

describe("an engine that making a grammar held up", () => {
  const blames = (pending: readonly PendingRequest[]) => culprit(PROMPT_HELD_UP, pending)?.key;

  test("was held up by the oldest request that waits for one", () => {
    expect(blames([sent(1), sent(2)])).toBe(1);
    expect(blames([accepted(1), sent(2, { tools: [] }), sent(3), sent(4)])).toBe(3);
  });

  test("was held up by one with images only where there is no other: its grammar is made before they are read", () => {
    expect(blames([sent(1, { media: [{}] }), sent(2)])).toBe(2);
    expect(blames([sent(1, { media: [{}] }), accepted(2)])).toBe(1);
  });

  test("was not held up by a request that it never got", () => {
    const unsent = sent(1);
    unsent.waitForEngine(1000, () => {});
    expect(blames([unsent])).toBeUndefined();
    expect(blames([])).toBeUndefined();
    unsent.sent();
  });
});

test("an engine that an answer held up was held up by nothing that waits", () => {
  expect(culprit(ANSWER_HELD_UP, [sent(1)])).toBeUndefined();
  expect(culprit(null, [sent(1)])).toBeUndefined();
});
