import { describe, expect, test } from "bun:test";
import { SvcError } from "../../../src/domain/errors.ts";
import { USUAL_TURNS, type LiveEvent, type LiveSettings } from "../../../src/domain/live.ts";
import { SoundBuffer } from "../../../src/service/live/sound-buffer.ts";
import { SoundClock } from "../../../src/service/live/sound-clock.ts";
import { TurnDetector } from "../../../src/service/live/turn-detector.ts";
import type { Utterance } from "../../../src/service/live/utterance.ts";
import { dice } from "../../support/dice.ts";

/** One byte per sample. Each frame is filled with its number. */
const settings: LiveSettings = { model: "m", format: { encoding: "ulaw", rate: 8000 }, turns: USUAL_TURNS };
const byHand: LiveSettings = { ...settings, turns: null };
const FRAME = 256;

function start(chosen = settings) {
  const buffer = new SoundBuffer();
  const pieces: { readonly utterance: Utterance; readonly frames: number[] }[] = [];
  const dropped: Utterance[] = [];
  const events: LiveEvent[] = [];
  const add = ({
    utterance,
    sound,
  }: {
    readonly utterance: Utterance;
    readonly sound: { readonly bytes: Uint8Array };
  }) => {
    const view = new DataView(sound.bytes.buffer, sound.bytes.byteOffset, sound.bytes.length);
    const count = Math.floor(sound.bytes.length / 2);
    const frames = new Set(Array.from({ length: count }, (_, at) => view.getUint16(2 * at)));
    utterance.pieceAdded();
    pieces.push({ utterance, frames: [...frames] });
  };
  const utterances = { add, drop: (utterance: Utterance) => void dropped.push(utterance) };
  const turns = new TurnDetector({
    buffer,
    clock: new SoundClock(settings.format),
    utterances,
    emit: (event) => events.push(event),
  });
  let frame = 0;
  /** Feeds `count` frames with this probability of speech. */
  const hear = (count: number, probability: number) => {
    for (let left = count; left > 0; left--) {
      const bytes = new Uint8Array(FRAME);
      const view = new DataView(bytes.buffer);
      for (let at = 0; at < FRAME; at += 2) view.setUint16(at, frame);
      buffer.append(bytes);
      turns.hear(probability, chosen);
      buffer.dropBefore(turns.needed(chosen));
      frame++;
    }
  };
  const kept = () => buffer.end - turns.needed(chosen);
  const types = () => events.map(({ type }) => type);
  return { turns, hear, pieces, dropped, events, types, kept, buffer, frameNow: () => frame };
}

type Rig = ReturnType<typeof start>;

const seconds = (count: number) => Math.round((count * 8000) / FRAME);

describe("an utterance", () => {
  test("includes the sound just before it and the fading sound after it, and ends half a second later", () => {
    const { hear, pieces, events } = start();
    hear(30, 0);
    hear(20, 0.9);
    hear(20, 0);
    expect(events.map((event) => ("atMs" in event ? event.atMs : event.type))).toEqual([
      30 * 32 - 300,
      66 * 32,
      "committed",
    ]);
    // 300 ms before and 200 ms after, which touch ten and seven frames.
    expect(pieces.map(({ frames }) => [frames.at(0), frames.at(-1)])).toEqual([[20, 56]]);
  });

  test("never contains sound of another utterance", () => {
    const { hear, pieces } = start();
    for (let count = 0; count < 3; count++) {
      hear(10, 0.9);
      hear(16, 0);
    }
    const all = pieces.flatMap(({ frames }) => frames);
    expect(all).toEqual([...new Set(all)]);
    expect(pieces).toHaveLength(3);
  });

  test("that is long is split at pauses, and at the latest before it exceeds what the model can hear", () => {
    const { hear, pieces, types } = start();
    hear(seconds(5), 0.9);
    hear(12, 0);
    hear(seconds(4), 0.9);
    expect(pieces).toHaveLength(0);
    hear(12, 0);
    expect(pieces).toHaveLength(1);
    hear(seconds(60), 0.9);
    expect(pieces).toHaveLength(3);
    const lengths = pieces.map(({ frames }) => (frames.length * FRAME) / 8000);
    expect(Math.max(...lengths)).toBeLessThan(28.2);
    expect(types()).toEqual(["speech-started"]);
    expect(new Set(pieces.map(({ utterance }) => utterance)).size).toBe(1);
  });

  test("without a pause is split where speech is least likely, late in what the model can hear", () => {
    const { hear, pieces } = start();
    // A short breath early, and one at 25 s.
    hear(seconds(5), 0.9);
    hear(1, 0.4);
    hear(seconds(20), 0.9);
    const breath = seconds(5) + 1 + seconds(20);
    hear(1, 0.6);
    hear(seconds(10), 0.9);
    expect(pieces.map(({ frames }) => frames.at(-1))).toEqual([breath]);
  });

  test.each([1, 22])("cut in a pause after %d s is also split at the least likely speech after it", (first) => {
    const { hear, pieces, frameNow } = start();
    hear(seconds(first), 0.9);
    hear(12, 0);
    hear(seconds(22), 0.9);
    const breath = frameNow();
    hear(1, 0.6);
    hear(seconds(14), 0.9);
    expect(pieces).toHaveLength(2);
    expect(pieces[1]?.frames.at(-1)).toBe(breath);
  });

  test("frees its sound once that is in a piece, and frees silence", () => {
    const { hear, kept } = start();
    hear(seconds(100), 0.9);
    expect(kept()).toBeLessThanOrEqual(29 * 8000);
    hear(seconds(100), 0);
    expect(kept()).toBeLessThan(8000);
  });

  test("of five minutes ends at one of its last pauses", () => {
    const { hear, pieces, types, frameNow } = start({ ...settings, turns: { ...USUAL_TURNS, silenceMs: 2000 } });
    const speech: number[] = [];
    while (frameNow() < seconds(300)) {
      hear(seconds(10), 0.9);
      speech.push(frameNow() - 1);
      hear(12, 0);
    }
    expect(types().slice(0, 4)).toEqual(["speech-started", "speech-stopped", "committed", "speech-started"]);
    const last = pieces.findLast(({ utterance }) => utterance === pieces[0]?.utterance)?.frames.at(-1) ?? 0;
    expect((last * FRAME) / 8000).toBeWithin(270, 300);
    // After a last sound has faded.
    expect(speech.some((end) => last - end >= 6 && last - end < 12)).toBe(true);
  });

  test("ends with the first quiet frame when the silence to wait for is 0", () => {
    const { hear, types } = start({ ...settings, turns: { ...USUAL_TURNS, silenceMs: 0 } });
    hear(20, 0.9);
    expect(types()).toEqual(["speech-started"]);
    hear(1, 0);
    expect(types()).toEqual(["speech-started", "speech-stopped", "committed"]);
  });

  test.each([
    ["the client's commit", ({ turns, frameNow }: Rig) => turns.commit(frameNow() * FRAME, settings)],
    ["the end of the sound", ({ turns }: Rig) => turns.finish(settings)],
  ])("is said to stop when it ends by %s", (_what, end) => {
    const rig = start();
    rig.hear(20, 0.9);
    end(rig);
    expect(rig.types()).toEqual(["speech-started", "speech-stopped", "committed"]);
  });

  test("has no further piece when it ends in the pause in which it was split", () => {
    const { hear, pieces, types } = start();
    hear(seconds(10), 0.9);
    hear(30, 0);
    expect(pieces).toHaveLength(1);
    expect(types().slice(-2)).toEqual(["speech-stopped", "committed"]);
  });
});

describe("without turn detection", () => {
  test("is not said to stop when the client was not told that it started", () => {
    const { turns, hear, types } = start(byHand);
    hear(seconds(1), 0.9);
    for (let frame = 0; frame < seconds(2); frame++) turns.hear(0, settings);
    expect(types()).toEqual(["committed"]);
  });

  test("an utterance is all speech up to the commit, without the silence in between", () => {
    const { turns, hear, pieces, frameNow, events } = start(byHand);
    hear(50, 0);
    hear(20, 0.9);
    hear(200, 0);
    hear(20, 0.9);
    turns.commit(frameNow() * FRAME, byHand);
    expect(pieces).toHaveLength(1);
    expect(pieces[0]?.frames.length).toBeWithin(50, 80);
    expect(events.map(({ type }) => type)).toEqual(["committed"]);
  });

  test("silence before the speech does not count towards the five minutes of an utterance", () => {
    const { turns, hear, pieces, frameNow, events } = start(byHand);
    hear(seconds(275), 0);
    hear(seconds(2), 0.9);
    hear(12, 0);
    hear(seconds(30), 0.9);
    expect(events).toEqual([]);
    turns.commit(frameNow() * FRAME, byHand);
    expect(pieces.map(({ frames }) => Math.round((frames.length * FRAME) / 8000))).toEqual([3, 28, 2]);
  });

  test("a long utterance is transcribed while it goes on, and its text is reported only after the commit", () => {
    const { turns, hear, pieces, events, frameNow } = start(byHand);
    for (let count = 0; count < 4; count++) {
      hear(seconds(5), 0.9);
      hear(30, 0);
    }
    expect(pieces.length).toBeGreaterThan(0);
    const [piece] = pieces;
    piece?.utterance.heard(" Hello");
    expect(events).toEqual([]);
    turns.commit(frameNow() * FRAME, byHand);
    expect(events.map(({ type }) => type)).toEqual(["committed", "delta"]);
    for (const { utterance } of pieces) utterance.pieceEnded();
    expect(events.at(-1)).toMatchObject({ type: "completed", text: "Hello" });
  });

  test("cleared sound is dropped together with its transcription", () => {
    const { turns, hear, dropped, pieces, frameNow } = start(byHand);
    hear(seconds(10), 0.9);
    hear(20, 0);
    turns.clear(frameNow() * FRAME);
    expect(dropped).toEqual([pieces[0]?.utterance as Utterance]);
    expect(() => turns.commit(frameNow() * FRAME, byHand)).toThrow("100 ms");
  });
});

test("all speech ends up in pieces, once and in order, whatever the sound", () => {
  for (let seed = 1; seed <= 30; seed++) {
    const roll = dice(seed);
    const chosen = roll(2) === 0 ? settings : byHand;
    const { turns, hear, pieces, frameNow, types } = start(chosen);
    const said: number[] = [];
    for (let turn = 0; turn < 60; turn++) {
      const isSpeech = roll(2) === 0;
      const count = 3 + roll(roll(10) === 0 ? 1500 : 60);
      if (isSpeech) said.push(...Array.from({ length: count }, (_, at) => frameNow() + at));
      hear(count, isSpeech ? 0.9 : 0);
      if (roll(20) === 0) commitIfAny(turns, frameNow() * FRAME, chosen);
    }
    turns.finish(chosen);
    const frames = pieces.flatMap((piece) => piece.frames);
    expect(frames).toEqual(frames.toSorted((a, b) => a - b));
    // A frame that is split is in two pieces.
    expect(frames.length - new Set(frames).size).toBeLessThanOrEqual(pieces.length);
    const missing = new Set(said).difference(new Set(frames));
    expect([seed, [...missing]]).toEqual([seed, []]);
    for (const { frames: one } of pieces) expect((one.length * FRAME) / 8000).toBeLessThan(28.2);
    const begun = types().filter((type) => type === "speech-started").length;
    const stopped = types().filter((type) => type === "speech-stopped").length;
    expect(stopped).toBe(begun);
  }
});

/** Commits unless there is too little sound since the last utterance. */
function commitIfAny(turns: TurnDetector, place: number, chosen: LiveSettings): void {
  try {
    turns.commit(place, chosen);
  } catch (error) {
    if (!(error instanceof SvcError && error.code === "input_audio_buffer_commit_empty")) throw error;
  }
}
