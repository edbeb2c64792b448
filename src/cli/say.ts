// `svc say TEXT`: text as speech, into a file or to standard output.

import { extname } from "node:path";
import type { Config } from "../config/config.ts";
import { SPEECH_FORMATS } from "../domain/speech.ts";
import { ExitError } from "./exit-codes.ts";
import { withApi } from "./in-process.ts";
import { readPipedInput } from "./piped-input.ts";
import { writeOut } from "./write-out.ts";
import { writeResult } from "./write-result.ts";

export interface SayFlags {
  readonly format?: string;
  readonly voice?: string;
  readonly speed?: string;
  /** File for the sound; absent: standard output, which must be no terminal. */
  readonly output?: string;
}

/** Says the text; without one, or for `-`, that of standard input. Returns the exit code. Throws ExitError. */
export async function say(config: Config, words: readonly string[], flags: SayFlags): Promise<number> {
  const { output, voice, speed } = flags;
  if (output === undefined && process.stdout.isTTY) {
    throw new ExitError("usage", "svc say writes sound: name a file with -o, or pipe it into a player.");
  }
  // Not a number, or none at all, would be none in JSON, and none is the usual one.
  if (speed !== undefined && !(Number(speed) > 0)) throw new ExitError("usage", "--speed must be a number, as 1.25.");
  const given = words.join(" ");
  const input = given === "" || given === "-" ? await readPipedInput(true) : given;
  if (input === undefined) throw new ExitError("usage", "svc say needs a text.");
  const format = flags.format ?? formatOf(output);
  return withApi(config, async ({ ask }) => {
    const response = await ask("/v1/audio/speech", {
      input,
      response_format: format,
      ...(voice !== undefined && { voice }),
      ...(speed !== undefined && { speed: Number(speed) }),
    });
    if (output !== undefined) return writeResult(output, await response.bytes());
    // No faster than they are read; whoever stops reading has heard enough.
    for await (const bytes of response.body ?? []) if (!(await writeOut(bytes))) return;
  });
}

/** What the name of the file says, else WAV. */
function formatOf(output = ""): string {
  const ending = extname(output).slice(1).toLowerCase();
  if (ending === "" || ending === "ogg") return ending === "ogg" ? "opus" : "wav";
  if (SPEECH_FORMATS.some((format) => format === ending)) return ending;
  const known = SPEECH_FORMATS.map((format) => `.${format}`).join(", ");
  throw new ExitError("usage", `-o must name a file that ends in ${known}; or --format says what it is.`);
}
