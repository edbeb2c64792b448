// `bun test/bench/gateway.ts [streams] [seconds]`: measures the cost of svc in front of another server: CPU time of
// its process per forwarded token, compared with those of proxies that copy bytes, and the latency that it adds to a
// request. The server is a stand-in that writes a token to each stream every few milliseconds in vLLM's form, so that
// nothing else is measured. On a saturated machine tokens are sent in groups, which makes each cheaper: use fewer
// streams. `SVC` names a second svc to measure in turns with this one: an executable, or the `src/main.ts` of another
// tree.

import { join } from "node:path";
import { HELD_MS, MANY_STREAMS } from "../../src/domain/held-text.ts";
import { startListening, startStandIn } from "../gateway/stand-ins.ts";
import { PROGRAM, startServer } from "../support/server.ts";
import { median } from "./stats.ts";

const TOKENS = 400;
const REQUESTS = 1000;
const ROUNDS = 5;

interface Subject {
  readonly name: string;
  readonly url: string;
  readonly model: string;
  readonly cpuSeconds: () => Promise<number>;
}

const [streams = 20, seconds = 5] = process.argv.slice(2).map(Number);

async function ask({ url, model }: Pick<Subject, "url" | "model">, tokens: number): Promise<number> {
  const began = performance.now();
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model, stream: true, max_tokens: tokens, messages: [{ role: "user", content: "hi" }] }),
  });
  for await (const _ of response.body ?? []);
  return performance.now() - began;
}

/** Returns how many tokens were forwarded within about `seconds`. */
async function load(subject: Subject): Promise<number> {
  const until = performance.now() + seconds * 1000;
  let tokens = 0;
  const client = async () => {
    while (performance.now() < until) {
      await ask(subject, TOKENS);
      tokens += TOKENS;
    }
  };
  await Promise.all(Array.from({ length: streams }, client));
  return tokens;
}

/**
 * Returns the microseconds of CPU per token of each subject. They take turns, so that other load affects all equally.
 */
async function costs(subjects: readonly Subject[]): Promise<Map<string, number>> {
  // Code that runs for the first time must still be interpreted and compiled.
  for (const subject of subjects) await load(subject);
  const measured = new Map(subjects.map(({ name }) => [name, [] as number[]]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const subject of subjects) {
      const before = await subject.cpuSeconds();
      const tokens = await load(subject);
      measured.get(subject.name)?.push((1e6 * ((await subject.cpuSeconds()) - before)) / tokens);
    }
  }
  return new Map([...measured].map(([name, values]) => [name, median(values)]));
}

async function svc(name: string, upstream: string, command: readonly string[]) {
  const server = await startServer(["--no-model", "--upstream", `up=${upstream}`, "--log-level", "warn"], command);
  const cpuSeconds = async () => {
    const text = await (await fetch(`${server.url}/metrics`)).text();
    return Number(/^svc_process_cpu_seconds_total (\S+)$/m.exec(text)?.[1]);
  };
  return { name, url: server.url, model: "up/far", cpuSeconds, kill: () => server.kill() };
}

async function proxy(name: string, ...given: readonly string[]): Promise<Subject> {
  const { url } = await startListening(join(import.meta.dir, "plain-proxy.ts"), ...given);
  const cpuSeconds = async () => (await (await fetch(`${url}/cpu`)).json()) as number;
  return { name, url, model: "far", cpuSeconds };
}

async function measure(): Promise<void> {
  const { url: upstream } = await startStandIn();
  const proxies = [
    await proxy("a proxy that copies bytes", upstream),
    // The least that is possible with `fetch` for streams that are read as svc reads them.
    await proxy("a proxy that copies what has come", upstream, ...(streams < MANY_STREAMS ? [] : [String(HELD_MS)])),
  ];
  const servers = [await svc("svc", upstream, PROGRAM)];
  const other = process.env["SVC"];
  if (other)
    servers.push(await svc("the other svc", upstream, other.endsWith(".ts") ? [process.execPath, other] : [other]));
  try {
    const times = new Map(servers.map(({ name }) => [name, [] as number[]]));
    for (let request = 0; request < REQUESTS; request++) {
      const direct = await ask({ url: upstream, model: "far" }, 1);
      for (const server of servers) times.get(server.name)?.push((await ask(server, 1)) - direct);
    }
    for (const [name, values] of times) {
      console.log(`${name}: ${median(values.slice(REQUESTS / 2)).toFixed(2)} ms more for a request of one token`);
    }
    const found = await costs([...proxies, ...servers]);
    for (const [name, value] of found)
      console.log(`${name}: ${value.toFixed(1)} µs of CPU a token, ${streams} streams`);
  } finally {
    for (const server of servers) await server.kill();
  }
  process.exit(0);
}

await measure();
