// --context-shift with a real model: the continuation follows from the tokens that remain in the context.

import { expect, test } from "bun:test";
import { sharedServer } from "../support/shared-server.ts";

const ROOM = 256;
const server = sharedServer("--ctx", `${ROOM}`, "--context-shift", "--threads", "1");

interface Completion {
  readonly tokens: readonly number[];
  readonly truncated: boolean;
  readonly stop_type: string;
  readonly tokens_evaluated: number;
  readonly error: { readonly code: string };
}

async function complete(body: object): Promise<Completion> {
  const request = { method: "POST", body: JSON.stringify({ temperature: 0, return_tokens: true, ...body }) };
  return (await (await fetch(`${server.url}/completion`, request)).json()) as Completion;
}

test("an answer can exceed the context and continues from the remaining tokens", async () => {
  // Shifted cells are rounded once more than recomputed ones; with these tokens no tie is decided by that.
  const prompt = Array.from({ length: 40 }, (_, at) => 340 + 7 * at);
  const keep = 8;
  const whole = await complete({ prompt, n_predict: 400, n_keep: keep, ignore_eos: true });
  expect([whole.tokens.length, whole.truncated, whole.stop_type]).toEqual([400, true, "limit"]);
  expect(whole.tokens_evaluated).toBe(40);
  const full = [...prompt, ...whole.tokens.slice(0, ROOM - 40)];
  const left = [...full.slice(0, keep), ...full.slice(keep + (ROOM - keep) / 2)];
  const after = await complete({ prompt: left, n_predict: 80, ignore_eos: true, cache_prompt: false });
  expect(whole.tokens.slice(ROOM - 40, ROOM + 40)).toEqual([...after.tokens]);
});

test("a request that fits is unaffected, and a prompt that does not fit is refused", async () => {
  const short = await complete({ prompt: [100, 101], n_predict: 5, ignore_eos: true });
  expect([short.tokens.length, short.truncated]).toEqual([5, false]);
  const refused = await complete({ prompt: Array.from({ length: ROOM }, () => 100), n_predict: 5 });
  expect(refused.error.code).toBe("context_length_exceeded");
});
