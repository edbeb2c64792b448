// --context-shift with a real model: what follows is what the model says to the tokens that are left.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { startServer, type ServerProcess } from "../support/server.ts";

const ROOM = 256;
let server: ServerProcess;
beforeAll(async () => {
  server = await startServer(["--ctx", `${ROOM}`, "--context-shift", "--threads", "1"]);
});
afterAll(() => server.stop());

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

test("an answer is longer than the context, and goes on from the tokens that are left", async () => {
  // What was moved is rounded once more than what is computed anew; these tokens lead to no tie that this would decide.
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

test("what fits is as it was, and a prompt that does not is refused", async () => {
  const short = await complete({ prompt: [100, 101], n_predict: 5, ignore_eos: true });
  expect([short.tokens.length, short.truncated]).toEqual([5, false]);
  const refused = await complete({ prompt: Array.from({ length: ROOM }, () => 100), n_predict: 5 });
  expect(refused.error.code).toBe("context_length_exceeded");
});
