// `svc -s "prompt"`: one answer on standard output, nothing listens.

import type { Config } from "../config/config.ts";
import { SvcError } from "../domain/errors.ts";
import type { ChatMessage } from "../domain/generate.ts";
import { newRequestId } from "../domain/ids.ts";
import { ExitError } from "./exit-codes.ts";
import { createRuntime } from "./runtime.ts";

/** Streams the answer to `prompt`; returns the exit code. Only warnings are logged, unless more was asked for. */
export async function answer(config: Config, prompt: string, instructions: string | undefined): Promise<number> {
  const quiet = config.logLevel === "info" ? { ...config, logLevel: "warn" as const } : config;
  const { engine, generation } = createRuntime(quiet);
  const interrupt = new AbortController();
  process.once("SIGINT", () => interrupt.abort());
  engine.start();
  try {
    await engine.ready().catch((error: Error) => {
      throw new ExitError("model", error.message);
    });
    const system: ChatMessage[] = instructions === undefined ? [] : [{ role: "system", content: instructions }];
    const request = {
      id: newRequestId(),
      messages: [...system, { role: "user" as const, content: prompt }],
      templateKwargs: config.templateKwargs,
      sampling: {},
      stop: config.stop,
      ...(config.maxTokens !== undefined && { maxTokens: config.maxTokens }),
    };
    for await (const event of generation.generate(request, interrupt.signal)) {
      if (event.type === "text") process.stdout.write(event.text);
    }
    process.stdout.write("\n");
    return 0;
  } catch (error) {
    if (interrupt.signal.aborted) return 130;
    if (error instanceof SvcError) throw new ExitError("failure", error.message);
    throw error;
  } finally {
    await engine.stop();
  }
}
