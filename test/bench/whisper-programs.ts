// whisper.cpp's own programs, with the model embedded in svc.

import { rmSync } from "node:fs";
import { nativeFiles } from "../../ffi/runtime/native-files.ts";
import { buildWhisperTools } from "../../vendor/whisper-tools.ts";
import { freePort } from "../support/free-port.ts";
import { killAtExit } from "../support/kill-at-exit.ts";
import { oneLine } from "./spoken.ts";

const { embeddedTranscription = "", embeddedVad = "" } = nativeFiles("");
/** The model that both programs use. */
export const WHISPER_MODEL = embeddedTranscription;
export const VAD_MODEL = embeddedVad;

const { cli, server } = await buildWhisperTools("cpu");
const model = (threads: number) => ["-m", WHISPER_MODEL, "-t", String(threads)];

export interface CliOptions {
  readonly threads: number;
  /** Defaults to en. */
  readonly language?: string;
}

/**
 * Transcribes these files with whisper-cli, one after another in one process. Its voice detection is off, because it
 * takes more than ten seconds per second of sound. Throws when it fails.
 */
export async function whisperCli(files: readonly string[], options: CliOptions): Promise<string[]> {
  const { threads, language = "en" } = options;
  const command = [cli, ...model(threads), "-l", language, "-np", "-otxt"];
  const child = Bun.spawn([...command, ...files], { stdout: "ignore", stderr: "pipe" });
  const ended = killAtExit(child);
  const output = await child.stderr.text();
  if ((await child.exited) !== 0) throw new Error(`whisper-cli failed:\n${output.slice(-2000)}`);
  ended();
  return Promise.all(
    files.map(async (file) => {
      const text = oneLine(await Bun.file(`${file}.txt`).text());
      rmSync(`${file}.txt`);
      return text;
    }),
  );
}

/** Runs `work` with a whisper-server at this URL. */
export async function withWhisperServer(threads: number, work: (url: string) => Promise<void>): Promise<void> {
  const port = await freePort();
  const child = Bun.spawn([server, ...model(threads), "--port", String(port)], { stdout: "ignore", stderr: "ignore" });
  const ended = killAtExit(child);
  const url = `http://127.0.0.1:${port}`;
  const isUp = () =>
    fetch(`${url}/`).then(
      () => true,
      () => false,
    );
  try {
    for (let tries = 0; tries < 200 && !(await isUp()); tries++) await Bun.sleep(50);
    await work(url);
  } finally {
    child.kill();
    await child.exited;
    ended();
  }
}
