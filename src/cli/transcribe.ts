// `svc transcribe FILE…`: recordings as text or subtitles.

import type { Config } from "../config/config.ts";
import { newRequestId } from "../domain/ids.ts";
import { eachFile, expectOne } from "./each-file.ts";
import { withApi } from "./in-process.ts";
import { ProgressLine, whileLooking } from "./progress-line.ts";
import { resultFiles, type Formats } from "./result-files.ts";
import { progressOutput } from "./terminal.ts";

const FORMATS: Formats = { text: "txt", srt: "srt", vtt: "vtt", json: "json", verbose_json: "json" };

const OPTIONS = { language: "--language" };

interface TranscribeFlags {
  readonly format?: string;
  readonly language?: string;
  /** Into English. */
  readonly translate?: boolean;
  /** Folder for the results, one file a recording, or one result's file; absent: they go to standard output. */
  readonly output?: string;
}

/** Elsewhere than on a terminal, what is done sooner needs no line. */
const PATIENCE_MS = 10_000;
/** Of half minutes that take seconds each. */
const RATE_MS = 60_000;
const MEASURE = {
  amount: (done: number, total: number | undefined) =>
    total === undefined ? clock(done) : `${clock(done)} of ${clock(total)}`,
  rate: (speed: number) => `${speed.toFixed(1)}× as fast`,
};

/**
 * Recognises the files one after the other; `-` is standard input. Of several, one that fails is told and the others go on.
 * Returns the exit code. Throws ExitError.
 */
export async function transcribe(config: Config, files: readonly string[], flags: TranscribeFlags): Promise<number> {
  const results = resultFiles(files, FORMATS, flags);
  const { language, translate = false } = flags;
  const route = `/v1/audio/${translate ? "translations" : "transcriptions"}`;
  expectOne(files);
  return withApi(config, async ({ ask, signal, transcribed }) => {
    const shown = new ProgressLine({
      ...progressOutput(config),
      measure: MEASURE,
      patienceMs: PATIENCE_MS,
      rateMs: RATE_MS,
    });
    const work = async (path: string, label: string) => {
      const id = newRequestId();
      const look = () => {
        const { seconds: done, of: total } = transcribed(id) ?? { seconds: 0 };
        shown.show({ name: label, done, ...(total !== undefined && { total }) });
      };
      const body = { file: path, response_format: results.format, ...(language !== undefined && { language }) };
      return whileLooking(look, async () => (await ask(route, body, { id, options: OPTIONS })).text());
    };
    await eachFile(files, { results, failure: "recordings could not be transcribed", shown, signal, work });
  });
}

/** Seconds as people read them: `0:07`, `1:02:03`. */
function clock(seconds: number): string {
  const whole = Math.floor(seconds);
  const parts = [Math.floor(whole / 60) % 60, whole % 60].map((part) => String(part).padStart(2, "0"));
  const hours = Math.floor(whole / 3600);
  return hours > 0 ? `${hours}:${parts.join(":")}` : parts.join(":").replace(/^0/, "");
}
