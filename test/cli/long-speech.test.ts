// Texts longer than the API speaks in one request.

import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { LongSpeech, speechPortions } from "../../src/cli/long-speech.ts";
import { writeAsItComes } from "../../src/cli/write-result.ts";
import { ExitError } from "../../src/cli/exit-codes.ts";
import { LONGEST_TEXT, type SpeechFormat } from "../../src/domain/speech.ts";
import { decodeWav } from "../audio/encode/decoders.ts";
import { sharedFolder } from "../support/folders.ts";

type Body = Readonly<Record<"input" | "response_format" | "voice", string>>;

/** Speaks a text with an API that returns one sample per character, in pieces of odd sizes. */
function saying(text: string, format: SpeechFormat, isCompleted = true) {
  const asked: Body[] = [];
  let current = "";
  const ask = async (_path: string, body?: object, { id = "" } = {}) => {
    asked.push(body as Body);
    current = id;
    const pcm = new Uint8Array(Int16Array.from((body as Body).input, (character) => character.charCodeAt(0)).buffer);
    return new Response(
      new ReadableStream({
        start(controller) {
          for (let at = 0; at < pcm.length; at += 4095) controller.enqueue(pcm.slice(at, at + 4095));
          controller.close();
        },
      }),
    );
  };
  const progressOf = (id: string) => (id === current ? { done: 1, of: 2 } : undefined);
  const api = { ask, requests: { progressOf, live: () => [] }, signal: new AbortController().signal };
  return { asked, speech: new LongSpeech(api, text, format, { voice: "hum" }, isCompleted) };
}

const LONG = "This is a sentence of a book. ".repeat(2500);

describe("a long text", () => {
  test("is spoken in portions that end with a sentence", async () => {
    const portions = speechPortions(LONG);
    expect(portions).toHaveLength(3);
    expect(portions.join(" ")).toBe(LONG.trim());
    for (const one of portions) {
      expect(one.length).toBeLessThanOrEqual(LONGEST_TEXT);
      expect(one).toEndWith("book.");
    }
    expect(speechPortions(`${LONG}\n${"* ".repeat(LONGEST_TEXT)}`)).toHaveLength(3);
    expect(speechPortions("* ".repeat(LONGEST_TEXT))).toHaveLength(1);
  });

  test("becomes one file with its length", async () => {
    const { asked, speech } = saying(LONG, "wav");
    const file = Buffer.concat(await Array.fromAsync(speech.file()));
    expect(asked.map(({ input: _input, ...wishes }) => wishes)).toEqual(
      Array.from({ length: 3 }, () => ({ voice: "hum", response_format: "pcm" })),
    );
    expect(decodeWav(file).promised).toBeUndefined();
    speech.complete(file);
    const { samples, sampleRate, promised } = decodeWav(file);
    expect([sampleRate, promised]).toEqual([24_000, samples.length]);
    expect(String.fromCharCode(...samples.subarray(0, 100))).toBe(LONG.slice(0, 100));
    expect(samples).toHaveLength(asked.reduce((sum, { input }) => sum + input.length, 0));
  });

  test("reports progress by the number of spoken characters", async () => {
    const { asked, speech } = saying(LONG, "mp3");
    const file = speech.file();
    expect(speech.progress.done).toBe(0);
    while (asked.length < 2) await file.next();
    const [first = 0, second = 0] = asked.map(({ input }) => input.length);
    expect(speech.progress.done).toBe(first + Math.round(second / 2));
    while (!(await file.next()).done);
    expect(speech.progress.done).toBe(speech.progress.total);
  });

  test("that is one request becomes a file with its length; only where none can be filled in, it passes through", async () => {
    const text = "Two sentences. Of one request.";
    const { asked, speech } = saying(text, "wav");
    const file = Buffer.concat(await Array.fromAsync(speech.file()));
    speech.complete(file);
    expect(decodeWav(file).promised).toBe(text.length);
    const piped = saying(text, "wav", false);
    await Array.fromAsync(piped.speech.file());
    expect([...asked, ...piped.asked].map(({ response_format: format }) => format)).toEqual(["pcm", "wav"]);
  });

  test("that is short is sent in one request, in the requested format", async () => {
    const { asked, speech } = saying("Hello.", "opus");
    await Array.fromAsync(speech.file());
    expect(asked).toEqual([{ voice: "hum", input: "Hello.", response_format: "opus" }]);
  });
});

describe("a file written while its content arrives", () => {
  const folder = sharedFolder();
  const at = (name: string) => join(folder, name);
  const failing = async function* (...parts: string[]) {
    for (const part of parts) yield Buffer.from(part);
    await Bun.sleep(20);
    throw new ExitError("failure", "the engine is gone");
  };
  const untouched = () => {};

  test("gets its folders, and its header is corrected at the end", async () => {
    const parts = async function* () {
      yield Buffer.from("open ");
      yield Buffer.from("end".repeat(100));
    };
    await writeAsItComes(at("new/folder/x"), parts(), (head) => head.set(Buffer.from("done")));
    expect(readFileSync(at("new/folder/x"), "latin1")).toBe(`done ${"end".repeat(100)}`);
  });

  test("does not exist before there is content, and stays when the rest fails", async () => {
    await expect(writeAsItComes(at("none"), failing(), untouched)).rejects.toThrow("the engine is gone");
    expect(existsSync(at("none"))).toBe(false);
    await expect(writeAsItComes(at("some"), failing("some"), untouched)).rejects.toThrow("the engine is gone");
    expect(readFileSync(at("some"), "latin1")).toBe("some");
    await expect(writeAsItComes(at("some/x"), failing("some"), untouched)).rejects.toThrow(
      "some/x cannot be written: there is a file of this name.",
    );
  });
});
