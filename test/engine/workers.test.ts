// One model over several processes of `svc worker`: the same answers as in one process, and what clients see when one of them
// goes away.

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeModel } from "../bench/make-model.ts";
import { makeAdapter } from "../models/make-adapter.ts";
import { streamChat } from "../support/chat-client.ts";
import { freePort } from "../support/free-port.ts";
import { FROM_SOURCE, startServer, withServer } from "../support/server.ts";
import { startWorker, type TestWorker } from "../support/worker.ts";

// Other processes may have the cores.
setDefaultTimeout(120_000);

// A model that never ends by itself keeps its stream running until a worker is killed.
const model = makeModel("60m", join(import.meta.dir, "../../vendor/.build/models"));
const FLAGS = ["--model", model, "--ctx", "4096", "--parallel", "2", "--threads", "1"];
const at = ({ port }: TestWorker) => `127.0.0.1:${port}`;

/**
 * What has one process compute the model, the way that workers do. llama.cpp uses a processor's AMX for models in its own
 * process alone, which rounds otherwise: there the one process is a worker.
 */
function oneProcess(): readonly string[] {
  if (process.platform !== "linux" || !readFileSync("/proc/cpuinfo", "utf8").includes(" amx_int8")) return [];
  console.log("This processor has AMX: two workers are compared with one.");
  return ["--worker", at(first)];
}

const ask = (content: string, maxTokens: number) => ({
  messages: [{ role: "user", content }],
  max_tokens: maxTokens,
  temperature: 0,
});

interface Answer {
  readonly choices: readonly {
    readonly message: { readonly content: string };
    readonly logprobs: { readonly content: readonly { readonly logprob: number }[] };
  }[];
  readonly usage: { readonly prompt_tokens_details: { readonly cached_tokens: number } };
}

let first: TestWorker;
let second: TestWorker;
beforeAll(async () => {
  [first, second] = await Promise.all([startWorker(), startWorker()]);
});
afterAll(async () => {
  await Promise.all([first.stop(), second.stop()]);
});

const withBoth = () => [...FLAGS, "--worker", at(first), "--worker", at(second)];

async function textsOf(flags: readonly string[]): Promise<string[]> {
  const texts: string[] = [];
  await withServer(flags, async ({ url }) => {
    for (const content of ["Tell a story.", "Tell a story.", "What is the sea? ".repeat(40)]) {
      const answer = await streamChat(url, ask(content, 20));
      expect(answer).toMatchObject({ done: true, finishReason: "length" });
      texts.push(answer.text);
    }
  });
  return texts;
}

test("two workers answer as one process does", async () => {
  const alone = await textsOf([...FLAGS, ...oneProcess()]);
  expect(await textsOf(withBoth())).toEqual(alone);
  expect(await textsOf([...withBoth(), "--tensor-split", "1,3", "--kv-mode", "streams"])).toEqual(alone);
});

test("a worker that is killed ends its stream with a typed error; the model goes on without it", async () => {
  const third = await startWorker();
  await withServer([...FLAGS, "--worker", at(first), "--worker", at(third)], async (server) => {
    const expected = await streamChat(server.url, ask("Tell a story.", 20));
    let killed: Promise<void> | undefined;
    const onText = () => (killed ??= third.kill());
    const stream = await streamChat(server.url, ask("Tell a story.", 3000), { onText });
    expect(stream).toMatchObject({ status: 200, done: true, error: { code: "engine_crashed", type: "server_error" } });
    await killed;
    const next = await streamChat(server.url, ask("Tell a story.", 20));
    expect(next).toMatchObject({ status: 200, done: true, finishReason: "length", text: expected.text });
    await server.untilReady();
    const { status, engine } = await server.health();
    expect(status).toBe("healthy");
    expect(engine).toMatchObject({ state: "ready", restarts: 1 });
    expect(engine.device).toStartWith(`worker ${at(first)}, CPU`);
  });
});

test("a worker whose serving process dies has another, and takes part again", async () => {
  await withServer(withBoth(), async (server) => {
    const before = second.servingPid();
    process.kill(before, "SIGKILL");
    // This one finds out, and may do so before the other process serves.
    expect(await streamChat(server.url, ask("Tell a story.", 20))).toMatchObject({ error: { code: "engine_crashed" } });
    expect(await streamChat(server.url, ask("Tell a story.", 20))).toMatchObject({ finishReason: "length" });
    const { device } = (await server.health()).engine;
    expect(device).toContain(at(second));
  });
});

test("a worker that stands still is given up after --engine-timeout", async () => {
  const third = await startWorker();
  await withServer([...FLAGS, "--worker", at(third), "--engine-timeout", "5"], async (server) => {
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

test("who is not on the list is refused at once, also while another is served", async () => {
  const third = await startWorker("--allow", "127.0.0.2,10.0.0.0/8");
  // Resolves with whether the worker answers a greeting.
  const greet = (localAddress: string) =>
    new Promise<boolean>((resolve) => {
      const socket = connect({ host: "127.0.0.1", port: third.port, localAddress });
      const hello = new Uint8Array(33);
      [hello[0], hello[1]] = [14, 24];
      socket.write(hello);
      socket.once("data", () => resolve(true)).once("close", () => resolve(false));
      socket.on("error", () => {});
    });
  expect(await greet("127.0.0.1")).toBe(false);
  expect(await greet("127.0.0.2")).toBe(true);
  // That one is connected still.
  expect(await greet("127.0.0.1")).toBe(false);
  // Native code's lines are read once a second.
  await Bun.sleep(1500);
  expect(await third.stop()).toBe(0);
  expect(await third.output).toContain("refused 127.0.0.1, which --allow does not name");
});

test("a worker that cannot be used is named at the start", async () => {
  const port = await freePort();
  const run = async (...flags: readonly string[]) => {
    const child = Bun.spawn([...FROM_SOURCE, ...flags], { stdin: "ignore", stdout: "ignore", stderr: "pipe" });
    return { code: await child.exited, said: await child.stderr.text() };
  };
  expect(await run(...FLAGS, "--port", "0", "--worker", `127.0.0.1:${port}`)).toEqual({
    code: 3,
    said: `svc: The worker 127.0.0.1:${port} cannot be reached (ECONNREFUSED).\n`,
  });
  expect(await run("worker", "--host", "0.0.0.0")).toMatchObject({ code: 2, said: expect.stringContaining("--allow") });
  expect(await run("worker", "--port", String(first.port))).toMatchObject({
    code: 4,
    said: expect.stringContaining(`cannot listen on 127.0.0.1:${first.port}`),
  });
});

test("adapters, and conversations that come back from disk, are computed by workers as well", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-workers-"));
  const flags = ["--threads", "1", "--ctx", "4096", "--lora", `tone=${makeAdapter(folder, 1)}`];
  const spread = [...flags, "--worker", at(first), "--worker", at(second), "--kv-dir", join(folder, "kv")];
  const tell = async (options: readonly string[]) => {
    const server = await startServer(options);
    const answers = [];
    for (const lora of [[], [{ id: 0, scale: 1 }]]) {
      const response = await fetch(`${server.url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ ...ask(`${"You are Ada. ".repeat(40)}Tell me a story.`, 20), lora, logprobs: true }),
      });
      answers.push((await response.json()) as Answer);
    }
    await server.stop();
    const texts = answers.map(({ choices }) => choices[0]?.message.content);
    const logprobs = answers.map(({ choices }) => choices[0]?.logprobs.content[0]?.logprob ?? 0);
    return { texts, logprobs, cached: answers.map(({ usage }) => usage.prompt_tokens_details.cached_tokens) };
  };
  const alone = await tell([...flags, ...oneProcess()]);
  const [plain = 0, adapted = 0] = alone.logprobs;
  expect(Math.abs(plain - adapted)).toBeGreaterThan(0.01);
  const before = await tell(spread);
  expect(before.texts).toEqual(alone.texts);
  for (const [at, logprob] of before.logprobs.entries()) expect(logprob).toBeCloseTo(alone.logprobs[at] ?? 0, 2);
  const after = await tell(spread);
  expect(after.texts).toEqual(alone.texts);
  for (const tokens of after.cached) expect(tokens).toBeGreaterThan(0);
  rmSync(folder, { recursive: true });
});
