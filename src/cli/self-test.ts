// `svc self-test`: checks that this executable works here: starts on a free port, tries the main routes and each model
// inside the program, stops.

import { devNull } from "node:os";
import type { Config } from "../config/config.ts";
import { processEnvironment } from "../config/environment.ts";
import { resolveConfig } from "../config/resolve.ts";
import { errorMessage } from "../domain/error-message.ts";
import { createApp } from "../http/app.ts";
import { listen } from "../http/server.ts";
import type { FlagsOf } from "./commands.ts";
import { engineChecks, type Check } from "./engine-checks.ts";
import { ExitError } from "./exit-codes.ts";
import { closeServer } from "./open-server.ts";
import { createRuntime, givenFiles } from "./runtime.ts";
import { ask, send } from "./self-test-request.ts";
import { withPulled } from "./with-pulled.ts";
import { findWorkers } from "./workers.ts";
import { writeOut } from "./write-out.ts";

const CHATS = "/v1/chat/completions";
const QUESTION = {
  messages: [{ role: "user", content: "What is the capital of France?" }],
  temperature: 0,
  max_tokens: 32,
};
/** A request that is long enough to be still running when it is cancelled. */
const STORY = { messages: [{ role: "user", content: "Tell me a story." }], stream: true };
const CANCEL_ATTEMPTS = 3;

/**
 * Prints one line per check: of the model of --model, if there is one, then of each model inside this program; with
 * --chats, only of the chat models. Throws ExitError when a check fails, and as `createRuntime` does.
 */
export async function selfTest(given: Config, { chats }: FlagsOf<"self-test">): Promise<void> {
  const ofModel = given.model === undefined ? 0 : await failuresWith(forModel(given));
  const failures = ofModel + (await failuresWith(withoutOptions(given), chats ? undefined : engineChecks));
  if (failures > 0) throw new ExitError("failure", failures === 1 ? "1 check failed." : `${failures} checks failed.`);
}

/** Starts a server, makes the checks, and stops it. Returns how many failed. `others`: more checks, which come last. */
async function failuresWith(config: Config, others?: typeof engineChecks): Promise<number> {
  const files = givenFiles(config, []);
  const runtime = await withPulled(config, async () =>
    createRuntime(config, undefined, await findWorkers(config), files),
  );
  const server = listen(createApp(runtime), config, runtime);
  const { url } = server;
  const ofModel: readonly Check[] = [
    {
      name: "GET /health",
      work: async () => expectText(await send(url, "/health", { method: "GET" }), '"healthy"'),
    },
    {
      name: `POST ${CHATS}`,
      work: async () => expectText(await ask(url, CHATS, QUESTION), '"chat.completion"'),
    },
    {
      name: "the same, streamed",
      work: async () => expectText(await ask(url, CHATS, { ...QUESTION, stream: true }), "data: [DONE]"),
    },
    { name: `POST ${CHATS}/{id}/cancel`, work: () => cancelled(url) },
  ];
  let isLoaded = false;
  const checks: readonly Check[] = [
    {
      name: "GET /v1/models",
      work: async () => expectText(await send(url, "/v1/models", { method: "GET" }), '"data"'),
    },
    // Without the model, all of these would fail for the same reason.
    ...ofModel.map((check) => ({ ...check, skipped: () => (isLoaded ? undefined : "the model did not load") })),
    ...(others?.(url, runtime.native) ?? []),
  ];
  try {
    runtime.engine.start();
    isLoaded = await isPassed({
      name: "model",
      work: async () => {
        const { id, device } = await runtime.engine.ready();
        return `${id} on ${device}`;
      },
    });
    let failures = isLoaded ? 0 : 1;
    for (const check of checks) if (!(await isPassed(check))) failures++;
    return failures;
  } finally {
    await closeServer(runtime, server);
  }
}

/** What any self-test has instead of the user's options. */
const ALONE = {
  host: "127.0.0.1",
  port: 0,
  apiKeys: [],
  streaming: true,
  logLevel: "error",
  hostVoices: false,
  // A model can be downloaded with --pull, but no component.
  fetchComponents: false,
} as const satisfies Partial<Config>;

/** Keeps the options about the model of --model. Names that the user gives could be those of the models inside svc. */
function forModel({ tls: _tls, traceFile: _ofServer, ocrData: _ofOthers, ...given }: Config): Config {
  const lora = given.lora.map((adapter, at) => ({ ...adapter, name: `self-test-${at}` }));
  return { ...given, ...ALONE, alias: [], lora, ocrEngine: "tesseract", ocrLanguages: [] };
}

/** Keeps only the options about this machine: what is inside svc is tried as it is, not with models and data of the user. */
function withoutOptions({ cacheDir, threads, gpuLayers, loadTimeoutMs, engineTimeoutMs }: Config): Config {
  return {
    ...resolveConfig([], processEnvironment()),
    ...ALONE,
    cacheDir,
    ...(threads !== undefined && { threads }),
    gpuLayers,
    loadTimeoutMs,
    engineTimeoutMs,
    // There, downloaded data for text recognition would take the place of those inside.
    modelsDir: devNull,
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
    const story = await ask(url, CHATS, STORY, { "x-request-id": id });
    const isFound = await send(url, `${CHATS}/${id}/cancel`).then(
      () => true,
      () => false,
    );
    const text = await story.text();
    if (isFound && text.includes('"cancelled"') && text.endsWith("data: [DONE]\n\n")) return "stream ended";
  }
  throw new Error("the stream did not end as cancelled");
}

async function expectText(response: Response, expected: string): Promise<string> {
  const text = await response.text();
  if (!text.includes(expected)) throw new Error(`the answer has no ${expected}`);
  return `${text.length} bytes`;
}
