import { describe, expect, test } from "bun:test";
import { SAMPLE_RATE } from "../../../src/audio/decode/sound-tools.ts";
import type { FakeWhisper } from "../../support/fake-whisper.ts";
import { start } from "./loop-rig.ts";

describe("one recording", () => {
  test("is transcribed in parallel stretches, and reported in order with its times", async () => {
    const { whisper, submit, settle, textOf, endOf, messages } = start();
    const key = await submit("70");
    expect(whisper.open).toEqual([1, 2]);
    whisper.tell(2, [" second"]);
    await settle();
    expect(textOf(key)).toEqual([]);
    expect(whisper.open).toEqual([1, 3]);
    whisper.tell(1, [" first", " and"], { done: false });
    await settle();
    expect(textOf(key)).toEqual([" first", " and"]);
    whisper.tell(1, []);
    whisper.tell(3, [" third"]);
    await settle();
    expect(textOf(key)).toEqual([" first", " and", " second", " third"]);
    expect(endOf(key)).toEqual({ type: "result", result: { language: "en", seconds: 70, speechSeconds: 70 } });
    const events = messages.flatMap((message) =>
      message.type === "events" ? message.outputs.flatMap((output) => output.events) : [],
    );
    expect(events.flatMap((event) => (event.type === "segment" ? [Math.round(event.segment.start)] : []))).toEqual([
      0, 1, 30, 60,
    ]);
    expect(whisper.released.size).toBe(3);
  });

  test("reports progress: the sound transcribed in order, and silence", async () => {
    const { whisper, submit, settle, messages } = start();
    const told = () =>
      messages
        .flatMap((message) => (message.type === "events" ? message.outputs.flatMap(({ events }) => events) : []))
        .flatMap((event) => (event.type === "progress" ? [event.progress] : []));
    await submit("120");
    whisper.tell(2, [" second"]);
    await settle();
    expect(told()).toEqual([]);
    whisper.tell(1, [" first", " and"], { done: false });
    await settle();
    whisper.tell(1, []);
    await settle();
    // The known length is the part that has been read: half.
    expect(told().map(({ done }) => Math.round(done))).toEqual([2, 60]);
    expect(told()[1]?.of).toBeCloseTo(120, 3);
    messages.length = 0;
    await submit("90 silent");
    expect(told().map(({ done }) => Math.round(done))).toEqual([29, 59, 88, 90]);
    expect(told().map(({ of = 0 }) => Math.round(of))).toEqual([90, 90, 90, 90]);
  });

  test("has one language, which the first stretch detects while the others wait", async () => {
    const { whisper, submit, settle, endOf } = start();
    const key = await submit("40", { language: undefined });
    expect(whisper.open).toEqual([1]);
    whisper.tell(1, [" Hallo"], { code: "de" });
    await settle();
    expect(whisper.submitted[1]?.options.language).toBe("de");
    whisper.tell(2, [" Welt"], { code: "de" });
    await settle();
    expect(endOf(key)).toMatchObject({ result: { language: "de" } });
  });

  test.each([[[]], [[" [Music]"]]])("does not take its language from a stretch without words: %j", async (texts) => {
    const { whisper, submit, settle, endOf } = start();
    const key = await submit("70", { language: undefined });
    whisper.tell(1, texts, { code: "en" });
    await settle();
    expect(whisper.submitted[1]?.options.language).toBeUndefined();
    whisper.tell(2, [" Hallo"], { code: "de" });
    await settle();
    expect(whisper.submitted[2]?.options.language).toBe("de");
    whisper.tell(3, [" Welt"], { code: "de" });
    await settle();
    expect(endOf(key)).toMatchObject({ result: { language: "de" } });
  });

  test("is cut at long silences, except where its language is detected", async () => {
    const stretches = async (language?: string) => {
      const { whisper, submit } = start({ parallel: 3 });
      // A second of speech in each twenty.
      await submit("60 words", { language });
      return whisper.submitted.map(({ samples }) => Math.round(samples / SAMPLE_RATE));
    };
    expect([await stretches("en"), await stretches()]).toEqual([[1, 1, 1], [3]]);
  });

  test("gets its language detected again when it is transcribed again with the full encoder", async () => {
    const { whisper, submit, settle, endOf } = start();
    const key = await submit("5", { language: undefined });
    whisper.tell(1, [" Grble"], { avgLogprob: -1.2, code: "en" });
    await settle();
    expect(whisper.submitted[1]?.options.language).toBeUndefined();
    whisper.tell(2, [" Hallo"], { code: "de" });
    await settle();
    expect(endOf(key)).toMatchObject({ result: { language: "de" } });
  });

  test("that is short gets a smaller encoder, and the full one when that failed", async () => {
    const { whisper, submit, settle, textOf } = start();
    const key = await submit("5");
    expect(whisper.submitted[0]?.options).toMatchObject({ audioContext: 384, leastAudioContext: 384 });
    whisper.tell(1, [" Grble"], { avgLogprob: -1.2 });
    await settle();
    expect(textOf(key)).toEqual([]);
    expect([whisper.open, whisper.submitted[1]?.options.audioContext]).toEqual([[2], undefined]);
    whisper.tell(2, [" Hello"]);
    await settle();
    expect(textOf(key)).toEqual([" Hello"]);
  });

  test("that is short and yields no text is transcribed again with the full encoder", async () => {
    const { whisper, submit, settle, textOf, endOf } = start();
    const key = await submit("5");
    whisper.tell(1, []);
    await settle();
    expect([whisper.open, whisper.submitted[1]?.options.audioContext]).toEqual([[2], undefined]);
    whisper.tell(2, [" Hello"]);
    await settle();
    expect([textOf(key), endOf(key)]).toMatchObject([[" Hello"], { type: "result" }]);
  });

  test.each([
    ["in one segment", [" no".repeat(60)]],
    ["over many segments", Array<string>(60).fill(" no")],
  ])("with text that repeats itself %s is transcribed again", async (_where, texts) => {
    const { whisper, submit, settle, textOf } = start();
    const key = await submit("5");
    whisper.tell(1, texts);
    await settle();
    whisper.tell(2, [" No."]);
    await settle();
    expect(textOf(key)).toEqual([" No."]);
  });

  test.each([["[BLANK_AUDIO]"], ["(soft music)"], [" ♪ ♪"], ["*coughs*"], ["  "]])(
    "with nothing but a remark of the model counts as silent: %s",
    async (remark) => {
      const { whisper, submit, settle, endOf } = start();
      const key = await submit("5");
      whisper.tell(1, [remark]);
      await settle();
      expect(endOf(key)).toBe("no_speech");
    },
  );

  test("keeps bracketed text among words", async () => {
    const { whisper, submit, settle, textOf } = start();
    const key = await submit("5");
    whisper.tell(1, [" He said (softly) yes.", " [laughs]", " [a] and [b]"]);
    await settle();
    expect(textOf(key)).toEqual([" He said (softly) yes.", " [a] and [b]"]);
  });

  test("with silence at the beginning counts as being worked on, unless other recordings are", async () => {
    const { submit, messages } = start({ parallel: 1 });
    const [alone, , behind] = [await submit("60 silent"), await submit("40"), await submit("60 silent")];
    const started = messages.flatMap((message) => (message.type === "started" ? message.keys : []));
    expect(started).toContain(alone);
    expect(started).not.toContain(behind);
  });

  test("that is silent is transcribed when the client treats all sound as speech", async () => {
    const { whisper, submit } = start();
    await submit("20 silent", { detection: { threshold: 0, minSilenceSeconds: 0 } });
    expect(whisper.submitted[0]?.samples).toBe(20 * SAMPLE_RATE);
  });

  test("that is streamed begins with a short stretch, so that some text is available soon", async () => {
    const { whisper, submit, settle, textOf } = start({ parallel: 1 });
    const seconds = () => whisper.submitted.map(({ samples }) => Math.round(samples / SAMPLE_RATE));
    const key = await submit("120 phrases", { early: true });
    expect(seconds()).toEqual([8]);
    whisper.tell(1, [" soon"]);
    await settle();
    expect([textOf(key), seconds()]).toEqual([[" soon"], [8, 29]]);
    const plain = start();
    await plain.submit("120 phrases");
    expect(plain.whisper.submitted[0]?.samples).toBe(whisper.submitted[1]?.samples);
  });

  test("ends with stretches of about the same length, which share the threads", async () => {
    const { whisper, submit, settle } = start();
    await submit("120 phrases", { language: "en" });
    const stretches = () =>
      whisper.submitted.map(({ samples, options }) => [Math.round(samples / SAMPLE_RATE), options.threads]);
    const whole = [29, 2];
    expect(stretches()).toEqual([whole, whole]);
    whisper.tell(1, [" one"]);
    await settle();
    expect(stretches()).toEqual([whole, whole, [21, 2]]);
  });

  test("that is empty or cannot be read is refused", async () => {
    const { submit, endOf } = start();
    expect(endOf(await submit("0"))).toBe("no_speech");
    expect(endOf(await submit("broken"))).toBe("invalid_value");
    expect(endOf(await submit("5", { language: "fr" }))).toBe("invalid_value");
  });
});

test("an unsupported language is refused with the name of the field that set it", async () => {
  const { submit, messages } = start();
  const languageField = "messages.0.content.1.input_audio.language";
  await submit("5", { language: "fr", languageField: "locale" });
  await submit("5", { language: "fr", languageField });
  const refused = messages.flatMap((message) => (message.type === "rejected" ? [message] : []));
  expect(refused.map(({ param }) => param)).toEqual(["locale", languageField]);
  for (const { param, message } of refused) expect(message).toContain(`'${param}'`);
});

test("an utterance counts as speech from first to last sample, without speech detection", async () => {
  const { whisper, utter, settle, textOf, endOf } = start();
  const key = await utter(5);
  expect(whisper.submitted[0]?.samples).toBe(5 * SAMPLE_RATE);
  whisper.tell(1, [" Yes."]);
  await settle();
  expect(textOf(key)).toEqual([" Yes."]);
  expect(endOf(key)).toMatchObject({ result: { seconds: 5, speechSeconds: 5 } });
});

describe("several recordings", () => {
  /** Phrases of four seconds with pauses of one second. */
  const talk = (path: string) => `${path} phrases`;
  const lengths = ({ submitted }: FakeWhisper) => submitted.map(({ samples }) => Math.round(samples / SAMPLE_RATE));

  test("have short stretches while others may arrive, and full ones otherwise", async () => {
    const { whisper, submit, settle, loop } = start({ parallel: 1 });
    await submit(talk("600"), {}, "a");
    expect(lengths(whisper)).toEqual([29]);
    const short = await submit("3", {}, "b");
    whisper.tell(1, [" a"]);
    await settle();
    // The other client's comes first; the long recording has short stretches now, for a while.
    whisper.tell(2, [" b"]);
    await settle();
    expect(lengths(whisper)).toEqual([29, 3, 8]);
    loop.cancel(short);
    for (let job = 3; job < 20; job++) {
      whisper.tell(job, [" a"]);
      await settle();
    }
    const later = lengths(whisper).slice(3);
    expect([later[0], later.at(-1)]).toEqual([8, 29]);
  });

  test("have full stretches when all are of one client, but background recordings never do", async () => {
    const { whisper, submit, queue, settle } = start({ parallel: 3 });
    await submit(talk("120"), {}, "a");
    await submit(talk("120"), {}, "a");
    expect(lengths(whisper)).toEqual([29, 29, 29]);
    const alone = start({ parallel: 1 });
    alone.loop.submit(99, { work: alone.work(talk("120")), background: true });
    await alone.settle();
    expect(lengths(alone.whisper)).toEqual([8]);
    queue("1");
    await settle();
  });

  test("share the threads, and a single one has all", async () => {
    const { whisper, submit } = start({ parallel: 4, threads: 4 });
    await submit("5");
    await submit("5");
    expect(whisper.submitted.map(({ options }) => options.threads)).toEqual([4, 2]);
  });

  test("leave cores to other programs, because threads that wait for each other must not wait for a core as well", async () => {
    for (const [others, threads] of [
      [0.25, 3],
      [0.5, 2],
      [1, 1],
    ] as const) {
      const { whisper, submit } = start({ parallel: 4, threads: 4, others });
      await submit("5");
      expect(whisper.submitted[0]?.options.threads).toBe(threads);
    }
  });

  test("that are short wait neither for another client's long one nor for all of one client's", async () => {
    const { whisper, submit, settle } = start({ parallel: 1 });
    await submit("300", {}, "long");
    await submit("300", {}, "long");
    whisper.tell(1, [" a"], { done: false });
    await settle();
    await submit("4", {}, "short");
    expect(whisper.open).toEqual([1]);
    whisper.tell(1, [" b"]);
    await settle();
    expect(whisper.submitted[whisper.open[0]! - 1]?.samples).toBe(4 * SAMPLE_RATE);
  });

  test("that are short go before all that have just begun, but not before every turn of those", async () => {
    const { whisper, queue, settle } = start({ parallel: 1 });
    for (const client of ["a", "b", "c", "d"]) queue(talk("60"), {}, client);
    await settle();
    for (const client of ["e", "f", "g"]) queue("3", {}, client);
    await settle();
    for (let turn = 0; turn < 6; turn++) {
      whisper.tell(whisper.open[0]!, [" a"]);
      await settle();
    }
    expect(lengths(whisper)).toEqual([8, 3, 8, 3, 8, 3, 8]);
  });

  test("put back a full stretch for a few seconds of a client that arrives later, without loss", async () => {
    const { whisper, submit, settle, textOf, endOf } = start({ parallel: 2 });
    const long = await submit(talk("120"), {}, "a");
    expect(lengths(whisper)).toEqual([29, 29]);
    whisper.tell(1, [" first"], { done: false });
    await settle();
    const short = await submit("3", {}, "b");
    // The first stretch has produced text already.
    expect([lengths(whisper), [...whisper.released]]).toEqual([[29, 29, 3], [2]]);
    whisper.tell(3, [" short"]);
    await settle();
    expect([textOf(short), endOf(short) === undefined]).toEqual([[" short"], false]);
    whisper.tell(1, [" and on"]);
    await settle();
    for (let job = 4; endOf(long) === undefined; job++) {
      whisper.tell(job, [` ${job}`]);
      await settle();
    }
    expect(textOf(long).slice(0, 3)).toEqual([" first", " and on", " 4"]);
    // The stretch that was put back is begun again, in short stretches as long as others may arrive.
    expect(lengths(whisper)).toEqual([29, 29, 3, ...Array(8).fill(8), 4]);
  });

  test("with a phrase longer than a short stretch give way once, not forever", async () => {
    const { whisper, submit, settle } = start({ parallel: 1 });
    await submit("25", {}, "a");
    expect(lengths(whisper)).toEqual([25]);
    for (const client of ["b", "c"]) {
      await submit("3", {}, client);
      whisper.tell(whisper.open[0]!, [" x"]);
      await settle();
    }
    expect(lengths(whisper).filter((seconds) => seconds === 25)).toHaveLength(2);
  });

  test("never displace an utterance, and nothing gives way to a recording during dictation", async () => {
    const { whisper, loop, submit, utter } = start({ parallel: 1 });
    await utter(15);
    await submit("3", {}, "b");
    expect([lengths(whisper), [...whisper.released]]).toEqual([[15], []]);
    const recording = start({ parallel: 2 });
    await recording.submit(talk("120"), {}, "a");
    recording.loop.expectUtterance();
    await recording.submit("3", {}, "b");
    expect([...recording.whisper.released]).toEqual([]);
    loop.expectUtterance();
  });

  test("leave a place free for dictation while there is any", async () => {
    const { whisper, loop, clock, submit, utter, settle } = start({ parallel: 2 });
    await submit("300");
    expect(whisper.open).toEqual([1, 2]);
    loop.expectUtterance();
    whisper.tell(1, [" a"]);
    await settle();
    expect(whisper.open).toEqual([2]);
    await utter(3);
    expect(whisper.open).toEqual([2, 3]);
    // After this much silence, dictation counts as over.
    clock.ms += 10_000;
    whisper.tell(3, [" b"]);
    await settle();
    expect(whisper.open).toEqual([2, 4]);
  });

  test("with hours of silence are read in turns with the others", async () => {
    const { whisper, loop, queue } = start();
    queue("36000 silent");
    queue("5");
    for (let step = 0; step < 20; step++) {
      loop.step();
      await new Promise(setImmediate);
    }
    expect(whisper.open).toEqual([1]);
  });

  test("that are cancelled free their place and their file at once", async () => {
    const { whisper, loop, submit, settle, closed, endOf } = start({ parallel: 1 });
    const first = await submit("300");
    const second = await submit("4");
    loop.cancel(first);
    await settle();
    expect(whisper.released).toContain(1);
    expect(closed).toContain("300");
    whisper.tell(whisper.open[0]!, [" short"]);
    await settle();
    expect(endOf(second)).toMatchObject({ type: "result" });
  });

  test("on which the model fails end alone, and the others go on", async () => {
    const { whisper, submit, settle, endOf } = start();
    const [first, second] = [await submit("5"), await submit("5")];
    const job = whisper.submitted[0];
    if (job) Object.assign(job, { state: { error: "out of memory", code: "failed" }, told: false });
    whisper.tell(2, [" fine"]);
    await settle();
    expect(endOf(first)).toBe("internal_error");
    expect(endOf(second)).toMatchObject({ type: "result" });
  });
});
