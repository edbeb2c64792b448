// What a program of the host must be able to do, so that its voices can be used.

import type { Sound } from "../../../audio/decode/wav.ts";
import type { Voice } from "../../../domain/speech.ts";
import type { ProgramLimits } from "../../process/program.ts";

/** A program that was found. Plain values, because it is sent to an engine process. */
export interface HostProgram {
  /** Name in the table of `programs.ts`; also the model's name and the start of its voices' ids. */
  readonly name: string;
  readonly path: string;
  readonly env: Readonly<Record<string, string>>;
  /** Folder with the files of its voices; absent if it needs none. */
  readonly voicesDir?: string;
}

interface Saying {
  /** The voice's id without the program's name. */
  readonly voice: string;
  /** One line, without anything that the program would take for a command. */
  readonly text: string;
  /** Within the program's own range. */
  readonly speed: number;
}

/** How one program is used. Its functions throw ProgramError when the program failed. */
export interface ProgramKind {
  /** Name of the executable on PATH. */
  readonly file: string;
  /** The only system on which that name is this program. */
  readonly platform?: string;
  /** Set when its only voices are those in a folder that the operator names. */
  readonly needsFolder?: true;
  /** Range of speeds that it produces itself; others are made from the nearest. */
  readonly slowest: number;
  readonly fastest: number;
  /** Returns the voices that it lists, the default voice of a language first. */
  voices(program: HostProgram): Promise<readonly Voice[]>;
  /** Speaks a text; aborting the signal ends the program. */
  say(program: HostProgram, saying: Saying, signal: AbortSignal): Promise<Sound>;
}

/** Limits of a list of voices. */
export const LIST_LIMITS: ProgramLimits = { mostBytes: 1 << 20, mostMs: 20_000 };
/** Limits of one piece of speech: half an hour of sound at the usual rates. Most pieces are there in a second. */
export const SOUND_LIMITS: ProgramLimits = { mostBytes: 1 << 27, mostMs: 120_000 };

/** Formats `en_us` and `EN-us` as `en-US`: languages in lower case, countries in upper case. */
export function languageTag(text: string): string {
  const [language = "", ...rest] = text.replaceAll("_", "-").toLowerCase().split("-");
  const isPrivate = (at: number) => rest.slice(0, at).includes("x");
  const parts = rest.map((part, at) => {
    if (isPrivate(at)) return part;
    if (part.length === 4) return `${part.charAt(0).toUpperCase()}${part.slice(1)}`;
    return part.length === 2 ? part.toUpperCase() : part;
  });
  return [language, ...parts].join("-");
}
