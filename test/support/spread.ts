// What tests of one model over several processes of `svc worker` have in common.

import { afterAll, beforeAll, expect } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { makeModel } from "../bench/make-model.ts";
import { streamChat } from "./chat-client.ts";
import { withServer } from "./server.ts";
import { startWorker, type TestWorker } from "./worker.ts";

// A model that never ends by itself keeps its stream running until a worker is killed.
const model = makeModel("60m", join(import.meta.dir, "../../vendor/.build/models"));
export const SPREAD_FLAGS = ["--model", model, "--ctx", "4096", "--parallel", "2", "--threads", "1"];

export const addressOf = ({ port }: TestWorker) => `127.0.0.1:${port}`;

export const ask = (content: string, maxTokens: number) => ({
  messages: [{ role: "user", content }],
  max_tokens: maxTokens,
  temperature: 0,
});

/** What a server with these flags answers, one question after another. */
export async function textsOf(flags: readonly string[]): Promise<string[]> {
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

/** Two workers, from before the first test of a file until after its last. */
export function twoWorkers() {
  let pair: readonly [TestWorker, TestWorker] | undefined;
  beforeAll(async () => {
    pair = await Promise.all([startWorker(), startWorker()]);
  });
  afterAll(async () => {
    await Promise.all((pair ?? []).map((worker) => worker.stop()));
  });
  const workers = () => {
    if (!pair) throw new Error("no worker has been started");
    return pair;
  };
  return {
    get first() {
      return workers()[0];
    },
    get second() {
      return workers()[1];
    },
    /** What has a server compute with both. */
    flags: () => workers().flatMap((worker) => ["--worker", addressOf(worker)]),
    /**
     * What has one process compute the model, the way that workers do. llama.cpp uses a processor's AMX for models in its own
     * process alone, which rounds otherwise: there the one process is a worker.
     */
    oneProcess(): readonly string[] {
      if (process.platform !== "linux" || !readFileSync("/proc/cpuinfo", "utf8").includes(" amx_int8")) return [];
      console.log("This processor has AMX: two workers are compared with one.");
      return ["--worker", addressOf(workers()[0])];
    },
  };
}
