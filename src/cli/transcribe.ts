// `svc transcribe FILE…`: transcribes recordings to text or subtitles.

import type { Config } from "../config/config.ts";
import type { FlagsOf } from "./commands.ts";
import { eachFile } from "./each-file.ts";
import { TRANSCRIPT_FORMATS } from "./file-formats.ts";

const OPTIONS = { language: "--language" };

const MEASURE = {
  amount: (done: number, total: number | undefined) =>
    total === undefined ? clock(done) : `${clock(done)} of ${clock(total)}`,
  rate: (speed: number) => `${speed.toFixed(1)}× as fast`,
};

/** Transcribes the files; `-` is standard input. Returns the exit code. Throws as `withApi` does. */
export function transcribe(config: Config, files: readonly string[], flags: FlagsOf<"transcribe">): Promise<number> {
  const { language, translate = false } = flags;
  const route = `/v1/audio/${translate ? "translations" : "transcriptions"}`;
  return eachFile(config, files, flags, {
    formats: TRANSCRIPT_FORMATS,
    uses: "whisper",
    failure: "recordings could not be transcribed",
    measure: MEASURE,
    work: async (ask, { path, id, format }) => {
      const body = { file: path, response_format: format, ...(language !== undefined && { language }) };
      return (await ask(route, body, { id, options: OPTIONS })).text();
    },
  });
}

/** Formats seconds for people: `0:07`, `1:02:03`. */
function clock(seconds: number): string {
  const whole = Math.floor(seconds);
  const parts = [Math.floor(whole / 60) % 60, whole % 60].map((part) => String(part).padStart(2, "0"));
  const hours = Math.floor(whole / 3600);
  return hours > 0 ? `${hours}:${parts.join(":")}` : parts.join(":").replace(/^0/, "");
}
