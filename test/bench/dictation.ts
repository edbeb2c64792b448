// `bun test/bench/dictation.ts`: measures the time from an utterance's last sound to its text through /v1/realtime,
// spoken by svc's own voice in real time. Prints Markdown rows. Needs `bun build.ts media`.
//   --utterances N (8)   --threads N (2)

import { parseArgs } from "node:util";
import { dice } from "../support/dice.ts";
import { RealtimeClient } from "../support/realtime-client.ts";
import { withServer, type TestServer } from "../support/server.ts";
import { sentence, wordErrors, wordsOf } from "./sentences.ts";
import { RATE, say, wav } from "./spoken.ts";
import { median } from "./stats.ts";

const { values } = parseArgs({ options: { utterances: { type: "string" }, threads: { type: "string" } } });
const utterances = Number(values.utterances ?? 8);
const threads = Number(values.threads ?? 2);

/** A tenth of a second, as microphones send it. */
const CHUNK = RATE / 10;
/** Quieter samples count as silence. */
const LOUD = 300;
/** A longer pause within a sentence would end the utterance. */
const LONGEST_PAUSE = 0.4 * RATE;

interface Spoken {
  readonly text: string;
  /** Samples from the first sound to the last. */
  readonly samples: Int16Array;
}

interface Timing {
  /** Seconds from the last sound until the end was detected, and until the whole text arrived. */
  readonly noticed: number;
  readonly text: number;
  readonly errors: number;
}

/** Speaks a text, removes the silence around the speech and shortens long pauses in it. */
async function utterance(server: TestServer, text: string): Promise<Spoken> {
  const all = await say(server, text);
  const isLoud = (sample: number) => Math.abs(sample) > LOUD;
  const sound = all.slice(all.findIndex(isLoud), all.findLastIndex(isLoud) + 1);
  let quiet = 0;
  return { text, samples: sound.filter((sample) => (quiet = isLoud(sample) ? 0 : quiet + 1) <= LONGEST_PAUSE) };
}

/** Sends sound in real time until `done`; resolves with the time at which the last of `samples` was sent. */
function speaker(client: RealtimeClient) {
  let next = performance.now();
  return async (samples: Int16Array): Promise<number> => {
    for (let at = 0; at < samples.length; at += CHUNK) {
      const chunk = samples.subarray(at, at + CHUNK);
      next += (1000 * chunk.length) / RATE;
      // A chunk is sent once it has been spoken.
      await Bun.sleep(Math.max(0, next - performance.now()));
      client.append(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    }
    return performance.now();
  };
}

async function dictate(server: TestServer, all: readonly Spoken[], isCommitted: boolean): Promise<Timing[]> {
  const client = await RealtimeClient.open(server.url);
  client.set({ transcription: { language: "en" }, ...(isCommitted && { turn_detection: null }) });
  const send = speaker(client);
  const timings: Timing[] = [];
  await send(new Int16Array(RATE));
  for (const { text, samples } of all) {
    const ended = await send(samples);
    if (isCommitted) client.commit();
    const heard = (async () => {
      await client.next("input_audio_buffer.committed");
      const noticed = performance.now();
      const { transcript = "" } = await client.completed();
      const whole = performance.now();
      const errors = wordErrors(wordsOf(text), wordsOf(transcript));
      return { noticed: (noticed - ended) / 1000, text: (whole - ended) / 1000, errors };
    })();
    let timing: Timing | undefined;
    while (!timing) timing = (await Promise.race([heard, send(new Int16Array(CHUNK)).then(() => undefined)])) ?? timing;
    timings.push(timing);
    await send(new Int16Array(RATE / 2));
  }
  client.close();
  return timings;
}

/** Runs `work` while a recording of some hours is transcribed for another client. */
async function beside(server: TestServer, sound: Spoken, work: () => Promise<void>): Promise<void> {
  const samples = new Int16Array(RATE * 3600);
  for (let at = 0; at + sound.samples.length < samples.length; at += sound.samples.length + RATE / 4) {
    samples.set(sound.samples, at);
  }
  const abort = new AbortController();
  const body = new FormData();
  body.append("language", "en");
  body.append("file", new Blob([wav(samples)]));
  const batch = fetch(`${server.url}/v1/audio/transcriptions`, { method: "POST", body, signal: abort.signal });
  batch.catch(() => {});
  await Bun.sleep(5000);
  try {
    await work();
  } finally {
    abort.abort();
  }
}

const fixed = (value: number) => value.toFixed(2);
const row = (...cells: (string | number)[]) => console.log(`| ${cells.join(" | ")} |`);

await withServer(["--threads", String(threads), "--ctx", "1024"], async (server) => {
  const roll = dice(11);
  const sets: [string, Spoken[]][] = [];
  for (const clauses of [1, 3]) {
    const spoken: Spoken[] = [];
    for (let count = 0; count < utterances; count++) {
      const parts = Array.from({ length: clauses }, () => sentence(roll).slice(0, -1));
      spoken.push(await utterance(server, `${parts.join(" and ")}.`));
    }
    const seconds = median(spoken.map(({ samples }) => samples.length / RATE));
    sets.push([`${seconds.toFixed(1)} s`, spoken]);
  }
  // Loads and warms up the model.
  await dictate(server, sets[0]?.[1].slice(0, 1) ?? [], true);

  row("utterance", "end", "beside", "end noticed after, s", "text after, s: median", "worst", "wrong words");
  row("---", "---", "---", "---", "---", "---", "---");
  const measure = async (name: string) => {
    for (const [length, spoken] of sets) {
      for (const isCommitted of [false, true]) {
        const timings = await dictate(server, spoken, isCommitted);
        const texts = timings.map(({ text }) => text);
        const words = spoken.reduce((sum, { text }) => sum + wordsOf(text).length, 0);
        const errors = timings.reduce((sum, one) => sum + one.errors, 0);
        const noticed = fixed(median(timings.map((one) => one.noticed)));
        const end = isCommitted ? "committed by the client" : "500 ms of silence";
        row(length, end, name, noticed, fixed(median(texts)), fixed(Math.max(...texts)), `${errors} of ${words}`);
      }
    }
  };
  await measure("nothing");
  const [, long] = sets[1] ?? [];
  if (long?.[0]) await beside(server, long[0], () => measure("one long recording"));
});
