// Creates the speech engines that a Config asks for, one per source of voices; finds host programs. Starts none.

import { readdirSync } from "node:fs";
import { dirname } from "node:path";
import type { Config } from "../config/config.ts";
import { processEnvironment, programEnvironment } from "../config/environment.ts";
import { errorMessage } from "../domain/error-message.ts";
import type { Voice } from "../domain/speech.ts";
import { findProgram } from "../engine/process/program.ts";
import type { HostProgram, ProgramKind } from "../engine/speech/host/host-program.ts";
import { PROGRAMS } from "../engine/speech/host/programs.ts";
import { kokoroVoices, READER } from "../engine/speech/kokoro-voices.ts";
import type { SpeakerSource } from "../engine/speech/protocol.ts";
import { SpeechEngine, type SpeechEngineOptions } from "../engine/speech/speech-engine.ts";
import type { Logger } from "../telemetry/log.ts";
import { SYSTEM_ENGINE, whileUsed, type Setup } from "./engines.ts";
import type { FoundKokoro } from "./pulled-files.ts";

/** Creation time of models that have no file of their own, in Unix seconds. */
const { created } = SYSTEM_ENGINE;

/**
 * One computation of Kokoro takes half a minute on a slow machine, without a report and without a way to interrupt it;
 * reloading the model takes less time.
 */
const KOKORO_PATIENCE = { quietMs: 120_000, abortGraceMs: 1000 };
/** Measured memory of a speaking process, in bytes. */
const NEED_BYTES: Readonly<Record<SpeakerSource["type"], number>> = { heart: 300e6, kokoro: 700e6, program: 0 };
/** The name of the model inside this program. */
export const HIBARI = "hibari";
const HIBARI_VOICES = [
  { id: "heart", name: "Heart", locale: "en-US", gender: "female", quality: "premium" },
] as const satisfies readonly Voice[];

/** Creates the engines: models first, then the host programs that were found. Each starts on first use. */
export function speechEngines(kokoro: FoundKokoro | undefined, setup: Setup): SpeechEngine[] {
  const { config, launch, native } = setup;
  const { embeddedVoice } = native;
  const programs = hostPrograms(config, process.platform, launch.log);
  const engine = (
    source: SpeakerSource,
    model: SpeechEngineOptions["model"],
    patience: Pick<SpeechEngineOptions, "quietMs" | "abortGraceMs"> = {},
  ) =>
    new SpeechEngine({
      engine: { source },
      model,
      ...patience,
      needBytes: NEED_BYTES[source.type],
      ...whileUsed(setup, source.type === "program" ? undefined : embeddedVoice),
    });
  const words = embeddedVoice && dirname(embeddedVoice);
  const engines: SpeechEngine[] = [];
  if (words !== undefined) {
    const voices = async () => HIBARI_VOICES;
    engines.push(engine({ type: "heart", folder: words }, { id: HIBARI, created, origin: "model", voices }));
  }
  if (kokoro && words !== undefined) {
    const reader = programs.find(({ name }) => name === READER);
    const found = kokoroVoices(readdirSync(kokoro.voices), reader !== undefined);
    const model = { id: "kokoro", created, origin: "model", voices: async () => found } as const;
    const files = { ...kokoro, words, ...(reader && { reader }) };
    engines.push(engine({ type: "kokoro", files }, model, KOKORO_PATIENCE));
  } else if (kokoro) {
    launch.log.warn("kokoro is not offered: this build has no pronunciation dictionaries");
  }
  for (const program of programs) {
    const model = { id: program.name, created, origin: "program", voices: voicesOf(program, launch.log) } as const;
    engines.push(engine({ type: "program", program }, model));
  }
  return engines;
}

/** Returns the host programs that are installed, in the order of the table. */
function hostPrograms({ hostVoices, piperVoices }: Config, platform: NodeJS.Platform, log: Logger): HostProgram[] {
  if (!hostVoices) return [];
  const env = programEnvironment(processEnvironment());
  return Object.entries(PROGRAMS).flatMap(([name, { file, platform: only = platform, needsFolder }]) => {
    const path = only === platform ? findProgram(file) : undefined;
    if (path === undefined) {
      if (needsFolder && piperVoices !== undefined)
        log.warn(`--piper-voices has no effect: there is no ${file} on PATH`);
      return [];
    }
    if (!needsFolder) return [{ name, path, env }];
    return piperVoices === undefined ? [] : [{ name, path, env, voicesDir: piperVoices }];
  });
}

/** Returns a function that queries a program's voices once, on first use. After a failure there are none. */
function voicesOf(program: HostProgram, log: Logger): () => Promise<readonly Voice[]> {
  let known: Promise<readonly Voice[]> | undefined;
  return () => (known ??= ask(program, log, PROGRAMS[program.name]));
}

async function ask(program: HostProgram, log: Logger, kind: ProgramKind | undefined): Promise<readonly Voice[]> {
  try {
    return (await kind?.voices(program)) ?? [];
  } catch (error) {
    const reason = errorMessage(error);
    log.warn(`the voices of ${program.name} could not be listed`, { reason });
    return [];
  }
}
