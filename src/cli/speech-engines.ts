// The sources of voices that a Config asks for, an engine each. None is started here; programs of the host are looked for.

import { dirname } from "node:path";
import type { NativeFiles } from "../../ffi/runtime/native-files.ts";
import type { Config } from "../config/config.ts";
import { processEnvironment, programEnvironment } from "../config/environment.ts";
import type { Voice } from "../domain/speech.ts";
import { findProgram } from "../engine/process/program.ts";
import type { Launch } from "../engine/process/supervisor-options.ts";
import type { HostProgram, ProgramKind } from "../engine/speech/host/host-program.ts";
import { PROGRAMS } from "../engine/speech/host/programs.ts";
import { SpeechEngine } from "../engine/speech/speech-engine.ts";
import type { Logger } from "../telemetry/log.ts";
import { SYSTEM_ENGINE } from "./engines.ts";

/** Of what has no file of its own. */
const { created } = SYSTEM_ENGINE;

/** Models come first, then the programs of the host that were found; each is started on first use. */
export function speechEngines(config: Config, launch: Launch, native: NativeFiles): SpeechEngine[] {
  const { libraries } = native;
  const { idleUnloadMs: idleMs } = config;
  const programs = hostPrograms(config, process.platform).map((program) => {
    const model = { id: program.name, created, origin: "program", voices: voicesOf(program, launch.log) } as const;
    return new SpeechEngine({ engine: { libraries, source: { type: "program", program } }, model, launch, idleMs });
  });
  return [...heart(native, launch, idleMs), ...programs];
}

/** The embedded voice; none where the build left it out. */
function heart({ libraries, embeddedVoice }: NativeFiles, launch: Launch, idleMs: number): SpeechEngine[] {
  if (embeddedVoice === undefined) return [];
  const source = { type: "heart", folder: dirname(embeddedVoice) } as const;
  const model = { id: "hibari", created, origin: "model", voices: async () => HIBARI_VOICES } as const;
  return [new SpeechEngine({ engine: { libraries, source }, model, launch, idleMs })];
}

const HIBARI_VOICES = [
  { id: "heart", name: "Heart", locale: "en-US", gender: "female", quality: "premium" },
] as const satisfies readonly Voice[];

/** The programs that are there, in the order of the table. */
export function hostPrograms({ hostVoices, piperVoices }: Config, platform: NodeJS.Platform): HostProgram[] {
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
    const reason = error instanceof Error ? error.message : String(error);
    log.warn(`the voices of ${program.name} are not known`, { reason });
    return [];
  }
}
