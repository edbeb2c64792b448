// `bun test/soak/long-recording.ts [--minutes 120] [--threads 2]`: one request with a recording of hours. Does memory stay
// level, front and engine, and is all of it transcribed? Prints the result at the end, and ends with 1 on failure.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { wavHead } from "../../src/audio/encode/wav.ts";
import { sentence, wordErrors, wordsOf } from "../bench/sentences.ts";
import { RATE, say } from "../bench/spoken.ts";
import { dice } from "../support/dice.ts";
import { describeFootprint, footprint, type Footprint } from "../support/footprint.ts";
import { enginesOf } from "../support/processes.ts";
import { withServer } from "../support/server.ts";

const { values } = parseArgs({ options: { minutes: { type: "string" }, threads: { type: "string" } } });
const minutes = Number(values.minutes ?? 120);
/** Number of sentences, which repeat. */
const SENTENCES = 24;
/** Bytes by which a process may grow from the first quarter to the end. */
const MOST_GROWTH = 40 * 2 ** 20;
/** Allowed share of wrong words: cuts between stretches cost a word now and then. */
const MOST_WRONG = 0.03;

const folder = mkdtempSync(join(tmpdir(), "svc-long-"));
const flags = ["--no-model", "--threads", values.threads ?? "2", "--media-root", folder, "--max-audio-mb", "4096"];
let failed = false;
try {
  await withServer(flags, async (server) => {
    const roll = dice(3);
    const said = Array.from({ length: SENTENCES }, () => sentence(roll));
    const round: Int16Array[] = [];
    for (const text of said) round.push(await say(server, text), new Int16Array(RATE / 2));
    const file = Bun.file(join(folder, "long.wav")).writer();
    file.write(wavHead(RATE));
    let [rounds, samples] = [0, 0];
    for (; samples < minutes * 60 * RATE; rounds++) {
      for (const part of round) samples += (file.write(part), part.length);
      await file.flush();
    }
    await file.end();
    const started = performance.now();
    const readings: Footprint[] = [];
    const timer = setInterval(() => readings.push(footprint(server.pid, enginesOf(server.pid, "transcription"))), 1000);
    const body = JSON.stringify({ file: "long.wav", language: "en" });
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${server.url}/v1/audio/transcriptions`, {
      method: "POST",
      headers,
      body,
      // Waits as long as it takes.
      timeout: false,
    } as RequestInit);
    const { text } = (await response.json()) as { readonly text: string };
    clearInterval(timer);
    const seconds = (performance.now() - started) / 1000;
    const length = samples / RATE;
    console.log(
      `${(length / 60).toFixed(0)} minutes in ${seconds.toFixed(0)} s: ${(length / seconds).toFixed(1)} times as fast`,
    );
    for (const share of [0.05, 0.25, 0.5, 0.75, 1]) {
      const at = readings[Math.min(readings.length - 1, Math.floor(readings.length * share))];
      if (at) console.log(`${100 * share} %: ${describeFootprint(at)}`);
    }
    const rest = readings.slice(Math.floor(readings.length / 4));
    for (const process of ["front", "engine"] as const) {
      const growth = Math.max(...rest.map((one) => one[process])) - (rest[0]?.[process] ?? 0);
      console.log(`${process}: at most ${(growth / 1e6).toFixed(0)} MB more than when a quarter was done`);
      failed ||= growth > MOST_GROWTH;
    }
    const words = Array.from({ length: rounds }, () => said.flatMap(wordsOf)).flat();
    const heard = wordsOf(text);
    const wrong = wordErrors(words, heard);
    console.log(`${heard.length} words heard of ${words.length}, ${wrong} wrong`);
    failed ||= wrong > MOST_WRONG * words.length;
  });
} finally {
  rmSync(folder, { recursive: true });
}
process.exit(failed ? 1 : 0);
