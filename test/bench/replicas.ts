// `bun test/bench/replicas.ts [affinity] [kill]`: three svc servers behind one. Compares times to first token of
// agents' conversations with prefix affinity and with round robin; then kills one replica under load and restarts it.

import { streamChat } from "../support/chat-client.ts";
import { PROGRAM, startServer, type ServerProcess } from "../support/server.ts";
import { median } from "./stats.ts";

const AGENTS = 4;
const TURNS = 4;
/** Words of a first prompt; the next constant is what each further turn adds. */
const FIRST_WORDS = 300;
const MORE_WORDS = 30;
const ANSWER_TOKENS = 8;
const LOAD_CLIENTS = 9;
const LOAD_MS = 24_000;

const REPLICA = ["--parallel", "8", "--ctx", "16384", "--threads", "1", "--log-level", "error"];

interface Turn {
  readonly role: "user" | "assistant";
  readonly content: string;
}

const words = (count: number, seed: string) =>
  Array.from({ length: count }, (_, index) => Number(Bun.hash(`${seed} ${index}`)) % 97).join(" ");

/** Returns the times to first token of all turns after the first, of all agents concurrently. */
async function converse(trace: string, urlOf: (turn: number) => string): Promise<number[]> {
  let count = 0;
  const agent = async (number: number) => {
    const messages: Turn[] = [];
    const times: number[] = [];
    for (let turn = 0; turn < TURNS; turn++) {
      const news = words(turn === 0 ? FIRST_WORDS : MORE_WORDS, `${trace} ${number} ${turn}`);
      messages.push({ role: "user", content: news });
      const started = performance.now();
      let firstMs = Number.NaN;
      const onText = () => {
        if (Number.isNaN(firstMs)) firstMs = performance.now() - started;
      };
      const asked = { messages, max_tokens: ANSWER_TOKENS, temperature: 0, ignore_eos: true };
      const { text } = await streamChat(urlOf(count++), asked, { onText });
      if (turn > 0) times.push(firstMs);
      messages.push({ role: "assistant", content: text });
    }
    return times;
  };
  return (await Promise.all(Array.from({ length: AGENTS }, (_, number) => agent(number)))).flat();
}

/** Runs clients that send requests without a pause; returns how each answer ended. */
async function load(url: string, during: () => Promise<void>): Promise<Map<string, number>> {
  const ends = new Map<string, number>();
  const until = performance.now() + LOAD_MS;
  let number = 0;
  const client = async () => {
    while (performance.now() < until) {
      const content = `Tell me story ${number++}.`;
      const asked = { messages: [{ role: "user", content }], max_tokens: 40, ignore_eos: true };
      const { status, error, finishReason, done } = await streamChat(url, asked);
      const end = error ? `${status} ${error.code}` : done ? String(finishReason) : "cut off";
      ends.set(end, (ends.get(end) ?? 0) + 1);
    }
  };
  await Promise.all([during(), ...Array.from({ length: LOAD_CLIENTS }, client)]);
  return ends;
}

async function served({ url }: ServerProcess): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^svc_http_requests_total\{route="\/v1\/chat\/completions",status="200"\} (\d+)/m.exec(text)?.[1] ?? 0);
}

async function compareAffinity(replicas: readonly ServerProcess[], gateway: ServerProcess): Promise<void> {
  console.log(`${AGENTS} agents, ${TURNS} turns each, first token of turns 2 to ${TURNS}, median:`);
  for (const run of [1, 2]) {
    const rotation = await converse(`rotation ${run}`, (turn) => replicas[turn % replicas.length]?.url ?? "");
    const affinity = await converse(`affinity ${run}`, () => gateway.url);
    const [slow, fast] = [median(rotation), median(affinity)];
    console.log(
      `  in rotation ${slow.toFixed(0)} ms, by affinity ${fast.toFixed(0)} ms: ${(slow / fast).toFixed(2)} times`,
    );
  }
}

/** Kills a replica and returns the one started in its place. */
async function killOne(victim: ServerProcess, gateway: ServerProcess): Promise<ServerProcess> {
  const { promise, resolve } = Promise.withResolvers<ServerProcess>();
  const ends = await load(gateway.url, async () => {
    await Bun.sleep(LOAD_MS / 8);
    await victim.kill();
    console.log(`a replica of three is killed under the load of ${LOAD_CLIENTS} clients, and started again after 2 s`);
    await Bun.sleep(2000);
    resolve(await startServer(REPLICA, PROGRAM, victim.port));
  });
  const back = await promise;
  console.log(`  answers by their end: ${JSON.stringify(Object.fromEntries(ends))}`);
  console.log(`  requests that it answered after its return: ${await served(back)}`);
  return back;
}

async function main(parts: readonly string[]): Promise<void> {
  const wants = (part: string) => parts.length === 0 || parts.includes(part);
  const replicas = [await startServer(REPLICA), await startServer(REPLICA), await startServer(REPLICA)];
  const upstreams = replicas.flatMap(({ url }) => ["--upstream", `mini=${url}`]);
  const gateway = await startServer(["--no-model", ...upstreams, "--log-level", "error"]);
  if (wants("affinity")) await compareAffinity(replicas, gateway);
  const [first, ...others] = replicas as [ServerProcess, ...ServerProcess[]];
  const last = wants("kill") ? await killOne(first, gateway) : first;
  await Promise.all([gateway, last, ...others].map((server) => server.stop()));
}

if (import.meta.main) await main(process.argv.slice(2));
