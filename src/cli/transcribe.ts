// `svc transcribe FILE…`: recordings as text or subtitles.

import { createWriteStream, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Config } from "../config/config.ts";
import { newRequestId } from "../domain/ids.ts";
import { ExitError } from "./exit-codes.ts";
import { withApi, type Api } from "./in-process.ts";
import { ProgressLine } from "./progress-line.ts";
import { transcriptFiles } from "./transcript-files.ts";
import { writeOut } from "./write-out.ts";
import { writeResult } from "./write-result.ts";

export interface TranscribeFlags {
  readonly format?: string;
  readonly language?: string;
  /** Into English. */
  readonly translate?: boolean;
  /** Folder for the results, one file a recording, or one result's file; absent: they go to standard output. */
  readonly output?: string;
}

const LOOK_MS = 100;
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
  const { format, paths } = transcriptFiles(files, flags);
  const [only, another] = files;
  // Nothing has to be loaded to say so.
  if (only !== undefined && another === undefined) expectThere(only, only);
  return withApi(config, async (api) => {
    const shown = new ProgressLine({
      out: process.stderr,
      format: config.logFormat,
      measure: MEASURE,
      patienceMs: PATIENCE_MS,
      rateMs: RATE_MS,
    });
    let failed = 0;
    for (const [at, file] of files.entries()) {
      const name = file === "-" ? "standard input" : file;
      const label = files.length === 1 ? name : `[${at + 1}/${files.length}] ${name}`;
      const path = paths[at];
      try {
        const text = await recognise(api, file, { ...flags, format }, shown, label);
        if (path !== undefined) {
          await writeResult(path, text);
          shown.note(`${name}: ${path}`);
        } else if (!(await writeOut(files.length === 1 ? text : ofSeveral(name, text, format)))) return;
      } catch (error) {
        shown.end();
        if (!(error instanceof ExitError) || api.signal.aborted) throw error;
        if (files.length === 1) throw new ExitError(error.reason, told(error, name));
        shown.note(`svc: ${told(error, name)}`);
        failed++;
      }
    }
    if (failed > 0) throw new ExitError("failure", `${failed} of ${files.length} recordings could not be transcribed.`);
  });
}

const told = ({ message }: ExitError, name: string): string =>
  message.startsWith(`${name}: `) ? message : `${name}: ${message}`;

/** Among others on standard output: under its name, and JSON as one line of its own. */
function ofSeveral(file: string, text: string, format: string): string {
  return format.endsWith("json") ? `${JSON.stringify({ file, ...JSON.parse(text) })}\n` : `${file}:\n${text}\n`;
}

async function recognise(
  { ask, signal, transcribed }: Api,
  file: string,
  { format = "text", language, translate = false }: TranscribeFlags,
  shown: ProgressLine,
  label: string,
): Promise<string> {
  const folder = file === "-" ? mkdtempSync(join(tmpdir(), "svc-stdin-")) : undefined;
  const id = newRequestId();
  shown.begin();
  const look = () => {
    const { seconds: done, of: total } = transcribed(id) ?? { seconds: 0 };
    shown.show({ name: label, done, ...(total !== undefined && { total }) });
  };
  const timer = setInterval(look, LOOK_MS);
  try {
    look();
    const path = folder === undefined ? resolve(file) : join(folder, "recording");
    if (folder === undefined) expectThere(path, file);
    else await pipeline(Readable.fromWeb(Bun.stdin.stream()), createWriteStream(path), { signal });
    const body = { file: path, response_format: format, ...(language !== undefined && { language }) };
    const response = await ask(`/v1/audio/${translate ? "translations" : "transcriptions"}`, body, id);
    const text = await response.text();
    return text.endsWith("\n") ? text : `${text}\n`;
  } finally {
    clearInterval(timer);
    shown.end();
    if (folder !== undefined) rmSync(folder, { recursive: true });
  }
}

/** Throws ExitError. */
function expectThere(path: string, name: string): void {
  if (name !== "-" && !existsSync(path)) throw new ExitError("failure", `${name}: there is no such file.`);
}

/** Seconds as people read them: `0:07`, `1:02:03`. */
function clock(seconds: number): string {
  const whole = Math.floor(seconds);
  const parts = [Math.floor(whole / 60) % 60, whole % 60].map((part) => String(part).padStart(2, "0"));
  const hours = Math.floor(whole / 3600);
  return hours > 0 ? `${hours}:${parts.join(":")}` : parts.join(":").replace(/^0/, "");
}
