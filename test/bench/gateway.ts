// `bun test/bench/gateway.ts [streams] [seconds]`: what svc costs in front of another server: CPU time of its process for a token
// that it passes on, and what it adds to a request. The server is a stand-in that writes a token to each stream every few
// milliseconds, in vLLM's form, so that nothing but svc is measured.

import { startStandIn } from "../gateway/stand-ins.ts";
import { FROM_SOURCE, startServer } from "../support/server.ts";
import { median } from "./stats.ts";

const TOKENS = 400;
const REQUESTS = 200;

async function ask(url: string, model: string, tokens: number): Promise<number> {
  const began = performance.now();
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model, stream: true, max_tokens: tokens, messages: [{ role: "user", content: "hi" }] }),
  });
  for await (const _ of response.body ?? []);
  return performance.now() - began;
}

const cpuSeconds = async (url: string) => {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^svc_process_cpu_seconds_total (\S+)$/m.exec(text)?.[1]);
};

async function measure(): Promise<void> {
  const [streams = 32, seconds = 10] = process.argv.slice(2).map(Number);
  const standIn = await startStandIn();
  const upstream = standIn.url;
  const command = process.env["SVC"] ? [process.env["SVC"]] : FROM_SOURCE;
  const server = await startServer(["--no-model", "--upstream", `up=${upstream}`, "--log-level", "warn"], command);
  try {
    const both = { direct: [] as number[], through: [] as number[] };
    for (let request = 0; request < REQUESTS; request++) {
      both.direct.push(await ask(upstream, "far", 1));
      both.through.push(await ask(server.url, "up/far", 1));
    }
    const added = median(both.through.slice(50)) - median(both.direct.slice(50));
    console.log(`a request of one token: ${added.toFixed(2)} ms more than without svc (median of ${REQUESTS - 50})`);
    const before = await cpuSeconds(server.url);
    const until = performance.now() + seconds * 1000;
    let tokens = 0;
    const client = async () => {
      while (performance.now() < until) {
        await ask(server.url, "up/far", TOKENS);
        tokens += TOKENS;
      }
    };
    const began = performance.now();
    await Promise.all(Array.from({ length: streams }, client));
    const tookS = (performance.now() - began) / 1000;
    const cpu = (await cpuSeconds(server.url)) - before;
    console.log(
      `${streams} streams, ${(tokens / tookS).toFixed(0)} tokens/s: ${((1e6 * cpu) / tokens).toFixed(1)} µs of CPU a token`,
    );
    await server.stop();
  } finally {
    await server.kill();
    standIn.kill("SIGKILL");
  }
}

await measure();
