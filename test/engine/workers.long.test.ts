// The same as workers.test.ts, where the model is split otherwise, a worker stands still, or conversations come from disk.

import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { makeAdapter } from "../models/make-adapter.ts";
import { streamChat } from "../support/chat-client.ts";
import { temporaryFolder } from "../support/folders.ts";
import { startServer, withServer } from "../support/server.ts";
import { addressOf, ask, SPREAD_FLAGS, textsOf, twoWorkers } from "../support/spread.ts";
import { startWorker } from "../support/worker.ts";

setDefaultTimeout(120_000);

const workers = twoWorkers();

interface Answer {
  readonly choices: readonly {
    readonly message: { readonly content: string };
    readonly logprobs: { readonly content: readonly { readonly logprob: number }[] };
  }[];
  readonly usage: { readonly prompt_tokens_details: { readonly cached_tokens: number } };
}

test("however the layers are split, the answers are those of one process", async () => {
  const alone = await textsOf([...SPREAD_FLAGS, ...workers.oneProcess()]);
  const split = ["--tensor-split", "1,3", "--kv-mode", "streams"];
  expect(await textsOf([...SPREAD_FLAGS, ...workers.flags(), ...split])).toEqual(alone);
});

test("a worker whose serving process dies has another, and takes part again", async () => {
  await withServer([...SPREAD_FLAGS, ...workers.flags()], async (server) => {
    const before = workers.second.servingPid();
    process.kill(before, "SIGKILL");
    // This one finds out, and may do so before the other process serves.
    expect(await streamChat(server.url, ask("Tell a story.", 20))).toMatchObject({ error: { code: "engine_crashed" } });
    expect(await streamChat(server.url, ask("Tell a story.", 20))).toMatchObject({ finishReason: "length" });
    const { device } = (await server.health()).engine;
    expect(device).toContain(addressOf(workers.second));
  });
});

test("a worker that stands still is given up after --engine-timeout", async () => {
  const third = await startWorker();
  await withServer([...SPREAD_FLAGS, "--worker", addressOf(third), "--engine-timeout", "5"], async (server) => {
    let stopped = 0;
    const onText = () => {
      if (stopped > 0) return;
      stopped = third.servingPid();
      process.kill(stopped, "SIGSTOP");
    };
    const stream = await streamChat(server.url, ask("Tell a story.", 3000), { onText });
    expect(stream).toMatchObject({ done: true, error: { code: "engine_crashed" } });
    expect(await streamChat(server.url, ask("Tell a story.", 20))).toMatchObject({ finishReason: "length" });
    expect((await server.health()).engine.device).toStartWith("CPU");
  });
  await third.kill();
});

test("adapters, and conversations that come back from disk, are computed by workers as well", async () => {
  const folder = temporaryFolder();
  const flags = ["--threads", "1", "--ctx", "4096", "--lora", `tone=${makeAdapter(folder, 1)}`];
  const spread = [
    ...flags,
    "--worker",
    addressOf(workers.first),
    "--worker",
    addressOf(workers.second),
    "--kv-dir",
    join(folder, "kv"),
  ];
  const tell = async (options: readonly string[]) => {
    const server = await startServer(options);
    const answers = [];
    for (const lora of [[], [{ id: 0, scale: 1 }]]) {
      const response = await server.post("/v1/chat/completions", {
        ...ask(`${"You are Ada. ".repeat(40)}Tell me a story.`, 20),
        lora,
        logprobs: true,
      });
      answers.push((await response.json()) as Answer);
    }
    await server.stop();
    const texts = answers.map(({ choices }) => choices[0]?.message.content);
    const logprobs = answers.map(({ choices }) => choices[0]?.logprobs.content[0]?.logprob ?? 0);
    return { texts, logprobs, cached: answers.map(({ usage }) => usage.prompt_tokens_details.cached_tokens) };
  };
  const alone = await tell([...flags, ...workers.oneProcess()]);
  const [plain = 0, adapted = 0] = alone.logprobs;
  expect(Math.abs(plain - adapted)).toBeGreaterThan(0.01);
  const before = await tell(spread);
  expect(before.texts).toEqual(alone.texts);
  for (const [at, logprob] of before.logprobs.entries()) expect(logprob).toBeCloseTo(alone.logprobs[at] ?? 0, 2);
  const after = await tell(spread);
  expect(after.texts).toEqual(alone.texts);
  for (const tokens of after.cached) expect(tokens).toBeGreaterThan(0);
});
