// `svc -s "prompt"`: one answer on standard output, nothing listens. With --json it is the whole chat completion.

import type { Config } from "../config/config.ts";
import { version } from "../config/version.ts";
import { abortable } from "../domain/abortable.ts";
import { SvcError } from "../domain/errors.ts";
import type { ChatMessage, Generation } from "../domain/generate.ts";
import { newRequestId } from "../domain/ids.ts";
import { schemaInstruction, withInstruction } from "../domain/instruction.ts";
import { resolveReasoning } from "../domain/reasoning.ts";
import { schemaConstraint } from "../json-schema/constraint.ts";
import { ExitError, exitCodes } from "./exit-codes.ts";
import { showLoading } from "./load-progress.ts";
import { createRuntime, type Runtime } from "./runtime.ts";
import { isTerminal, progressOutput } from "./terminal.ts";
import { findWorkers } from "./workers.ts";
import { writeOut } from "./write-out.ts";

/**
 * Streams the answer to `prompt` to standard output; returns the exit code. Only warnings are logged, unless more was
 * asked for. A reader that goes away (`| head -1`) ends the answer and is no failure. Throws ExitError.
 */
export async function answer(config: Config, prompt: string, asJson: boolean): Promise<number> {
  const quiet: Config = config.logLevel === "info" ? { ...config, logLevel: "warn" } : config;
  const runtime = createRuntime(quiet, undefined, await findWorkers(config));
  const interrupt = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interrupt.abort("signal"));
  runtime.engine.start();
  try {
    await loaded(runtime, config, interrupt.signal);
    if (asJson) await printCompletion(runtime, prompt, interrupt.signal);
    else await generate(runtime, toRequest(config, prompt), interrupt.signal);
    return exitCodes.ok.code;
  } catch (error) {
    if (interrupt.signal.aborted) return exitCodes.interrupted.code;
    if (error instanceof SvcError) throw new ExitError("failure", error.message);
    throw error;
  } finally {
    await runtime.engine.stop();
  }
}

async function loaded({ engine }: Runtime, config: Config, signal: AbortSignal): Promise<void> {
  const showsBar = isTerminal() && config.logFormat === "text";
  const progress = showsBar ? showLoading(engine, progressOutput(config)) : undefined;
  const ready = engine.ready().catch((error: Error) => {
    throw new ExitError("model", error.message);
  });
  try {
    await abortable(ready, signal);
  } finally {
    progress?.end();
  }
}

async function generate({ generation, config }: Runtime, request: Generation, signal: AbortSignal): Promise<void> {
  let held = "";
  let last = "";
  for await (const event of generation.generate([request], { id: newRequestId() }, signal)) {
    if (event.type !== "text" || event.text === "") continue;
    last = event.text;
    if (!config.streaming) held += event.text;
    else if (!(await writeOut(event.text))) return;
  }
  await writeOut(last.endsWith("\n") ? held : `${held}\n`);
}

/** The answer of POST /v1/chat/completions as one line of JSON. */
async function printCompletion(runtime: Runtime, prompt: string, signal: AbortSignal): Promise<void> {
  const { createApp } = await import("../http/app.ts");
  const { instructions } = runtime.config;
  const system = instructions === undefined ? [] : [{ role: "system", content: instructions }];
  const app = createApp({ ...runtime, config: { ...runtime.config, apiKeys: [] }, version });
  const request = new Request("http://localhost/v1/chat/completions", {
    method: "POST",
    headers: { host: "localhost", "content-type": "application/json" },
    body: JSON.stringify({ messages: [...system, { role: "user", content: prompt }] }),
    signal,
  });
  const response = await app.fetch(request);
  const body = (await response.json()) as { readonly error?: { readonly message: string } };
  if (body.error) throw new ExitError("failure", body.error.message);
  await writeOut(`${JSON.stringify(body)}\n`);
}

/** What a one-shot run asks the model: the same as a chat completion that sets no field. */
export function toRequest(config: Config, prompt: string): Generation {
  const { instructions, guidedJson, constrain } = config;
  const system: ChatMessage[] = instructions === undefined ? [] : [{ role: "system", content: instructions }];
  const messages: ChatMessage[] = [...system, { role: "user", content: prompt }];
  const stated = guidedJson && !constrain ? withInstruction(messages, schemaInstruction(guidedJson)) : messages;
  return {
    messages: stated,
    tools: [],
    toolChoice: "auto",
    parallelToolCalls: true,
    ...(guidedJson && { constraint: schemaConstraint(guidedJson, false, "--guided-json") }),
    ...resolveReasoning({ usual: guidedJson ? false : undefined }, config),
    sampling: {},
    stop: config.stop,
    choices: 1,
    ...(config.maxTokens !== undefined && { maxTokens: config.maxTokens }),
  };
}
