// Engines that are killed repeatedly under mixed load: every request must end, no batch line may be lost, nothing may
// be left.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomNumbers } from "../support/dice.ts";
import { createBatch, getBatch, inputLine, lineFaults } from "../support/batch-kill.ts";
import { streamChat } from "../support/chat-client.ts";
import { childrenOf } from "../support/processes.ts";
import { withServer, type TestServer } from "../support/server.ts";
import { post } from "./engine-client.ts";
import { endOf, Load, TYPED, type Attempt } from "./load.ts";
import type { Options, Row } from "./row.ts";

const CLIENTS = 12;
const BATCH_LINES = 400;
/** Longest time between two kills. */
const PAUSE_MS = 400;
const prompt = "Write down some words about the sea.";

type Kind = "text" | "vectors";

const messages = [{ role: "user", content: prompt }];
const input = Array.from({ length: 16 }, (_, n) => `${prompt} ${n}`);
const whole = (kind: Kind, path: string, body: object): ((url: string) => Attempt<Kind>) => {
  const send = post(path, body);
  return (url) => ({ kind, run: async (signal) => endOf(await send(url, signal)) });
};

const vectors = whole("vectors", "/v1/embeddings", { model: "all-minilm-l6-v2", input });
const attempts: readonly ((url: string) => Attempt<Kind>)[] = [
  vectors,
  (url) => ({
    kind: "text",
    run: async (signal) => {
      const { finishReason, error, done } = await streamChat(url, { messages, max_tokens: 200 }, { signal });
      if (done && finishReason !== undefined) return "whole";
      if (TYPED.has(error?.code ?? "")) return "ended";
      return { fault: `a stream ended with ${JSON.stringify({ finishReason, error, done })}` };
    },
  }),
  whole("text", "/v1/chat/completions", { messages, max_tokens: 100, n: 2 }),
  whole("text", "/v1/responses", { input: prompt, max_output_tokens: 60 }),
  whole("text", "/v1/completions", { prompt, max_tokens: 60 }),
  // A client that disconnects.
  (url) => ({
    kind: "text",
    run: async (signal, random) => {
      const leave = AbortSignal.any([signal, AbortSignal.timeout(1 + random() * 300)]);
      await streamChat(url, { messages, max_tokens: 400 }, { signal: leave }).catch(() => undefined);
      return "ended";
    },
  }),
  // A request that is cancelled by its id.
  (url) => ({
    kind: "text",
    run: async (signal, random) => {
      const id = `kill-${random()}`;
      const answer = post("/v1/chat/completions", { messages, max_tokens: 400 })(url, signal, { "x-request-id": id });
      await Bun.sleep(random() * 200);
      await (await post(`/v1/chat/completions/${id}/cancel`, {})(url, signal)).text();
      await (await answer).text();
      return "ended";
    },
  }),
];

/** Kills a random engine that has worked: one that has not is restarted with a delay, by design. */
async function killEngines(server: TestServer, load: Load<Kind>, kills: number, random: () => number): Promise<void> {
  for (let done = 0; done < kills; done++) {
    await Promise.all([load.worked("text"), load.worked("vectors")]);
    await Bun.sleep(random() * PAUSE_MS);
    const engines = childrenOf(server.pid);
    const victim = engines[Math.floor(random() * engines.length)];
    try {
      if (victim !== undefined) process.kill(victim, "SIGKILL");
    } catch {
      // The process had just ended by itself.
    }
    if (done % 50 === 49) console.error(`${done + 1} kills`);
  }
}

/** Runs the load, the batch and the kills together. */
export async function kills({ kills: count = 1000, seed = 1 }: Options): Promise<Row[]> {
  const random = randomNumbers(seed);
  const dataDir = mkdtempSync(join(tmpdir(), "svc-kills-"));
  const rows: Row[] = [];
  const attack = `${count} engine kills under mixed load`;
  try {
    await withServer(
      ["--data-dir", dataDir, "--ctx", "8192", "--parallel", "8", "--max-queue", "64", "--threads", "1"],
      async (server) => {
        const content = Array.from({ length: BATCH_LINES }, (_, n) => `${JSON.stringify(inputLine(n))}\n`).join("");
        const { id } = await createBatch(server, content);
        const choose = () => attempts[Math.floor(random() * attempts.length)]?.(server.url) ?? vectors(server.url);
        const load = new Load(CLIENTS, choose, random);
        await killEngines(server, load, count, random);
        await load.stop();
        const { faults, ended } = load;
        for (const fault of faults.slice(0, 10)) console.error(`FAIL  ${fault}`);
        rows.push({
          promise: "A crash fails only the requests it was computing, with a typed error",
          attack,
          figure: `${ended} requests, ${faults.length} without an answer or a typed error`,
          limit: "0",
          ok: faults.length === 0 && ended > 0,
        });
        await server.untilReady();
        let batch = await getBatch(server, id);
        while (!["completed", "failed", "expired", "cancelled"].includes(batch.status)) {
          await Bun.sleep(200);
          batch = await getBatch(server, id);
        }
        const output = await (await fetch(`${server.url}/v1/files/${batch.output_file_id}/content`)).text();
        const lost = lineFaults(output, BATCH_LINES);
        for (const fault of lost.slice(0, 10)) console.error(`FAIL  ${fault}`);
        const { total, completed, failed } = batch.request_counts;
        rows.push({
          promise: "Batches answer every line once",
          attack,
          figure: `${completed} answered and ${failed} failed of ${total}, ${lost.length} lost or duplicated`,
          limit: "0",
          ok: lost.length === 0 && completed + failed === total,
        });
        const idleMs = await server.untilIdle(30_000).catch(() => undefined);
        rows.push({
          promise: "Nothing leaks: files, descriptors, memory",
          attack,
          figure: idleMs === undefined ? "requests or KV cells left after 30 s" : "no request, no KV cell left",
          limit: "nothing left",
          ok: idleMs !== undefined,
        });
      },
    );
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
  return rows;
}
