// `svc self-test`: does this binary work on this machine? Starts on a free port, tries the main routes, stops.

import type { Config } from "../config/config.ts";
import { version } from "../config/version.ts";
import { createApp } from "../http/app.ts";
import { listen } from "../http/server.ts";
import { createRuntime } from "./runtime.ts";

const QUESTION = {
  messages: [{ role: "user", content: "What is the capital of France?" }],
  temperature: 0,
  max_tokens: 32,
};

/** Prints one line a check; returns 0 when all hold, else 1. */
export async function selfTest(given: Config): Promise<number> {
  const config: Config = { ...given, host: "127.0.0.1", port: 0, logLevel: "error" };
  const runtime = createRuntime(config);
  const server = listen(createApp({ ...runtime, version }), config, runtime.generation);
  runtime.engine.start();
  let failures = 0;
  const check = async (name: string, work: () => Promise<string>) => {
    try {
      process.stdout.write(`ok    ${name}: ${await work()}\n`);
    } catch (error) {
      failures++;
      process.stdout.write(`FAIL  ${name}: ${error instanceof Error ? error.message : String(error)}\n`);
    }
  };
  try {
    await check("model", async () => {
      const model = await runtime.engine.ready();
      return `${model.id} on ${model.device}`;
    });
    await check("GET /health", async () => expectText(await fetch(`${server.url}/health`), '"healthy"'));
    await check("POST /v1/chat/completions", async () =>
      expectText(await ask(server.url, QUESTION), "chat.completion"),
    );
    await check("the same, streamed", async () =>
      expectText(await ask(server.url, { ...QUESTION, stream: true }), "[DONE]"),
    );
    await check("GET /openapi.json", async () => expectText(await fetch(`${server.url}/openapi.json`), "/v1/models"));
  } finally {
    await server.stop();
    await runtime.engine.stop();
  }
  return failures === 0 ? 0 : 1;
}

const ask = (url: string, body: unknown) =>
  fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

async function expectText(response: Response, expected: string): Promise<string> {
  const text = await response.text();
  if (response.status !== 200) throw new Error(`status ${response.status}`);
  if (!text.includes(expected)) throw new Error(`the answer has no ${expected}`);
  return `${text.length} bytes`;
}
