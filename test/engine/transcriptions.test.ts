// The real program with Whisper base: what is said, in every kind of answer; cancelling, crashes, and what is no speech.

import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { errorOf } from "../support/fault.ts";
import { childrenOf } from "../support/processes.ts";
import { withServer, type TestServer } from "../support/server.ts";
import { isBuilt, JFK_WORDS, wordsOf } from "../native/whisper-harness.ts";
import { machine, music } from "../support/unspoken.ts";
import { until } from "../support/until.ts";
import { wavOf } from "../support/wav.ts";

setDefaultTimeout(120_000);

const FLAGS = ["--ctx", "1024", "--parallel", "2", "--threads", "1"];
const sounds = join(import.meta.dir, "../fixtures/sounds");
const jfk = Bun.file(join(sounds, "jfk.wav"));

const wav = (samples: Int16Array): Blob => new Blob([wavOf(samples)]);

/** What is said until the first pause. */
const clip = async (): Promise<Blob> =>
  wav(new Int16Array((await jfk.arrayBuffer()).slice(44)).subarray(0, 2.3 * 16_000));
const CLIP_WORDS = JFK_WORDS.slice(0, 5);

/** The speech of the fixture so many times over. */
async function repeated(times: number): Promise<Blob> {
  const once = new Int16Array((await jfk.arrayBuffer()).slice(44));
  const all = new Int16Array(once.length * times);
  for (let at = 0; at < times; at++) all.set(once, at * once.length);
  return wav(all);
}

async function ask(
  { url }: TestServer,
  file: Blob,
  fields: Readonly<Record<string, string>> = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  body.append("file", file, "sound");
  return fetch(`${url}/v1/audio/transcriptions`, { method: "POST", body, headers });
}

/** Samples of floats as a recording. */
const recorded = (samples: Float32Array): Blob => wav(Int16Array.from(samples, (sample) => 32_767 * sample));

interface Answer {
  readonly text: string;
  readonly language: string;
  readonly duration: number;
  readonly segments: readonly { readonly start: number; readonly end: number; readonly text: string }[];
  readonly words: readonly { readonly word: string; readonly start: number; readonly end: number }[];
}

async function running({ url }: TestServer): Promise<number> {
  const { engines } = (await (await fetch(`${url}/health`)).json()) as { engines: { kind: string; running: number }[] };
  return engines.find(({ kind }) => kind === "transcription")?.running ?? 0;
}

describe.skipIf(!isBuilt)("speech to text", () => {
  test("tells what is said and when; several requests at once are told apart", async () => {
    await withServer(FLAGS, async (server) => {
      const verbose = { response_format: "verbose_json", "timestamp_granularities[]": "word" };
      const [whole, plain, silence, song, hum, nothing] = await Promise.all([
        ask(server, jfk, verbose),
        ask(server, await clip(), { response_format: "text", language: "en" }),
        ask(server, wav(new Int16Array(32_000))),
        ask(server, recorded(music(5))),
        ask(server, recorded(machine(3)), { stream: "true" }),
        ask(server, new Blob(["no sound at all"])),
      ]);
      const answer = (await whole.json()) as Answer;
      expect(wordsOf(answer.text)).toEqual(JFK_WORDS);
      expect([answer.language, answer.duration]).toEqual(["english", 11]);
      expect(answer.words.flatMap(({ word }) => wordsOf(word))).toEqual(JFK_WORDS);
      const times = answer.words.flatMap(({ start, end }) => [start, end]);
      expect(times).toEqual(times.toSorted((a, b) => a - b));
      // What is asked first, and after the pause before it.
      const asked = answer.words.find(({ word }) => word === "ask");
      expect(asked?.start).toBeGreaterThan(2.5);
      expect(asked?.start).toBeLessThan(4);
      expect(wordsOf(await plain.text())).toEqual(CLIP_WORDS);
      for (const unspoken of [silence, song]) {
        expect([unspoken.status, (await errorOf(unspoken)).code]).toEqual([422, "no_speech"]);
      }
      const event = await hum.text();
      expect([hum.status, event]).toEqual([200, expect.stringContaining('"code":"no_speech"')]);
      expect(event).not.toContain("transcript.text");
      expect([nothing.status, (await errorOf(nothing)).code]).toEqual([400, "invalid_value"]);
    });
  });

  test("answers in a conversation, for the loaded model and for svc-system", async () => {
    await withServer([...FLAGS, "--transcribe-input"], async ({ url }) => {
      const data = Buffer.from(await (await clip()).arrayBuffer()).toBase64();
      for (const model of ["", "svc-system"]) {
        const content = [{ type: "input_audio", input_audio: { data, format: "wav" } }];
        const body = { model, max_tokens: 4, messages: [{ role: "user", content }] };
        const response = await fetch(`${url}/v1/chat/completions`, { method: "POST", body: JSON.stringify(body) });
        const { svc_transcriptions, usage } = (await response.json()) as {
          svc_transcriptions: { text: string; duration: number; locale: string }[];
          usage: { prompt_tokens: number };
        };
        const [heard] = svc_transcriptions;
        expect([wordsOf(heard?.text ?? ""), heard?.duration, heard?.locale]).toEqual([CLIP_WORDS, 2.3, "en"]);
        expect(usage.prompt_tokens).toBeGreaterThan(CLIP_WORDS.length);
      }
    });
  });

  test("a long recording is cancelled in the middle; a killed engine fails its work and is replaced", async () => {
    await withServer(FLAGS, async (server) => {
      const long = await repeated(60);
      const cancelled = ask(server, long, { language: "en" }, { "x-request-id": "long" });
      await until(async () => (await running(server)) === 1, 30_000);
      await fetch(`${server.url}/v1/chat/completions/long/cancel`, { method: "POST" });
      expect([(await cancelled).status, await running(server)]).toEqual([499, 0]);

      const before = childrenOf(server.pid);
      const lost = ask(server, long, { language: "en" });
      await until(async () => (await running(server)) === 1, 30_000);
      process.kill(before.at(-1) ?? 0, "SIGKILL");
      const answer = await lost;
      expect([answer.status, (await errorOf(answer)).code]).toEqual([500, "engine_crashed"]);
      expect(wordsOf(await (await ask(server, await clip(), { response_format: "text" })).text())).toEqual(CLIP_WORDS);
    });
  });
});
