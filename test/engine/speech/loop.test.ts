// The order in which sentences are spoken, with a voice that hums.

import { describe, expect, test } from "bun:test";
import type { SpeechFormat, SpeechWork } from "../../../src/domain/speech.ts";
import { ProgramError } from "../../../src/engine/process/program.ts";
import { SpeechLoop, type Speaker } from "../../../src/engine/speech/child/loop.ts";
import type { FromSpeaker } from "../../../src/engine/speech/protocol.ts";

const work = (text: string, format: SpeechFormat = "pcm"): SpeechWork => ({ text, voice: "hum", speed: 1, format });

/** Returns a loop and its output as text. */
function start(during: () => void = () => {}, reading: () => void = () => {}) {
  const said: string[] = [];
  const messages: FromSpeaker[] = [];
  const speaker: Speaker = {
    sentences: ({ text }) => text.split("|"),
    async pieces(sentence, _, signal) {
      setImmediate(reading);
      if (sentence.includes("?")) await new Promise((_, reject) => (signal.onabort = () => reject(signal.reason)));
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
  const loop = new SpeechLoop(speaker, (message) => messages.push(message));
  const submit = (key: number, text: string, client?: string, format?: SpeechFormat) =>
    loop.submit(key, { work: work(text, format), ...(client !== undefined && { client }) });
  const turns = async (count: number) => {
    for (let turn = 0; turn < count; turn++) await loop.step();
  };
  const endOf = (key: number) =>
    messages.flatMap((message): unknown[] => {
      if (message.type === "rejected" && message.key === key) return [message.code];
      if (message.type !== "events") return [];
      return message.finished.filter((end) => end.key === key).map(({ event }) => event.type);
    });
  return { said, messages, loop, submit, turns, endOf };
}

describe("turns", () => {
  test("go round between clients, however many texts each has", async () => {
    const { said, submit, turns } = start();
    submit(1, "a1|a2|a3", "anna");
    submit(2, "b1|b2|b3", "anna");
    submit(3, "c1|c2|c3", "carl");
    await turns(6);
    expect(said).toEqual(["a1", "c1", "b1", "c2", "a2", "c3"]);
  });

  test("go round between requests without a client", async () => {
    const { said, submit, turns } = start();
    submit(1, "a1|a2");
    submit(2, "b1|b2");
    await turns(4);
    expect(said).toEqual(["a1", "b1", "a2", "b2"]);
  });

  test("end with the last sentence of a request, which waits for no further turn", async () => {
    const { submit, turns, endOf } = start();
    submit(1, "a1|a2", "anna");
    submit(2, "b", "bert");
    await turns(2);
    expect([endOf(1), endOf(2)]).toEqual([[], ["result"]]);
  });

  test("are also taken by sentences with nothing to speak: a thousand of them block nobody", async () => {
    const { said, submit, turns } = start();
    submit(1, `${"…|".repeat(1000)}a`, "anna");
    submit(2, "b", "bert");
    await turns(2);
    expect(said).toEqual(["b"]);
  });

  test("are never longer than the process may be blocked", async () => {
    const { said, submit, turns, endOf } = start();
    submit(1, "x".repeat(400), "anna");
    submit(2, "b", "bert");
    await turns(6);
    expect(said.map(({ length }) => length)).toEqual([150, 1, 150, 100]);
    expect([endOf(1), endOf(2)]).toEqual([["result"], ["result"]]);
  });
});

test("a cancelled text is not spoken any further, and sound just computed for it is not sent", async () => {
  let cancel = () => {};
  const { loop, said, submit, turns, messages } = start(() => cancel());
  cancel = () => loop.cancel(1);
  submit(1, "a1|a2");
  await turns(3);
  expect(said).toEqual(["a1"]);
  expect(messages.map(({ type }) => type)).toEqual(["accepted", "started", "rejected"]);
});

test("progress is reported after each sentence", async () => {
  const { submit, turns, messages } = start();
  submit(1, `ab|${"x".repeat(200)}|…|cde`);
  await turns(6);
  const told = messages.flatMap((message) =>
    message.type === "events" ? message.outputs.flatMap(({ events }) => events) : [],
  );
  expect(told.flatMap((event) => (event.type === "progress" ? [event.progress] : []))).toEqual([
    { done: 2, of: 206 },
    { done: 202, of: 206 },
    { done: 206, of: 206 },
  ]);
});

test("a text with nothing to speak is refused", async () => {
  const { submit, turns, endOf } = start();
  submit(1, "…|…");
  await turns(3);
  expect(endOf(1)).toEqual(["invalid_value"]);
});

test("a voice that fails ends only that text, and its message goes to the log", async () => {
  const { submit, turns, endOf, messages } = start();
  submit(1, "a1|#");
  submit(2, "b1");
  await turns(5);
  expect([endOf(1), endOf(2)]).toEqual([["internal_error"], ["result"]]);
  expect(messages).toContainEqual({ type: "log", level: "error", text: "hoarse" });
  expect(JSON.stringify(messages.filter(({ type }) => type === "rejected"))).not.toContain("hoarse");
});

test.each<readonly [string, string, (cancel: () => void) => Parameters<typeof start>]>([
  ["spoken", "_", (cancel) => [() => setImmediate(cancel)]],
  ["read", "?", (cancel) => [() => {}, cancel]],
])(
  "a cancel ends a sentence that is being %s; others have their turns, and no failure is logged",
  async (_, text, at) => {
    let cancel = () => {};
    const { loop, submit, turns, endOf, messages } = start(...at(() => cancel()));
    cancel = () => loop.cancel(1);
    submit(1, text);
    submit(2, "b1");
    await turns(4);
    expect([endOf(1), endOf(2)]).toEqual([["request_cancelled"], ["result"]]);
    expect(messages.filter(({ type }) => type === "log")).toEqual([]);
  },
);

test("a text whose reader is behind is paused and resumed, and others use its turns meanwhile", async () => {
  const { loop, said, submit, turns, endOf } = start();
  submit(1, "a1|a2");
  submit(2, "b1|b2");
  await turns(1);
  loop.hold(1, true);
  await turns(5);
  expect([said, endOf(2)]).toEqual([["a1", "b1", "b2"], ["result"]]);
  loop.hold(1, false);
  await turns(2);
  expect([said.at(-1), endOf(1)]).toEqual(["a2", ["result"]]);
  loop.hold(7, true);
});

test("files that are sent whole are made one at a time, and other texts do not wait for them", async () => {
  const { said, submit, turns, endOf } = start();
  submit(1, "a1|a2", "anna", "caf");
  submit(2, "b1|b2", "bert", "caf");
  submit(3, "c1|c2", "carl");
  await turns(12);
  expect(said).toEqual(["a1", "c1", "a2", "b1", "c2", "b2"]);
  expect([1, 2, 3].map(endOf)).toEqual([["result"], ["result"], ["result"]]);
});

test("a file that is sent whole is sent in small messages, and one of more than ten minutes before its end", async () => {
  const { submit, turns, messages, endOf } = start();
  const sizes = () =>
    messages.flatMap((message) =>
      message.type === "events"
        ? message.outputs.flatMap(({ events }) =>
            events.flatMap((one) => (one.type === "audio" ? one.bytes.length : [])),
          )
        : [],
    );
  submit(1, Array.from({ length: 62 }, () => "~").join("|"), "anna", "caf");
  await turns(60);
  expect(sizes()).toEqual([]);
  await turns(1);
  expect(sizes().length).toBeGreaterThan(150);
  await turns(1);
  expect(endOf(1)).toEqual(["result"]);
  expect(Math.max(...sizes())).toBeLessThan(200_000);
});

test("the failure of a program is distinguished from text that cannot be spoken", async () => {
  const { submit, turns, endOf } = start();
  submit(1, "%");
  await turns(1);
  expect(endOf(1)).toEqual(["engine_crashed"]);
});

test("ten seconds of sound are sent in parts, and a cancel stops them", async () => {
  let cancel = () => {};
  const { loop, submit, turns, messages } = start(() => setImmediate(() => setImmediate(() => cancel())));
  cancel = () => loop.cancel(2);
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

test("a text that is cancelled while it is prepared is not spoken", async () => {
  let cancel = () => {};
  const { loop, said, submit, turns } = start(undefined, () => cancel());
  cancel = () => loop.cancel(1);
  submit(1, "a1|a2");
  await turns(3);
  expect(said).toEqual([]);
});
