// After an idle time, the first requests wait briefly for a burst of others, as long as more arrive.

import { expect, test } from "bun:test";
import type { PromptRequest } from "../../ffi/llama/api.ts";
import { Engine } from "../../src/engine/text/child/engine.ts";
import type { FromTextEngine } from "../../src/engine/text/protocol.ts";
import { FakeLlama } from "../support/fake-llama.ts";
import { plainRequest } from "../support/request.ts";
import { until } from "../support/until.ts";
import { SMALL_ENGINE } from "./fixtures/small-engine.ts";

const OPTIONS = { ...SMALL_ENGINE, speculation: false };
const LOOK_MS = 5;

/** Each look for finished prompts advances the clock; prompts containing `stuck` never finish. */
class SlowLlama extends FakeLlama {
  ms = 0;
  decodeMs = 0;
  override decode(...step: Parameters<FakeLlama["decode"]>) {
    this.ms += this.decodeMs;
    return super.decode(...step);
  }
  override submitPrompt(request: PromptRequest): number {
    const job = super.submitPrompt(request);
    if ("messages" in request && JSON.stringify(request.messages).includes("stuck")) super.takePrompt();
    return job;
  }
  override takePrompt() {
    this.ms += LOOK_MS;
    return super.takePrompt();
  }
}

test("a request does not wait for another's prompt that takes long", async () => {
  const llama = new SlowLlama();
  const messages: FromTextEngine[] = [];
  let acceptedAt: number | undefined;
  let startedAt: number | undefined;
  const send = (message: FromTextEngine) => {
    messages.push(message);
    if (message.type === "accepted") acceptedAt ??= llama.ms;
    if (message.type === "started") startedAt ??= llama.ms;
  };
  const clock = { now: () => llama.ms, wall: () => llama.ms };
  const engine = new Engine(llama, OPTIONS, send, clock);
  void engine.run();
  engine.submit(1, { type: "generate", request: plainRequest("stuck") });
  engine.submit(2, { type: "generate", request: plainRequest("say abc|") });
  await until(() => startedAt !== undefined);
  expect(messages.map(({ type }) => type).slice(0, 2)).toEqual(["accepted", "started"]);
  expect(Number(startedAt) - Number(acceptedAt)).toBeLessThanOrEqual(40);
  // Else it would be looked for as long as this process lives.
  engine.cancel(1, "client");
});

test.each([
  ["is computed at once when that takes less than the wait is worth", 0, [[2], [3]]],
  ["waits for another that comes at once when computing it takes long", 50, [[2, 3]]],
] as const)("a prompt %s", async (_, decodeMs, expected) => {
  const llama = new SlowLlama();
  llama.decodeMs = decodeMs;
  const started: (readonly number[])[] = [];
  let ended = 0;
  const say = (key: number) => engine.submit(key, { type: "generate", request: plainRequest(`${key} says say abc|`) });
  const send = (message: FromTextEngine) => {
    if (message.type === "accepted" && message.key === 2) setImmediate(say, 3);
    if (message.type === "started") started.push(message.keys);
    if (message.type === "events") ended += message.finished.length;
  };
  const clock = { now: () => llama.ms, wall: () => llama.ms };
  const engine = new Engine(llama, OPTIONS, send, clock);
  void engine.run();
  // The first one is measured.
  say(1);
  await until(() => ended === 1);
  let lookedAt = -1;
  const looksNoMore = () => lookedAt === (lookedAt = llama.ms);
  await until(looksNoMore);
  // The engine is idle.
  say(2);
  await until(() => ended === 3);
  expect(started.slice(1)).toEqual(expected.map((keys) => [...keys]));
});
