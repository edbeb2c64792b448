// The speech engine over a process whose voice hums.

import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { fileURLToPath } from "node:url";
import type { SpeechEvent, SpeechWork } from "../../../src/domain/speech.ts";
import { SpeechEngine, type SpeechEngineOptions } from "../../../src/engine/speech/speech-engine.ts";
import { testLaunch } from "../../support/launch.ts";
import { rejectionCode } from "../../support/thrown.ts";
import { until } from "../../support/until.ts";

const fixture = fileURLToPath(new URL("fixtures/speaker-process.ts", import.meta.url));
const PATIENCE_MS = 60_000;
setDefaultTimeout(PATIENCE_MS);
const engines: SpeechEngine[] = [];

function create(voice = "hum", own: Partial<SpeechEngineOptions> = {}): SpeechEngine {
  const engine = new SpeechEngine({
    ...own,
    engine: { source: { type: "heart", folder: voice } },
    model: {
      id: "hum",
      created: 7,
      origin: "model",
      voices: async () => [{ id: "hum", name: "Hum", locale: "en-US", gender: "unspecified", quality: "compact" }],
    },
    launch: testLaunch({ command: () => [process.execPath, fixture] }),
    idleMs: 0,
  });
  engines.push(engine);
  return engine;
}

afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.stop()));
});

const live = () => new AbortController().signal;
const saying = (text: string): SpeechWork => ({ text, voice: "hum", speed: 1, format: "pcm" });

async function say(engine: SpeechEngine, text: string, signal = live(), client?: string) {
  const events: SpeechEvent[] = [];
  const job = { work: saying(text), ...(client !== undefined && { client }) };
  for await (const event of engine.run(job, signal)) events.push(event);
  return events;
}

test("sound comes sentence by sentence, then how many phonemes were read", async () => {
  const engine = create();
  expect(engine.status()).toMatchObject({ state: "unloaded", modelId: "hum", created: 7, origin: "model" });
  expect(await engine.voices()).toMatchObject([{ id: "hum" }]);
  const events = await say(engine, "abc. de.");
  const sentence = ["audio", "progress"];
  expect(events.map(({ type }): string => type)).toEqual(["accepted", "started", ...sentence, ...sentence, "result"]);
  const sizes = events.flatMap((event) => (event.type === "audio" ? [event.bytes.length] : []));
  expect(sizes).toEqual([4 * 4800, 3 * 4800]);
  expect(events.at(-1)).toEqual({ type: "result", result: { phonemes: 7 } });
  const [first] = events.flatMap((event) => (event.type === "audio" ? [event.bytes] : []));
  expect(first).toBeInstanceOf(Uint8Array);
  expect(engine.status()).toMatchObject({ state: "ready", running: 0, waiting: 0 });
});

test("who leaves while a text is said leaves the engine to others", async () => {
  const engine = create();
  const leave = new AbortController();
  const long = engine.run({ work: saying("a. ".repeat(100_000)) }, leave.signal);
  for await (const { type } of long) {
    if (type !== "audio") continue;
    leave.abort("gone");
    break;
  }
  expect((await say(engine, "ab.")).at(-1)).toMatchObject({ result: { phonemes: 3 } });
  expect(engine.status()).toMatchObject({ running: 0, waiting: 0, restarts: 0 });
});

/** Leaves while the first sentence is being said. */
async function leave(engine: SpeechEngine, text: string) {
  for await (const { type } of engine.run({ work: saying(text) }, live())) {
    if (type !== "started") continue;
    await Bun.sleep(50);
    return;
  }
}

test("what cannot be interrupted ends with its process when nobody waits for it; who waited behind it is served by the next", async () => {
  const engine = create("hum", { abortGraceMs: 50 });
  await say(engine, "ab.");
  await leave(engine, "*.");
  expect((await say(engine, "ab.")).at(-1)).toMatchObject({ result: { phonemes: 3 } });
  expect(engine.status()).toMatchObject({ state: "ready", running: 0, waiting: 0, restarts: 0 });
});

test("it is waited for where others have some of their sound", async () => {
  const engine = create("hum", { abortGraceMs: 100 });
  const other = say(engine, "ab. ".repeat(8));
  while (engine.status().running === 0) await Bun.sleep(5);
  await leave(engine, "~.");
  expect((await other).at(-1)).toMatchObject({ result: { phonemes: 24 } });
});

test("what is over in time does not end its process", async () => {
  const engine = create("hum", { abortGraceMs: PATIENCE_MS });
  await leave(engine, "ab. ".repeat(100));
  await until(() => engine.status().running === 0);
  expect(engine.status()).toMatchObject({ state: "ready", restarts: 0 });
  expect((await say(engine, "ab.")).at(-1)).toMatchObject({ result: { phonemes: 3 } });
});

test("a reader who is behind has the engine wait, and gets everything when he goes on; others are served meanwhile", async () => {
  const engine = create();
  const slow = engine.run({ work: saying("a. ".repeat(100)) }, live())[Symbol.asyncIterator]();
  while ((await slow.next()).value?.type !== "audio");
  // Many times as long as the rest would take.
  for (let others = 0; others < 4; others++) await say(engine, "abcdefgh. ".repeat(10));
  let unread = 0;
  const status = engine.status();
  for (let event = await slow.next(); !event.done; event = await slow.next()) unread++;
  // It was still at work when the others were done: 99 sentences and the end, how far it is behind each, and the result followed.
  expect([status.running, unread]).toEqual([1, 201]);
});

test("a crash fails the text that was being said, and the next one finds another process", async () => {
  const engine = create();
  expect(await rejectionCode(say(engine, "ab. c!"))).toBe("engine_crashed");
  expect((await say(engine, "ab.")).at(-1)).toMatchObject({ type: "result" });
  expect(engine.status()).toMatchObject({ state: "ready", restarts: 1 });
});

test("a voice that cannot be loaded is told as such", async () => {
  const engine = create("mute");
  expect(await rejectionCode(say(engine, "ab."))).toBe("engine_unavailable");
  expect(engine.status().lastError).toContain("no such voice");
});
