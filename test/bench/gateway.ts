// `bun test/bench/gateway.ts [streams] [seconds]`: what svc costs in front of another server: CPU time of its process for a token
// that it passes on, and what it adds to a request. The server is a stand-in that writes a token to each stream every few
// milliseconds, in vLLM's form, so that nothing but svc is measured.

import { FROM_SOURCE, startServer } from "../support/server.ts";
import { median } from "./stats.ts";

const TICK_MS = 5;
const TOKENS = 400;
const REQUESTS = 200;

const encoder = new TextEncoder();
const event = (value: unknown) => encoder.encode(`data: ${JSON.stringify(value)}\n\n`);

/** The stand-in: answers of `max_tokens` tokens, at once where one is asked for. */
function serveTokens(): string {
  const chunk = (delta: object, finish_reason: string | null = null) =>
    event({
      id: "chatcmpl-6f1d2b3c4d5e6f708192a3b4c5d6e7f8",
      object: "chat.completion.chunk",
      created: 1_790_000_000,
      model: "far",
      choices: [{ index: 0, delta, logprobs: null, finish_reason, token_ids: null }],
    });
  const usage = (tokens: number) =>
    event({
      object: "chat.completion.chunk",
      choices: [],
      usage: { prompt_tokens: 9, completion_tokens: tokens, total_tokens: 9 + tokens },
    });
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      if (request.method !== "POST") return Response.json({ data: [{ id: "far", owned_by: "someone" }] });
      const { max_tokens: tokens } = (await request.json()) as { max_tokens: number };
      const body = new ReadableStream({
        async start(controller) {
          controller.enqueue(chunk({ role: "assistant", content: "" }));
          for (let token = 0; token < tokens; token++) {
            controller.enqueue(chunk({ content: ` word${token % 10}` }));
            if (tokens > 1) await Bun.sleep(TICK_MS);
          }
          controller.enqueue(chunk({}, "length"));
          controller.enqueue(usage(tokens));
          controller.enqueue(encoder.encode("data: [DONE]\n\n"));
          controller.close();
        },
      });
      return new Response(body, { headers: { "content-type": "text/event-stream; charset=utf-8" } });
    },
  });
  return `http://127.0.0.1:${server.port}`;
}

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
  const standIn = Bun.spawn([process.execPath, import.meta.path, "stand-in"], { stdout: "pipe", stderr: "inherit" });
  const reader = standIn.stdout.getReader();
  const upstream = new TextDecoder().decode((await reader.read()).value).trim();
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
    standIn.kill();
  }
}

if (process.argv[2] === "stand-in") process.stdout.write(`${serveTokens()}\n`);
else await measure();
