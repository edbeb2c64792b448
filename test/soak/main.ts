// `npm run test:soak`: storms, kills and mixed load for as long as wanted, on one server; then nothing may be left.
//   npm run test:soak -- [--rounds N] [--svc COMMAND]

import { join } from "node:path";
import { parseArgs } from "node:util";
import { makeModel } from "../bench/make-model.ts";
import { PromptSource } from "../bench/prompts.ts";
import { streamChat } from "../support/chat-client.ts";
import { exitOnSignals } from "../support/kill-at-exit.ts";
import { processTree, residentBytes } from "../support/processes.ts";
import { FROM_SOURCE, withServer, type TestServer } from "../support/server.ts";
import { disconnectStorm } from "../support/storm.ts";

const IDLE_WITHIN_MS = 1000;
/** Growth after the first rounds, in which caches and heaps find their size. */
const GROWTH_LIMIT = 1.15;
const SETTLING_ROUNDS = 3;

const text = { type: "string" } as const;
const { values } = parseArgs({ options: { rounds: text, svc: text } });
const rounds = Number(values.rounds ?? 12);
const command = values.svc?.split(" ") ?? FROM_SOURCE;
const model = makeModel("60m", join(import.meta.dir, "../../vendor/.build/models"));
const failures: string[] = [];
exitOnSignals();

function expectThat(condition: boolean, message: string): void {
  if (condition) return;
  failures.push(message);
  console.log(`FAIL  ${message}`);
}

/** Clients of every kind that stay to the end; each must get the whole answer. */
async function mixedLoad(server: TestServer, round: number): Promise<void> {
  const prompts = new PromptSource(1000 + round);
  const calls = Array.from({ length: 24 }, async (_, index) => {
    const maxTokens = 16 + (index % 4) * 32;
    const content = prompts.next(index % 6 === 0 ? 800 : 48);
    const body = { messages: [{ role: "user", content }], max_tokens: maxTokens, temperature: index % 2 };
    const answer = await streamChat(server.url, body);
    const complete = answer.done && answer.finishReason === "length" && !answer.error;
    expectThat(complete, `round ${round}: a stream ended with ${JSON.stringify({ ...answer, text: undefined })}`);
  });
  await Promise.all(calls);
}

/** Kills the engine under eight streams; all must be told, and the next request served. */
async function killEngine(server: TestServer, round: number): Promise<void> {
  const body = { messages: [{ role: "user", content: "abcd" }], max_tokens: 1500 };
  const streams = Array.from({ length: 8 }, () => streamChat(server.url, body));
  while ((await server.levels()).running < 8) await Bun.sleep(10);
  process.kill(server.enginePid(), "SIGKILL");
  for (const stream of await Promise.all(streams)) {
    const told = stream.done && stream.error?.code === "engine_crashed";
    expectThat(told, `round ${round}: a stream of a killed engine ended with ${JSON.stringify(stream.error)}`);
  }
  // Engines that die soon after each other come back later and later, by design: wait for this one.
  await server.untilReady();
  const after = await streamChat(server.url, { ...body, max_tokens: 4 });
  expectThat(after.finishReason === "length", `round ${round}: not served after the kill`);
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;

await withServer(
  ["--model", model, "--ctx", "32768", "--parallel", "16", "--max-queue", "128", "--cache-ram", "64"],
  async (server) => {
    const levels: { front: number; engine: number }[] = [];
    for (let round = 1; round <= rounds; round++) {
      const storm = await disconnectStorm(server.url, { clients: 64, longestStayMs: 3000, seed: round });
      for (const failure of storm.failures) expectThat(false, `round ${round}: a leaving client saw ${failure}`);
      const idleMs = await server.untilIdle(30_000);
      expectThat(
        idleMs <= IDLE_WITHIN_MS,
        `round ${round}: idle only ${Math.round(idleMs)} ms after the last client left`,
      );
      await mixedLoad(server, round);
      await server.untilIdle(30_000);
      const [front = 0, ...engines] = processTree(server.pid).map((pid) => residentBytes(pid));
      const engine = engines.reduce((sum, bytes) => sum + bytes, 0);
      levels.push({ front, engine });
      const memory = `front ${megabytes(front)}, engine ${megabytes(engine)}`;
      console.log(
        `round ${round}: ${storm.left} left, ${storm.finished} finished, idle in ${Math.round(idleMs)} ms, ${memory}`,
      );
    }
    for (const part of ["front", "engine"] as const) {
      const settled = levels[SETTLING_ROUNDS - 1]?.[part];
      const last = levels.at(-1)?.[part];
      if (!settled || !last) continue;
      expectThat(
        last <= settled * GROWTH_LIMIT,
        `${part} process grew from ${megabytes(settled)} to ${megabytes(last)}`,
      );
    }
    for (let round = 1; round <= 2; round++) await killEngine(server, round);
    await server.untilIdle(5000);
  },
  command,
);
console.log(failures.length === 0 ? `soak: ${rounds} rounds, no failure` : `soak: ${failures.length} failures`);
process.exit(failures.length === 0 ? 0 : 1);
