// What a program of the host has to be able to do, so that its voices can be used.

import type { Sound } from "../../../audio/decode/wav.ts";
import type { Voice } from "../../../domain/speech.ts";
import type { ProgramLimits } from "../../process/program.ts";

/** A program that was found. Plain values: an engine process is sent it. */
export interface HostProgram {
  /** Of the table in `programs.ts`; also the model's name, and what the ids of its voices begin with. */
  readonly name: string;
  readonly path: string;
  readonly env: Readonly<Record<string, string>>;
  /** Folder with the files of its voices, where it needs one. */
  readonly voicesDir?: string;
}

interface Saying {
  /** The voice's id without the program's name. */
  readonly voice: string;
  /** One line, without anything that the program takes for a command. */
  readonly text: string;
  /** Within the program's own speeds. */
  readonly speed: number;
}

/** How one program is used. What it throws is a ProgramError where the program failed. */
export interface ProgramKind {
  /** What it is called on PATH. */
  readonly file: string;
  /** The only system where that is this program. */
  readonly platform?: string;
  /** It has no voices but those of a folder that the operator names. */
  readonly needsFolder?: true;
  /** Speeds that it has by itself; others are made of the nearest. */
  readonly slowest: number;
  readonly fastest: number;
  /** The voices that it tells of, the usual one of a language first. */
  voices(program: HostProgram): Promise<readonly Voice[]>;
  /** Says a text; the signal ends the program. */
  say(program: HostProgram, saying: Saying, signal: AbortSignal): Promise<Sound>;
}

/** For a list of voices. */
export const LIST_LIMITS: ProgramLimits = { mostBytes: 1 << 20, mostMs: 20_000 };
/** For what is said at once: half an hour of sound at the usual rates, most of which is there in a second. */
export const SOUND_LIMITS: ProgramLimits = { mostBytes: 1 << 27, mostMs: 120_000 };

/** `en_us` and `EN-us` as `en-US`: languages in small letters, countries in large ones. */
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
