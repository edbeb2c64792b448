// `svc transcribe FILE…`: recordings as text or subtitles.

import { createWriteStream, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, extname, join, resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Config } from "../config/config.ts";
import { ExitError } from "./exit-codes.ts";
import { withApi, type Ask } from "./in-process.ts";
import { writeResult } from "./write-result.ts";

const ENDINGS: Readonly<Record<string, string>> = {
  text: "txt",
  srt: "srt",
  vtt: "vtt",
  json: "json",
  verbose_json: "json",
};

export interface TranscribeFlags {
  readonly format?: string;
  readonly language?: string;
  /** Into English. */
  readonly translate?: boolean;
  /** Folder for the results, one file a recording; absent: they go to standard output. */
  readonly output?: string;
}

/** Recognises the files one after the other; `-` is standard input. Returns the exit code. Throws ExitError. */
export async function transcribe(config: Config, files: readonly string[], flags: TranscribeFlags): Promise<number> {
  const results = resultsOf(files, flags);
  return withApi(config, async (ask, signal) => {
    for (const [at, file] of files.entries()) {
      const name = file === "-" ? "standard input" : file;
      tell(`[${at + 1}/${files.length}] ${name}`);
      const text = await recognise(ask, file, flags, signal).catch((error: unknown) => {
        throw error instanceof ExitError ? new ExitError(error.reason, `${name}: ${error.message}`) : error;
      });
      const result = results[at];
      if (result !== undefined) await writeResult(result, text);
      else process.stdout.write(files.length > 1 ? `${name}:\n${text}\n` : text);
    }
    tell("");
  });
}

/** The files for the results, where there are to be any. Throws ExitError about what cannot come out well. */
function resultsOf(files: readonly string[], { format = "text", output }: TranscribeFlags): readonly string[] {
  const ending = Object.hasOwn(ENDINGS, format) ? ENDINGS[format] : undefined;
  if (ending === undefined) {
    throw new ExitError("usage", `--format must be one of ${Object.keys(ENDINGS).join(", ")}.`);
  }
  const missing = files.find((file) => file !== "-" && !existsSync(file));
  if (missing !== undefined) throw new ExitError("failure", `${missing}: there is no such file.`);
  if (output === undefined) return [];
  const stem = (file: string) => (file === "-" ? "stdin" : basename(file, extname(file)));
  const results = files.map((file) => join(output, `${stem(file)}.${ending}`));
  const twice = results.find((result, at) => results.indexOf(result) !== at);
  if (twice !== undefined) throw new ExitError("usage", `The texts of two recordings would both be ${twice}.`);
  return results;
}

async function recognise(ask: Ask, file: string, flags: TranscribeFlags, signal: AbortSignal): Promise<string> {
  const folder = file === "-" ? mkdtempSync(join(tmpdir(), "svc-stdin-")) : undefined;
  try {
    const path = folder === undefined ? resolve(file) : join(folder, "recording");
    if (folder !== undefined) await pipeline(Readable.fromWeb(Bun.stdin.stream()), createWriteStream(path), { signal });
    const { format = "text", language, translate = false } = flags;
    const response = await ask(`/v1/audio/${translate ? "translations" : "transcriptions"}`, {
      file: path,
      response_format: format,
      ...(language !== undefined && { language }),
    });
    const text = await response.text();
    return text.endsWith("\n") ? text : `${text}\n`;
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true });
  }
}

/** Where somebody looks on: which file is read. */
function tell(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\x1b[K${text.slice(0, (process.stderr.columns || 80) - 1)}\r`);
}
