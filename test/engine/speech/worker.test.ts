// Whose sentence is said when, on a voice that hums.

import { describe, expect, test } from "bun:test";
import type { SpeechFormat, SpeechWork } from "../../../src/domain/speech.ts";
import { ProgramError } from "../../../src/engine/process/program.ts";
import { SpeechWorker, type Speaker } from "../../../src/engine/speech/child/worker.ts";
import type { FromSpeaker } from "../../../src/engine/speech/protocol.ts";

const work = (text: string, format: SpeechFormat = "pcm"): SpeechWork => ({ text, voice: "hum", speed: 1, format });

/** A worker and what it says, as text. */
function start(during: () => void = () => {}, reading: () => void = () => {}) {
  const said: string[] = [];
  const messages: FromSpeaker[] = [];
  const speaker: Speaker = {
    sampleRate: 24_000,
    sentences: ({ text }) => text.split("|"),
    async pieces(sentence) {
      setImmediate(reading);
      return sentence.replace("…", "").match(/.{1,150}/g) ?? [];
    },
    async speak(text, _, signal) {
      if (text.includes("#")) throw new Error("hoarse");
      if (text.includes("%")) throw new ProgramError("gone");
      said.push(text);
      during();
      if (text.includes("_")) await new Promise((_, reject) => (signal.onabort = () => reject(signal.reason)));
      return { samples: new Float32Array(text.includes("~") ? 240_000 : text.length), phonemes: text.length };
    },
  };
  const worker = new SpeechWorker(speaker, (message) => messages.push(message));
  const submit = (key: number, text: string, client?: string, format?: SpeechFormat) =>
    worker.submit(key, { work: work(text, format), ...(client !== undefined && { client }) });
  const turns = async (count: number) => {
    for (let turn = 0; turn < count; turn++) await worker.step();
  };
  const endOf = (key: number) =>
    messages.flatMap((message): unknown[] => {
      if (message.type === "rejected" && message.key === key) return [message.code];
      if (message.type !== "events") return [];
      return message.finished.filter((end) => end.key === key).map(({ event }) => event.type);
    });
  return { said, messages, worker, submit, turns, endOf };
}

describe("turns", () => {
  test("clients take them, however many texts one of them has", async () => {
    const { said, submit, turns } = start();
    submit(1, "a1|a2|a3", "anna");
    submit(2, "b1|b2|b3", "anna");
    submit(3, "c1|c2|c3", "carl");
    await turns(6);
    expect(said).toEqual(["a1", "c1", "b1", "c2", "a2", "c3"]);
  });

  test("requests of nobody in particular take them one by one", async () => {
    const { said, submit, turns } = start();
    submit(1, "a1|a2");
    submit(2, "b1|b2");
    await turns(4);
    expect(said).toEqual(["a1", "b1", "a2", "b2"]);
  });

  test("the last one ends its request: it does not wait for others once more", async () => {
    const { submit, turns, endOf } = start();
    submit(1, "a1|a2", "anna");
    submit(2, "b", "bert");
    await turns(2);
    expect([endOf(1), endOf(2)]).toEqual([[], ["result"]]);
  });

  test("what has nothing to say takes them, too: a thousand such sentences hold nobody up", async () => {
    const { said, submit, turns } = start();
    submit(1, `${"…|".repeat(1000)}a`, "anna");
    submit(2, "b", "bert");
    await turns(2);
    expect(said).toEqual(["b"]);
  });

  test("one is never longer than what may block the process", async () => {
    const { said, submit, turns, endOf } = start();
    submit(1, "x".repeat(400), "anna");
    submit(2, "b", "bert");
    await turns(6);
    expect(said.map(({ length }) => length)).toEqual([150, 1, 150, 100]);
    expect([endOf(1), endOf(2)]).toEqual([["result"], ["result"]]);
  });
});

test("a text that is cancelled is not said any further, nor is what was just computed sent", async () => {
  let cancel = () => {};
  const { worker, said, submit, turns, messages } = start(() => cancel());
  cancel = () => worker.cancel(1);
  submit(1, "a1|a2");
  await turns(3);
  expect(said).toEqual(["a1"]);
  expect(messages.map(({ type }) => type)).toEqual(["accepted", "started", "rejected"]);
});

test("how much is said is told behind each sentence", async () => {
  const { submit, turns, messages } = start();
  submit(1, `ab|${"x".repeat(200)}|…|cde`);
  await turns(6);
  const told = messages.flatMap((message) =>
    message.type === "events" ? message.outputs.flatMap(({ events }) => events) : [],
  );
  expect(told.flatMap((event) => (event.type === "progress" ? [event.progress] : []))).toEqual([
    { said: 2, of: 206 },
    { said: 202, of: 206 },
    { said: 206, of: 206 },
  ]);
});

test("a text without anything to say is refused", async () => {
  const { submit, turns, endOf } = start();
  submit(1, "…|…");
  await turns(3);
  expect(endOf(1)).toEqual(["invalid_value"]);
});

test("a voice that fails ends that text only, and what it says is for the log", async () => {
  const { submit, turns, endOf, messages } = start();
  submit(1, "a1|#");
  submit(2, "b1");
  await turns(5);
  expect([endOf(1), endOf(2)]).toEqual([["internal_error"], ["result"]]);
  expect(messages).toContainEqual({ type: "log", level: "error", text: "hoarse" });
  expect(JSON.stringify(messages.filter(({ type }) => type === "rejected"))).not.toContain("hoarse");
});

test("a cancel ends what is being said, and is nobody's failure", async () => {
  let cancel = () => {};
  const { worker, submit, turns, endOf, messages } = start(() => setImmediate(() => cancel()));
  cancel = () => worker.cancel(1);
  submit(1, "_");
  submit(2, "b1");
  await turns(4);
  expect([endOf(1), endOf(2)]).toEqual([["request_cancelled"], ["result"]]);
  expect(messages.filter(({ type }) => type === "log")).toEqual([]);
});

test("a text whose reader is behind is left, and goes on where it was; others take its turns meanwhile", async () => {
  const { worker, said, submit, turns, endOf } = start();
  submit(1, "a1|a2");
  submit(2, "b1|b2");
  await turns(1);
  worker.hold(1, true);
  await turns(5);
  expect([said, endOf(2)]).toEqual([["a1", "b1", "b2"], ["result"]]);
  worker.hold(1, false);
  await turns(2);
  expect([said.at(-1), endOf(1)]).toEqual(["a2", ["result"]]);
  worker.hold(7, true);
});

test("of files that are sent when they are whole one is made at a time, and no other waits for that", async () => {
  const { said, submit, turns, endOf } = start();
  submit(1, "a1|a2", "anna", "caf");
  submit(2, "b1|b2", "bert", "caf");
  submit(3, "c1|c2", "carl");
  await turns(12);
  expect(said).toEqual(["a1", "c1", "a2", "b1", "c2", "b2"]);
  expect([1, 2, 3].map(endOf)).toEqual([["result"], ["result"], ["result"]]);
});

test("a program that fails is told from what cannot be said", async () => {
  const { submit, turns, endOf } = start();
  submit(1, "%");
  await turns(1);
  expect(endOf(1)).toEqual(["engine_crashed"]);
});

test("ten seconds of sound are sent in parts, which a cancel ends", async () => {
  let cancel = () => {};
  const { worker, submit, turns, messages } = start(() => setImmediate(() => setImmediate(() => cancel())));
  cancel = () => worker.cancel(2);
  const parts = (key: number) =>
    messages.flatMap((message) =>
      message.type === "events"
        ? message.outputs.filter((output) => output.key === key && output.events[0]?.type === "audio")
        : [],
    );
  submit(1, "~");
  await turns(1);
  expect(parts(1)).toHaveLength(3);
  submit(2, "~");
  await turns(1);
  expect(parts(2).length).toBeLessThan(3);
});

test("nor is what was cancelled while it was read", async () => {
  let cancel = () => {};
  const { worker, said, submit, turns } = start(undefined, () => cancel());
  cancel = () => worker.cancel(1);
  submit(1, "a1|a2");
  await turns(3);
  expect(said).toEqual([]);
});
