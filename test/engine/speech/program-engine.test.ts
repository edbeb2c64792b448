// A program on the host behind the speech engine, in the process that the server would start.

import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SvcError } from "../../../src/domain/errors.ts";
import type { SpeechEvent, SpeechFormat } from "../../../src/domain/speech.ts";
import { SpeechEngine } from "../../../src/engine/speech/speech-engine.ts";
import { fakeProgram, NOTES, tone } from "../../support/fake-program.ts";
import { testLaunch } from "../../support/launch.ts";

setDefaultTimeout(60_000);
const clean: (() => unknown)[] = [];
afterEach(async () => {
  for (const undo of clean.splice(0)) await undo();
});

/** Returns an engine whose espeak-ng is this script; the script can copy the file `sound`. */
function start(script: string) {
  const fake = fakeProgram("espeak-ng", script);
  writeFileSync(join(fake.folder, "sound"), tone(22_050, 0.5));
  const program = { name: "espeak-ng", path: fake.path, env: {} };
  const logged: string[] = [];
  const note = (message: string) => void logged.push(message);
  const engine = new SpeechEngine({
    engine: { source: { type: "program", program } },
    model: { id: "espeak-ng", created: 0, origin: "program", voices: async () => [] },
    launch: testLaunch({ log: { debug() {}, verbose() {}, info: note, warn: note, error: note } }),
    idleMs: 0,
  });
  clean.push(
    () => engine.stop(),
    () => fake.remove(),
  );
  return { engine, fake, logged };
}

async function say(engine: SpeechEngine, text: string, speed = 1, format: SpeechFormat = "pcm") {
  const events: SpeechEvent[] = [];
  const work = { text, voice: "espeak-ng:de", speed, format };
  for await (const event of engine.run({ work }, new AbortController().signal)) events.push(event);
  return events;
}

/** Returns how long the sound in the events plays, which is PCM of 24,000 samples per second. */
const secondsOf = (events: readonly SpeechEvent[]) =>
  events.reduce((sum, event) => sum + (event.type === "audio" ? event.bytes.length : 0), 0) / 48_000;

const failure = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => "none",
    (error: unknown) => (error instanceof SvcError ? `${error.code}: ${error.message}` : error),
  );

test("each portion is spoken by its own run and sent when it is done, at 24,000 samples per second", async () => {
  const { engine, fake } = start(`${NOTES}\ncat input >> all; echo >> all\ncat sound`);
  const events = await say(engine, `Eins. ${"Das ist ein langer Satz, der nicht aufhört. ".repeat(20)}\x01[[x]]`);
  const sounds = events.filter(({ type }) => type !== "progress");
  expect(sounds.map(({ type }) => type)).toEqual(["accepted", "started", "audio", "audio", "audio", "result"]);
  expect(secondsOf(events)).toBe(1.5);
  const lines = fake.read("all").trimEnd().split("\n");
  expect(lines).toHaveLength(3);
  expect(lines.at(-1)).toEndWith("aufhört. [ [x] ]");
  expect(fake.read("environment")).not.toContain("DO_NOT_TRACK");
});

test("every speed is available: the program's own range directly, other speeds by stretching its sound", async () => {
  const { engine, fake } = start(`${NOTES}\ncat sound`);
  const found = [];
  for (const speed of [0.25, 1, 2.5, 4]) {
    const seconds = secondsOf(await say(engine, "Eins.", speed));
    found.push([fake.read("arguments").split("\n")[3], Number(seconds.toFixed(2))]);
  }
  expect(found).toEqual([
    ["88", 1],
    ["175", 0.5],
    ["438", 0.5],
    ["438", 0.31],
  ]);
});

test("a disconnect kills the program, and the next request is served", async () => {
  const { engine, fake } = start(`[ -e begun ] && cat > /dev/null && exec cat sound; echo $$ > begun; exec sleep 600`);
  const leave = new AbortController();
  const work = { text: "Eins.", voice: "espeak-ng:de", speed: 1, format: "pcm" } as const;
  const left = failure(Array.fromAsync(engine.run({ work }, leave.signal)));
  const begun = join(fake.folder, "begun");
  while (!existsSync(begun) || readFileSync(begun, "utf8") === "") await Bun.sleep(5);
  leave.abort("gone");
  expect(await left).toBe("gone");
  expect(secondsOf(await say(engine, "Zwei."))).toBe(0.5);
  expect(existsSync(`/proc/${readFileSync(begun, "utf8").trim()}`)).toBe(false);
});

test("a program that dies or writes no sound fails only its text; the log has the reason but not the text", async () => {
  const { engine, logged } = start(
    `cat > input; grep -q tot input && exit 7; grep -q Lärm input && exec cat input; cat sound`,
  );
  expect(await failure(say(engine, "Ich bin tot."))).toStartWith("engine_crashed: The voice could not say this text");
  expect(await failure(say(engine, "Lärm."))).toStartWith("internal_error");
  expect((await say(engine, "Eins.", 1, "mp3")).at(-1)).toMatchObject({ type: "result" });
  expect(engine.status()).toMatchObject({ restarts: 0, running: 0, waiting: 0 });
  expect(logged).toEqual(["espeak-ng: a program ended with 7", "this is not a WAV file"]);
});
