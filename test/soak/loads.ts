// The loads of a soak test, run once per round. Each returns its failures.

import { PromptSource } from "../bench/prompts.ts";
import { streamChat, type ChatStream } from "../support/chat-client.ts";
import type { TestServer } from "../support/server.ts";

const describe = (answer: ChatStream): string => JSON.stringify({ ...answer, text: undefined });

/** Clients of every kind that stay to the end; each must get the whole answer. */
export async function mixedLoad(server: TestServer, round: number): Promise<string[]> {
  const prompts = new PromptSource(1000 + round);
  const common = prompts.next(300);
  const calls = Array.from({ length: 24 }, async (_, index) => {
    const maxTokens = 16 + (index % 4) * 32;
    const own = prompts.next(index % 6 === 0 ? 800 : 48);
    const content = index % 6 === 1 ? `${common} ${own}` : own;
    const body = {
      messages: [{ role: "user", content }],
      max_tokens: maxTokens,
      ignore_eos: true,
      temperature: index % 2,
    };
    const answer = await streamChat(server.url, body);
    const complete = answer.done && answer.finishReason === "length" && !answer.error;
    return complete ? [] : [`a stream ended with ${describe(answer)}`];
  });
  return (await Promise.all(calls)).flat();
}

/** Clients with a short deadline: each must get a partial answer or an error. */
export async function hurriedLoad(server: TestServer, round: number): Promise<string[]> {
  const prompts = new PromptSource(2000 + round);
  const calls = Array.from({ length: 48 }, async (_, index) => {
    const content = prompts.next(index % 4 === 0 ? 600 : 40);
    const headers = { "X-Svc-Deadline-Ms": String(1 + ((index * 37) % 50) * 40) };
    const answer = await streamChat(
      server.url,
      { messages: [{ role: "user", content }], max_tokens: 400, ignore_eos: true },
      { headers },
    );
    const late = ["deadline_exceeded", "server_busy"].includes(answer.error?.code ?? "");
    const ended = late ? /^\s*(\[error\]|$)/.test(answer.text) : answer.done && answer.finishReason === "length";
    return ended ? [] : [`a client in a hurry got ${describe(answer)}`];
  });
  return (await Promise.all(calls)).flat();
}

/** Kills the engine during eight streams; all must get an error, and the next request must be served. */
export async function killEngine(server: TestServer): Promise<string[]> {
  const body = { messages: [{ role: "user", content: "abcd" }], max_tokens: 1500, ignore_eos: true };
  const streams = Array.from({ length: 8 }, () => streamChat(server.url, body));
  while ((await server.levels()).running < 8) await Bun.sleep(10);
  process.kill(server.enginePid(), "SIGKILL");
  // A fast model may have reached the end of its context before the kill.
  const cut = (await Promise.all(streams)).filter(({ finishReason }) => finishReason !== "length");
  const failures = cut
    .filter(({ done, error }) => !done || error?.code !== "engine_crashed")
    .map((stream) => `a stream of a killed engine ended with ${describe(stream)}`);
  // Engines that die repeatedly restart with growing delays, by design: wait for this one.
  await server.untilReady();
  const after = await streamChat(server.url, { ...body, max_tokens: 4 });
  return after.finishReason === "length" ? failures : [...failures, "not served after the kill"];
}
