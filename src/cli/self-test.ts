// `svc self-test`: checks that this executable works here: starts on a free port, tries the main routes, stops.

import type { Config } from "../config/config.ts";
import { errorMessage } from "../domain/error-message.ts";
import { createApp } from "../http/app.ts";
import { listen } from "../http/server.ts";
import { exitCodes } from "./exit-codes.ts";
import { closeServer } from "./open-server.ts";
import { createRuntime, givenFiles } from "./runtime.ts";
import { findWorkers } from "./workers.ts";
import { writeOut } from "./write-out.ts";

const QUESTION = {
  messages: [{ role: "user", content: "What is the capital of France?" }],
  temperature: 0,
  max_tokens: 32,
};
/** A request that is long enough to be still running when it is cancelled. */
const STORY = { messages: [{ role: "user", content: "Tell me a story." }], stream: true };
const CANCEL_ATTEMPTS = 3;
const PATIENCE_MS = 60_000;

/** Prints one line per check. Returns 0 when all pass, else 1. Throws as `createRuntime` does. */
export async function selfTest(given: Config): Promise<number> {
  const { tls: _notHere, traceFile: _ofServer, ...plain } = given;
  const config: Config = { ...plain, host: "127.0.0.1", port: 0, apiKeys: [], streaming: true, logLevel: "error" };
  const runtime = await createRuntime(config, undefined, await findWorkers(config), givenFiles(config, []));
  const server = listen(createApp(runtime), config, runtime);
  const { url } = server;
  const checks: Record<string, () => Promise<string>> = {
    "GET /health": async () => expectText(await get(`${url}/health`), '"healthy"'),
    "GET /v1/models": async () => expectText(await get(`${url}/v1/models`), '"data"'),
    "POST /v1/chat/completions": async () => expectText(await ask(url, QUESTION), '"chat.completion"'),
    "the same, streamed": async () => expectText(await ask(url, { ...QUESTION, stream: true }), "data: [DONE]"),
    "POST /v1/chat/completions/{id}/cancel": () => cancelled(url),
  };
  try {
    runtime.engine.start();
    let failures = 0;
    const check = async (name: string, work: () => Promise<string>) => {
      const started = performance.now();
      try {
        const found = await work();
        await writeOut(`ok    ${name}: ${found}, ${Math.round(performance.now() - started)} ms\n`);
      } catch (error) {
        failures++;
        await writeOut(`FAIL  ${name}: ${errorMessage(error)}\n`);
      }
    };
    await check("model", async () => {
      const { id, device } = await runtime.engine.ready();
      return `${id} on ${device}`;
    });
    // Without a model, every other check would fail for the same reason.
    if (failures === 0) for (const [name, work] of Object.entries(checks)) await check(name, work);
    return failures === 0 ? exitCodes.ok.code : exitCodes.failure.code;
  } finally {
    await closeServer(runtime, server);
  }
}

/** Cancels a running story; tries again when the model has ended the story before the cancel arrives. */
async function cancelled(url: string): Promise<string> {
  for (let attempt = 1; attempt <= CANCEL_ATTEMPTS; attempt++) {
    const id = `self-test-${attempt}`;
    const story = await ask(url, STORY, { "x-request-id": id });
    const { status } = await post(`${url}/v1/chat/completions/${id}/cancel`);
    const text = await story.text();
    if (status === 200 && text.includes('"cancelled"') && text.endsWith("data: [DONE]\n\n")) return "stream ended";
  }
  throw new Error("the stream did not end as cancelled");
}

const get = (url: string) => fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS) });

const post = (url: string, init: { body?: string; headers?: Record<string, string> } = {}) =>
  fetch(url, { method: "POST", signal: AbortSignal.timeout(PATIENCE_MS), ...init });

const ask = (url: string, body: unknown, headers: Record<string, string> = {}) =>
  post(`${url}/v1/chat/completions`, {
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });

async function expectText(response: Response, expected: string): Promise<string> {
  const text = await response.text();
  if (response.status !== 200) throw new Error(`status ${response.status}`);
  if (!text.includes(expected)) throw new Error(`the answer has no ${expected}`);
  return `${text.length} bytes`;
}
