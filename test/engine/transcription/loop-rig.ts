// The loop of a transcription engine over recordings that are only names, with whisper.cpp in memory.

import type { Span, Whisper } from "../../../ffi/whisper/api.ts";
import { SvcError } from "../../../src/domain/errors.ts";
import { SAMPLE_RATE } from "../../../src/audio/decode/sound-tools.ts";
import { TranscriptionLoop } from "../../../src/engine/transcription/child/loop.ts";
import type { FromTranscriber } from "../../../src/engine/transcription/protocol.ts";
import type { TranscriptionWork, UtteranceWork } from "../../../src/domain/transcription.ts";
import { FakeWhisper } from "../../support/fake-whisper.ts";

/** A loop over recordings named by their seconds of speech, or silent ones; the test performs the steps. */
export function start({ parallel = 2, threads = 4, others = 0 } = {}) {
  const whisper = new FakeWhisper();
  const messages: FromTranscriber[] = [];
  const opened: string[] = [];
  const closed: string[] = [];
  const open = async (work: TranscriptionWork | UtteranceWork) => {
    if ("sound" in work) return { windows: oneWindow(new Float32Array(work.sound.bytes.length)), share: () => 1 };
    const { path } = work;
    opened.push(path);
    if (path === "broken") throw new SvcError("invalid_value", "'file' must be audio.", { param: "file" });
    const state = { share: 0 };
    return { windows: windowsOf(path, state), share: () => state.share };
  };
  async function* windowsOf(path: string, state: { share: number }): AsyncGenerator<Float32Array, void, void> {
    const all = parseInt(path) * SAMPLE_RATE;
    try {
      for (let left = all; left > 0; left -= SAMPLE_RATE * 10) {
        const count = Math.min(left, SAMPLE_RATE * 10);
        state.share = 1 - (left - count) / all;
        const samples = new Float32Array(count).fill(
          path.endsWith("silent") ? 0 : /phrases|words/.test(path) ? 0.5 : 1,
        );
        if (path.endsWith("phrases")) {
          for (const at of [4, 9]) samples.fill(0, at * SAMPLE_RATE, (at + 1) * SAMPLE_RATE);
        }
        if (path.endsWith("words")) samples.fill(0, left % (SAMPLE_RATE * 20) === 0 ? SAMPLE_RATE : 0);
        yield samples;
      }
    } finally {
      closed.push(path);
    }
  }
  const findSpeech = (samples: Float32Array) => {
    if (samples.includes(0.5)) return spansOf(samples);
    return samples[0] === 1 ? [{ start: 0, end: samples.length }] : [];
  };
  const clock = { ms: 0 };
  const now = () => clock.ms;
  const options = { parallel, threads, othersShare: () => others, now, open, sizeOf: parseInt, findSpeech };
  const loop = new TranscriptionLoop(whisper as unknown as Whisper, options, (message) => messages.push(message));
  const settle = async () => {
    for (let idle = 0; idle < 3; idle = loop.step() ? 0 : idle + 1) await new Promise(setImmediate);
  };
  const usual = { field: "file", translate: false, temperature: 0, words: false, language: "en" };
  const work = (path: string, more: object = {}) => ({ ...usual, path, ...more });
  let key = 0;
  const queue = (path: string, more: object = {}, client?: string) => {
    loop.submit(++key, { work: work(path, more), ...(client !== undefined && { client }) });
    return key;
  };
  /** Submits an utterance of this many seconds; its samples are zero. */
  const utter = async (seconds: number) => {
    const sound = {
      format: { encoding: "ulaw", rate: SAMPLE_RATE },
      bytes: new Uint8Array(seconds * SAMPLE_RATE),
    } as const;
    loop.submit(++key, { work: { translate: false, temperature: 0, words: false, language: "en", sound } });
    await settle();
    return key;
  };
  const submit = async (path: string, more: object = {}, client?: string) => {
    const own = queue(path, more, client);
    await settle();
    return own;
  };
  const textOf = (wanted: number) =>
    messages.flatMap((message) => {
      if (message.type !== "events") return [];
      const own = message.outputs.filter((output) => output.key === wanted).flatMap(({ events }) => events);
      return own.flatMap((event) => (event.type === "segment" ? event.segment.text : []));
    });
  const endOf = (wanted: number) =>
    messages.flatMap((message): unknown[] => {
      if (message.type === "rejected" && message.key === wanted) return [message.code];
      if (message.type !== "events") return [];
      return message.finished.filter((end) => end.key === wanted).map(({ event }) => event);
    })[0];
  return { whisper, loop, clock, messages, opened, closed, work, queue, submit, utter, settle, textOf, endOf };
}

async function* oneWindow(samples: Float32Array): AsyncGenerator<Float32Array, void, void> {
  yield samples;
}

/** Returns the spans that are not silent. */
function spansOf(samples: Float32Array): Span[] {
  const spans: Span[] = [];
  for (let at = 0; at < samples.length; at++) {
    if (samples[at] === 0) continue;
    const end = samples.indexOf(0, at);
    spans.push({ start: at, end: end < 0 ? samples.length : end });
    at = spans.at(-1)?.end ?? at;
  }
  return spans;
}
