// A recurrent model, whose sequences cannot be trimmed: requests that end midway leave nothing behind.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { makeRecurrentModel } from "../models/make-recurrent-model.ts";
import { streamChat } from "../support/chat-client.ts";
import { withServer } from "../support/server.ts";

const model = makeRecurrentModel(join(import.meta.dir, "../../vendor/.build/models"));
/** More tokens than one step computes. */
const LONG = Array.from({ length: 500 }, (_, index) => `word${(index * 7919) % 101}`).join(" ");
const ROUNDS = 12;

test("clients that disconnect in the middle of a long prompt affect nobody, and the prompt can be sent again", async () => {
  await withServer(["--model", model, "--ctx", "16384", "--parallel", "4", "--threads", "1"], async (server) => {
    const ask = async (content: string, max_tokens: number, signal?: AbortSignal) => {
      const body = { messages: [{ role: "user", content }], max_tokens, temperature: 0, ignore_eos: true };
      const { text, error } = await streamChat(server.url, body, signal && { signal });
      return error?.code ?? text;
    };
    const expected = [await ask("hi 1", 150), await ask("hi 2", 150), await ask(LONG, 5)];
    const started = performance.now();
    await ask(`once ${LONG}`, 1);
    const prefillMs = performance.now() - started;
    let left = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const others = [ask("hi 1", 150), ask("hi 2", 150)];
      const leaving = ask(`${LONG} ${round}`, 5, AbortSignal.timeout((prefillMs * (round + 1)) / ROUNDS));
      await leaving.catch(() => left++);
      const again = ask(LONG, 5);
      const answers: readonly string[] = await Promise.all([...others, again]);
      expect(answers).toEqual(expected);
    }
    expect(left).toBeGreaterThan(0);
    expect((await server.health()).engine.restarts).toBe(0);
  });
}, 120_000);
