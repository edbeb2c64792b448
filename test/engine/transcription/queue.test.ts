// Many recordings that wait for their turns.

import { expect, test } from "bun:test";
import { SAMPLE_RATE } from "../../../src/audio/decode/sound-tools.ts";
import { start } from "./loop-rig.ts";

test("recordings of one client cost a few comparisons each, however many wait", async () => {
  const { loop, settle } = start({ parallel: 1 });
  const MANY = 200;
  let reads = 0;
  const sound = { format: { encoding: "ulaw", rate: SAMPLE_RATE }, bytes: new Uint8Array(SAMPLE_RATE) } as const;
  for (let key = 1; key <= MANY; key++) {
    loop.submit(key, {
      work: { translate: false, temperature: 0, words: false, language: "en", sound },
      get client() {
        reads++;
        return "a";
      },
    });
  }
  await settle();
  reads = 0;
  loop.step();
  expect(reads).toBeLessThan(20 * MANY);
});

test("recordings that wait are accepted, but opened only when their turn is near", async () => {
  const { whisper, queue, settle, opened, messages, endOf } = start({ parallel: 1 });
  const keys = Array.from({ length: 40 }, () => queue("3", {}, "a"));
  await settle();
  expect(messages.filter(({ type }) => type === "accepted")).toHaveLength(40);
  for (let done = 0; done < 40; done++) {
    // One is recognised, and two are ready.
    expect(opened.length - done).toBeLessThanOrEqual(3);
    whisper.tell(whisper.open[0]!, [" a"]);
    await settle();
  }
  expect(keys.map(endOf)).toEqual(keys.map(() => expect.objectContaining({ type: "result" })));
});

test("few recordings are open at once, however many clients wait", async () => {
  const { loop, queue, settle, opened, closed } = start({ parallel: 1 });
  const keys = Array.from({ length: 30 }, (_, at) => queue("120", {}, `client ${at}`));
  await settle();
  expect(opened).toHaveLength(18);
  for (const key of keys) {
    loop.cancel(key);
    await settle();
    expect(opened.length - closed.length).toBeLessThanOrEqual(18);
  }
  expect(opened).toHaveLength(30);
});

test("a client with a short recording need not wait for the end of another's long ones, nor of its own in a batch", async () => {
  const { loop, whisper, queue, submit, settle, opened, work } = start({ parallel: 1 });
  for (let at = 0; at < 5; at++) loop.submit(100 + at, { work: work("600"), client: "a", background: true });
  await settle();
  expect(opened).toHaveLength(2);
  for (let at = 0; at < 5; at++) queue("300", {}, "a");
  await settle();
  expect(opened.slice(2)).toEqual(["300", "300"]);
  await submit("4", {}, "b");
  whisper.tell(whisper.open[0]!, [" x"]);
  await settle();
  expect(opened.slice(4)).toEqual(["4"]);
  expect(whisper.submitted.map(({ samples }) => samples)).toContain(4 * SAMPLE_RATE);
});

test("a short recording need not wait for the end of its own client's long ones", async () => {
  const { whisper, queue, settle, opened, endOf } = start({ parallel: 1 });
  for (const path of ["600", "600", "500"]) queue(path, {}, "a");
  await settle();
  const short = queue("3", {}, "a");
  queue("4", {}, "a");
  await settle();
  // The third long one and the second short one wait.
  expect(opened).toEqual(["600", "600", "3"]);
  for (let stretches = 0; stretches < 2; stretches++) {
    whisper.tell(whisper.open[0]!, [" a"]);
    await settle();
  }
  expect(endOf(short)).toMatchObject({ type: "result" });
});

test("many recordings of one client, each smaller than the one before, leave places for other clients", async () => {
  const { queue, settle, opened } = start({ parallel: 1 });
  for (let seconds = 660; seconds > 600; seconds -= 3) queue(`${seconds}`, {}, "a");
  queue("600", {}, "b");
  await settle();
  expect(opened).toEqual(["660", "657", "600"]);
});

test("a recording that waits can be cancelled, and one that is damaged is refused", async () => {
  const { whisper, loop, queue, settle, opened, endOf } = start({ parallel: 1 });
  for (const path of ["3", "4", "5"]) queue(path, {}, "a");
  const [unwanted, broken, last] = [queue("6", {}, "a"), queue("broken", {}, "a"), queue("7", {}, "a")];
  loop.cancel(unwanted);
  await settle();
  for (let job = 1; job <= 4; job++) {
    whisper.tell(job, [" a"]);
    await settle();
  }
  expect(opened).toEqual(["3", "4", "5", "broken", "7"]);
  expect([endOf(unwanted), endOf(broken)]).toEqual([undefined, "invalid_value"]);
  expect(endOf(last)).toMatchObject({ type: "result" });
});
