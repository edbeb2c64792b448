import { expect, test } from "bun:test";
import { LISTENING_MEMORY, LISTENING_WINDOW } from "../../../ffi/whisper/api.ts";
import { USUAL_TURNS } from "../../../src/domain/live.ts";
import type { ListeningWork } from "../../../src/domain/transcription.ts";
import { Listener } from "../../../src/engine/transcription/child/listener.ts";
import type { FromTranscriber } from "../../../src/engine/transcription/protocol.ts";

/** Returns a listener that reports each window's first sample as the speech value, and counts windows in its memory. */
function start({ detectsSpeech = true, fails = false } = {}) {
  const messages: FromTranscriber[] = [];
  let noticed = 0;
  const listen = (samples: Float32Array, memory: Float32Array) => {
    if (fails) throw new Error("out of memory");
    const windows = samples.length / LISTENING_WINDOW;
    memory[0] = (memory[0] ?? 0) + windows;
    return Float32Array.from({ length: windows }, (_, at) => samples[at * LISTENING_WINDOW] ?? 0);
  };
  // One sample too few, as a real converter may return.
  const convert = (samples: Float32Array) => samples.filter((_, at) => at % 3 < 2).subarray(0, -1);
  const audio = { openConverter: () => ({ convert, close: () => {} }) };
  const listener = new Listener(
    { listen },
    audio as never,
    detectsSpeech,
    (message) => messages.push(message),
    () => noticed++,
  );
  const hear = (work: ListeningWork) => {
    listener.submit(7, work);
    const [last] = messages.splice(0);
    const end = last?.type === "events" ? last.finished[0]?.event : undefined;
    return end?.type === "heard" ? end.heard : undefined;
  };
  return { hear, listener, messages, noticed: () => noticed };
}

/** Returns frames at 24 kHz, each filled with one value. */
function sound(...values: readonly number[]): ListeningWork["sound"] {
  const samples = Int16Array.from(
    { length: values.length * 768 },
    (_, at) => (values[Math.floor(at / 768)] ?? 0) * 2 ** 15,
  );
  return { format: { encoding: "pcm16", rate: 24_000 }, bytes: new Uint8Array(samples.buffer) };
}

test("earlier sound precedes new sound as context, and is not evaluated again", () => {
  const { hear } = start();
  const first = hear({ sound: sound(0.25, 0.75), known: 0 });
  expect([...(first?.speech ?? [])]).toEqual([0.25, 0.75]);
  expect(first?.memory).toHaveLength(LISTENING_MEMORY);
  const second = hear({ sound: sound(0.75, 0.5, 0.125), known: 1, ...(first && { memory: first.memory }) });
  expect([...(second?.speech ?? [])]).toEqual([0.5, 0.125]);
  expect(second?.memory[0]).toBe(4);
});

test("only speech counts as speaking", () => {
  const { hear, noticed } = start();
  hear({ sound: sound(0.25, 0.5), known: 0 });
  expect(noticed()).toBe(0);
  hear({ sound: sound(0.25, 0.75), known: 0 });
  expect(noticed()).toBe(1);
});

test("without a detector all sound counts as speech, the less likely the quieter it is", () => {
  const { hear } = start({ detectsSpeech: false });
  const [silent = 0, quiet = 0, loud = 0] = hear({ sound: sound(0, 0, 0.25, 0.75), known: 1 })?.speech ?? [];
  expect([silent >= USUAL_TURNS.threshold, quiet > silent, loud > quiet]).toEqual([true, true, true]);
});

test("a detector that fails refuses the work with a message, and the log has the reason", () => {
  const { listener, messages } = start({ fails: true });
  listener.submit(7, { sound: sound(0), known: 0 });
  expect(messages).toEqual([
    { type: "log", level: "error", text: "out of memory" },
    { type: "rejected", key: 7, code: "internal_error", message: expect.stringContaining("log") },
  ]);
});
