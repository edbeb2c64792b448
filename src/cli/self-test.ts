// `svc self-test`: checks that this executable works here: starts on a free port, tries the main routes and each model
// inside the program, stops.

import type { Config } from "../config/config.ts";
import { errorMessage } from "../domain/error-message.ts";
import { createApp } from "../http/app.ts";
import { listen } from "../http/server.ts";
import { engineChecks, type Check } from "./engine-checks.ts";
import { exitCodes } from "./exit-codes.ts";
import { closeServer } from "./open-server.ts";
import { createGatewayServices, createRuntime, givenFiles } from "./runtime.ts";
import { withPulled } from "./with-pulled.ts";
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

/**
 * Prints one line per check: of the model of --model, then of each model inside this program. Returns 0 when none
 * fails, else 1. Throws as `createRuntime` does.
 */
export async function selfTest(given: Config): Promise<number> {
  const config = alone(given);
  const files = givenFiles(config, []);
  const runtime = config.serveModel
    ? await withPulled(given, async () => createRuntime(config, undefined, await findWorkers(config), files))
    : undefined;
  const services = runtime ?? (await createGatewayServices(config, undefined, files));
  const server = listen(createApp(services), config, services);
  const { url } = server;
  const withoutModel = () => (runtime ? undefined : "--no-model");
  let isLoaded = false;
  const chats: readonly Check[] = [
    {
      name: "POST /v1/chat/completions",
      work: async () => expectText(await ask(url, QUESTION), '"chat.completion"'),
    },
    {
      name: "the same, streamed",
      work: async () => expectText(await ask(url, { ...QUESTION, stream: true }), "data: [DONE]"),
    },
    { name: "POST /v1/chat/completions/{id}/cancel", work: () => cancelled(url) },
  ];
  const checks: readonly Check[] = [
    { name: "GET /health", work: async () => expectText(await get(`${url}/health`), '"healthy"') },
    { name: "GET /v1/models", work: async () => expectText(await get(`${url}/v1/models`), '"data"') },
    ...chats.map((check) => ({
      ...check,
      skipped: () => withoutModel() ?? (isLoaded ? undefined : "the model did not load"),
    })),
    ...engineChecks(url, services.native),
  ];
  try {
    runtime?.engine.start();
    isLoaded = await isPassed({
      name: "model",
      skipped: withoutModel,
      work: async () => {
        const { id, device } = (await runtime?.engine.ready()) ?? {};
        return `${id} on ${device}`;
      },
    });
    let failures = isLoaded ? 0 : 1;
    for (const check of checks) if (!(await isPassed(check))) failures++;
    return failures === 0 ? exitCodes.ok.code : exitCodes.failure.code;
  } finally {
    await closeServer(services, server);
  }
}

/** Adapts the configuration: only --model is the user's; the other models are those inside this program. */
function alone({ tls: _tls, traceFile: _ofServer, ...given }: Config): Config {
  return {
    ...given,
    host: "127.0.0.1",
    port: 0,
    apiKeys: [],
    streaming: true,
    logLevel: "error",
    hostVoices: false,
    ocrEngine: "tesseract",
    ocrLanguages: [],
    // Nothing is downloaded for a test.
    fetchComponents: false,
  };
}

/** Makes a check and prints its line. Returns whether it did not fail. */
async function isPassed({ name, skipped, work }: Check): Promise<boolean> {
  const reason = skipped?.();
  if (reason !== undefined) {
    await writeOut(`skip  ${name}: ${reason}\n`);
    return true;
  }
  const started = performance.now();
  try {
    const found = await work();
    await writeOut(`ok    ${name}: ${found}, ${Math.round(performance.now() - started)} ms\n`);
    return true;
  } catch (error) {
    await writeOut(`FAIL  ${name}: ${errorMessage(error)}\n`);
    return false;
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
