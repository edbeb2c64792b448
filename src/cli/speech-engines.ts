// The sources of voices that a Config asks for, an engine each. None is started here; programs of the host are looked for.

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

/** Of what has no file of its own. */
const { created } = SYSTEM_ENGINE;

/**
 * A computation of Kokoro takes half a minute on a slow machine, and nothing is heard of it meanwhile, nor can it be interrupted:
 * to load the model again takes less.
 */
const KOKORO_PATIENCE = { quietMs: 120_000, abortGraceMs: 1000 };
/** Bytes of a process that speaks, as measured. */
const NEED_BYTES: Readonly<Record<SpeakerSource["type"], number>> = { heart: 300e6, kokoro: 700e6, program: 0 };
const HIBARI_VOICES = [
  { id: "heart", name: "Heart", locale: "en-US", gender: "female", quality: "premium" },
] as const satisfies readonly Voice[];

/** Models come first, then the programs of the host that were found; each is started on first use. */
export function speechEngines(kokoro: FoundKokoro | undefined, setup: Setup): SpeechEngine[] {
  const { config, launch, native } = setup;
  const { libraries, embeddedVoice } = native;
  const programs = hostPrograms(config, process.platform);
  const engine = (
    source: SpeakerSource,
    model: SpeechEngineOptions["model"],
    patience: Pick<SpeechEngineOptions, "quietMs" | "abortGraceMs"> = {},
  ) =>
    new SpeechEngine({
      engine: { libraries, source },
      model,
      ...patience,
      needBytes: NEED_BYTES[source.type],
      ...whileUsed(setup, source.type === "program" ? undefined : embeddedVoice),
    });
  const words = embeddedVoice && dirname(embeddedVoice);
  const engines: SpeechEngine[] = [];
  if (words !== undefined) {
    const voices = async () => HIBARI_VOICES;
    engines.push(engine({ type: "heart", folder: words }, { id: "hibari", created, origin: "model", voices }));
  }
  if (kokoro && words !== undefined) {
    const reader = programs.find(({ name }) => name === READER);
    const found = kokoroVoices(readdirSync(kokoro.voices), reader !== undefined);
    const model = { id: "kokoro", created, origin: "model", voices: async () => found } as const;
    const files = { ...kokoro, words, ...(reader && { reader }) };
    engines.push(engine({ type: "kokoro", files }, model, KOKORO_PATIENCE));
  } else if (kokoro) {
    launch.log.warn("kokoro is not offered: this build has no dictionaries to read texts with");
  }
  for (const program of programs) {
    const model = { id: program.name, created, origin: "program", voices: voicesOf(program, launch.log) } as const;
    engines.push(engine({ type: "program", program }, model));
  }
  return engines;
}

/** The programs that are there, in the order of the table. */
function hostPrograms({ hostVoices, piperVoices }: Config, platform: NodeJS.Platform): HostProgram[] {
  if (!hostVoices) return [];
  const env = programEnvironment(processEnvironment());
  return Object.entries(PROGRAMS).flatMap(([name, { file, platform: only = platform, needsFolder }]) => {
    const path = only === platform ? findProgram(file) : undefined;
    if (path === undefined) return [];
    if (!needsFolder) return [{ name, path, env }];
    return piperVoices === undefined ? [] : [{ name, path, env, voicesDir: piperVoices }];
  });
}

/** A program is asked once, when somebody first wants to know. One that does not tell has no voices until the next start. */
function voicesOf(program: HostProgram, log: Logger): () => Promise<readonly Voice[]> {
  let known: Promise<readonly Voice[]> | undefined;
  return () => (known ??= ask(program, log, PROGRAMS[program.name]));
}

async function ask(program: HostProgram, log: Logger, kind: ProgramKind | undefined): Promise<readonly Voice[]> {
  try {
    return (await kind?.voices(program)) ?? [];
  } catch (error) {
    const reason = errorMessage(error);
    log.warn(`the voices of ${program.name} are not known`, { reason });
    return [];
  }
}
