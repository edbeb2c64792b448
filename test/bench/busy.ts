// `bun test/bench/busy.ts`: svc and llama-server on a machine whose cores other programs use. Prints a Markdown table.
//
// All servers run the whole time with the same model and take turns, so each line has the same conditions.

import { parseArgs } from "node:util";
import { exitOnSignals, killAtExit } from "../support/kill-at-exit.ts";
import { streamChat } from "./client.ts";
import { makeModel } from "./make-model.ts";
import { findLlamaServer, findSvc, ROOT } from "./options.ts";
import { PromptSource } from "./prompts.ts";
import { launch, type RunningServer } from "./server-under-test.ts";
import { median } from "./stats.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    loops: { type: "string", default: "0,1,2,6" },
    streams: { type: "string", default: "1,8" },
    svc: { type: "string" },
    before: { type: "string" },
  },
});
const TOKENS = 48;
const numbers = (list: string) => list.split(",").map(Number);

const model = makeModel("60m", `${ROOT}/vendor/.build/models`);
const words = (line: string) => line.split(" ");
const svc = values.svc?.split(" ") ?? findSvc();
const ours = (command: readonly string[], threads: number) => [
  ...command,
  ...words(`--model ${model} --ctx 16384 --parallel 8 --threads ${threads}`),
];
const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  svc: ours(svc, 2),
  "svc --threads 1": ours(svc, 1),
  ...(values.before !== undefined && { before: ours(values.before.split(" "), 2) }),
  "llama-server": [
    findLlamaServer(),
    ...words(`--model ${model} --ctx-size 16384 --parallel 8 --threads 2 --no-kv-unified --cache-ram 0 --no-ui`),
  ],
};

/** The share of each other program's rate that svc, which chooses how many of its two threads compute, should reach. */
const WANTED: Readonly<Record<string, number>> = { "svc --threads 1": 0.9, before: 0.9, "llama-server": 1 };

/** Starts a program that keeps one core busy; the returned function stops it. */
function busyLoop(): () => void {
  const child = Bun.spawn([process.execPath, "-e", "for (;;);"], { stdin: "ignore", stdout: "ignore" });
  const ended = killAtExit(child);
  return () => {
    child.kill("SIGKILL");
    ended();
  };
}

interface Sample {
  /** Tokens per second, from the first request to the last token. */
  readonly rate: number;
  /** The longest pause within a stream, in milliseconds. */
  readonly pause: number;
}

async function measure(port: number, streams: number, prompts: PromptSource): Promise<Sample> {
  const calls = Array.from({ length: streams }, () => ({ prompt: prompts.next(64), maxTokens: TOKENS }));
  const started = performance.now();
  const results = await Promise.all(calls.map((call) => streamChat(port, call)));
  const seconds = (performance.now() - started) / 1000;
  const pauses = results.flatMap(({ tokens }) => tokens.slice(1).map((time, index) => time - (tokens[index] ?? time)));
  return { rate: (streams * TOKENS) / seconds, pause: Math.max(...pauses) };
}

function shuffled<T>(list: readonly T[]): T[] {
  const drawn = list.map((item) => ({ item, lot: Math.random() }));
  return drawn.toSorted((a, b) => a.lot - b.lot).map(({ item }) => item);
}

exitOnSignals();
const servers: [name: string, server: RunningServer][] = [];
for (const [name, command] of Object.entries(PROGRAMS)) {
  servers.push([name, await launch({ side: name === "llama-server" ? name : "svc", command })]);
}
const prompts = new PromptSource(7);
for (const [, { port }] of servers) for (let i = 0; i < 6; i++) await measure(port, 4, prompts);

const names = servers.map(([name]) => name);
const others = names.slice(1);
const titles = [
  ...names.map((name) => `${name}, tok/s (longest pause)`),
  ...others.map((name) => `svc against ${name} (wanted ${WANTED[name] ?? "–"})`),
];
console.log(`| busy loops | streams | ${titles.join(" | ")} |`);
console.log(`|---|---|${titles.map(() => "---|").join("")}`);
for (const count of numbers(values.loops)) {
  const loops = Array.from({ length: count }, busyLoop);
  await Bun.sleep(500);
  for (const streams of numbers(values.streams)) {
    const samples = new Map(names.map((name) => [name, [] as Sample[]]));
    for (let round = 0; round < Number(values.rounds); round++) {
      // llama-server's threads spin for about a second after its last token. The order is random in each round: in a
      // fixed order, the same program reached 0.8 of its own rate because of its position alone.
      for (const [name, { port }] of shuffled(servers)) {
        await Bun.sleep(1500);
        samples.get(name)?.push(await measure(port, streams, prompts));
      }
    }
    const rate = (name: string) => median((samples.get(name) ?? []).map((one) => one.rate));
    const cells = names.map((name) => {
      const pause = Math.max(...(samples.get(name) ?? []).map((one) => one.pause));
      return `${rate(name).toFixed(0)} (${(pause / 1000).toFixed(2)} s)`;
    });
    const ratios = others.map((name) => (rate("svc") / rate(name)).toFixed(2));
    console.log(`| ${count} | ${streams} | ${[...cells, ...ratios].join(" | ")} |`);
  }
  for (const end of loops) end();
}
await Promise.all(servers.map(([, server]) => server.stop()));
