// `svc say TEXT`: speaks a text into a file or to standard output, or lists the voices.

import type { Config } from "../config/config.ts";
import type { VoiceList } from "../contract/speech.ts";
import { SPEECH_FORMATS } from "../domain/speech.ts";
import type { FlagsOf } from "./commands.ts";
import { ExitError } from "./exit-codes.ts";
import { SPEECH_FILES } from "./file-formats.ts";
import { withApi } from "./in-process.ts";
import { wordsOrInput } from "./piped-input.ts";
import { commandProgress, SLOW_RATE_MS } from "./progress-line.ts";
import { textTable } from "./text-table.ts";
import { writeOut } from "./write-out.ts";
import { expectFileName, formatOf, unknownFormat, writeAsItComes } from "./write-result.ts";

const characters = (count: number) => count.toLocaleString("en-US");
const MEASURE = {
  amount: (done: number, total: number | undefined) =>
    total === undefined ? "" : `${characters(done)} of ${characters(total)} characters`,
  rate: (speed: number) => `${speed.toFixed(0)} a second`,
};

/** Speaks the text; without words or for `-`, standard input. Returns the exit code. Throws as `withApi` does. */
export async function say(config: Config, words: readonly string[], flags: FlagsOf<"say">): Promise<number> {
  const { output, voice, locale, speed } = flags;
  if (flags.json && !flags.voices) throw new ExitError("usage", "--json belongs to svc say --voices.");
  if (flags.voices) return listVoices(config, locale, flags.json);
  if (output === undefined && process.stdout.isTTY) {
    throw new ExitError("usage", "svc say writes sound: name a file with -o, or pipe it into a player.");
  }
  // NaN and Infinity would become null in JSON, which means the default speed.
  if (speed !== undefined && !(Number(speed) > 0 && Number(speed) < Infinity))
    throw new ExitError("usage", "--speed must be a number above 0, such as 1.25.");
  if (output !== undefined) expectFileName(output);
  const input = await wordsOrInput(words);
  if (input === undefined) throw new ExitError("usage", "svc say needs a text, as words or on standard input.");
  const wanted = formatOf(flags, SPEECH_FILES) ?? "wav";
  const format = SPEECH_FORMATS.find((one) => one === wanted);
  if (format === undefined) throw unknownFormat(wanted, SPEECH_FORMATS);
  return withApi(config, "kokoro", async (api) => {
    const { LongSpeech } = await import("./long-speech.ts");
    const wishes = {
      ...(voice !== undefined && { voice }),
      ...(locale !== undefined && { locale }),
      ...(speed !== undefined && { speed: Number(speed) }),
    };
    const speech = new LongSpeech(api, input, format, wishes, output !== undefined);
    const work = async () => {
      const file = speech.file();
      if (output !== undefined) return writeAsItComes(output, file, (head) => speech.complete(head));
      // Generates no faster than the reader reads; a reader that closes the pipe ends the work.
      for await (const bytes of file) if (!(await writeOut(bytes))) return;
    };
    const shown = commandProgress(config, MEASURE, SLOW_RATE_MS);
    await shown.during(() => ({ name: "speaking", ...speech.progress }), work);
    if (output !== undefined) shown.note(`${output}: ${characters(speech.progress.total)} characters spoken`);
  });
}

/** Prints one line per voice, or the server's list as JSON. */
function listVoices(config: Config, locale = "", asJson?: boolean): Promise<number> {
  return withApi(config, "kokoro", async ({ ask }) => {
    const listing = (await (await ask(`/v1/audio/voices?locale=${encodeURIComponent(locale)}`)).json()) as VoiceList;
    await writeOut(asJson ? `${JSON.stringify(listing, undefined, 2)}\n` : voiceTable(listing));
  });
}

/** Formats the voices as aligned columns, those of the model or program that speaks by default first. */
export function voiceTable({ voices }: VoiceList): string {
  // Other names are those of voices that svc prefers.
  const preferred = new Set(voices.filter(({ aliases }) => aliases.length > 0).map(({ model }) => model));
  const ordered = voices.toSorted(
    (one, other) => Number(preferred.has(other.model)) - Number(preferred.has(one.model)),
  );
  const rows = ordered.map(({ id, locale, gender, quality, model }) => [id, locale, gender, quality, model]);
  return textTable(["VOICE", "LOCALE", "GENDER", "QUALITY", "MODEL"], rows);
}
