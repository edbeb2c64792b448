// Images and audio in the real library, with tiny models of random weights.

import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MediaError, type Medium } from "../../ffi/media/api.ts";
import { HIDDEN, makeVisionModel } from "../models/make-vision-model.ts";
import { wavFile } from "../models/media-files.ts";
import { AUDIO_TOKENS } from "../models/projector.ts";
import { load, MODEL, prompt, textOf } from "./harness.ts";
import {
  embeddingsOf,
  encode,
  encodedOf,
  image,
  isBuilt,
  isMedium,
  loadProjector,
  mediaOf,
  mediaRig,
  prepare,
  sound,
  start,
  submit,
  TILE_TOKENS,
  TILES,
  unload,
  WAIT_MS,
} from "./media-harness.ts";

const rig = mediaRig();

function failureOf(action: () => unknown): MediaError {
  try {
    action();
  } catch (error) {
    if (error instanceof MediaError) return error;
  }
  throw new Error("no MediaError was thrown");
}

describe.skipIf(!isBuilt)("a projector", () => {
  test.each(["tiles", "block", "mrope"] as const)("%s reports its capabilities", async (kind) => {
    await start(rig, kind);
    expect(rig.media.projector()).toEqual({
      vision: true,
      audio: true,
      width: HIDDEN,
      marker: expect.stringMatching(/^<__media_[0-9a-f]{32}__>$/),
    });
  });

  test("that cannot be used fails with the reason, and another can be loaded afterwards", async () => {
    const { model, projector } = makeVisionModel("tiles", rig.folder);
    const write = (name: string, content: string | Uint8Array) => {
      writeFileSync(join(rig.folder, name), content);
      return { path: join(rig.folder, name) };
    };
    await load(rig.llama, { path: model, parallel: 1 });
    for (const file of [
      { path: join(rig.folder, "none.gguf") },
      write("text.gguf", "once upon a time"),
      { path: model },
    ])
      expect(await loadProjector(rig, file)).toContain(`cannot load the projector ${file.path}`);
    const bytes = readFileSync(projector);
    const unknown = Buffer.from(bytes.toString("latin1").replace("idefics3", "idefics9"), "latin1");
    expect(await loadProjector(rig, write("unknown.gguf", unknown))).toContain("unknown projector type: idefics9");
    rig.llama.unload();
    await load(rig.llama, { path: MODEL });
    expect(await loadProjector(rig, { path: projector })).toContain("mismatch between text model");
    expect(failureOf(() => rig.media.projector()).message).toContain("no projector");
    expect(failureOf(() => rig.media.submit("", [])).message).toContain("no projector");
    rig.llama.unload();
    await start(rig, "tiles");
  });
});

describe.skipIf(!isBuilt)("a prompt with media", () => {
  test("has its tokens and lengths before anything is encoded", async () => {
    await start(rig, "tiles");
    const job = prepare(rig, image());
    expect(rig.media.state(job)).toBe("prepared");
    expect(mediaOf(rig, job).map(({ part, tokens, positions }) => [part, tokens, positions])).toEqual(
      Array.from({ length: TILES }, (_, part) => [part, TILE_TOKENS, TILE_TOKENS]),
    );
    const texts = rig.media.chunks(job).map((chunk) => (isMedium(chunk) ? "*" : textOf(rig.llama, chunk.tokens)));
    expect(texts.join("")).toBe("see **\n**\n\n* and ");
    const first = rig.media.chunks(job).findIndex(isMedium);
    expect(rig.media.embeddings(job, first)).toBe(0n);
    expect(rig.media.encode(job)).toBe(true);
    expect(rig.media.wait(WAIT_MS)).toBe(job);
    expect(embeddingsOf(rig, job).length).toBe(TILES * TILE_TOKENS * HIDDEN);
    expect(embeddingsOf(rig, job).every(Number.isFinite)).toBe(true);
    expect(rig.media.encode(job)).toBe(false);
  });

  test("is not encoded again in a later turn", async () => {
    await start(rig, "tiles");
    const first = prepare(rig, image());
    encode(rig, first);
    const expected = embeddingsOf(rig, first);
    rig.media.release(first);
    const second = prepare(rig, image(), image(48, 32, 2));
    expect(encodedOf(rig, second)).toEqual([...fill(TILES, true), ...fill(TILES, false)]);
    expect(rig.media.state(second)).toBe("prepared");
    encode(rig, second);
    expect(embeddingsOf(rig, second).slice(0, expected.length)).toEqual(expected);
    expect(embeddingsOf(rig, second).slice(expected.length)).not.toEqual(expected);
    expect(rig.media.state(prepare(rig, image(48, 32, 2)))).toBe("encoded");
  });

  test("is encoded once for two requests that wait for it at the same time", async () => {
    await start(rig, "block");
    const [first, second] = [prepare(rig, image()), prepare(rig, image())];
    expect([rig.media.encode(first), rig.media.encode(second)]).toEqual([true, true]);
    expect([rig.media.wait(WAIT_MS), rig.media.wait(WAIT_MS)]).toEqual([first, second]);
    expect(rig.media.embeddings(first, 1)).toBe(rig.media.embeddings(second, 1));
  });

  test("is tokenized like any other prompt when it has no media", async () => {
    await start(rig, "tiles");
    const text = "<|im_start|>hello, <global-img> world\n\n";
    const job = rig.media.submit(text, []);
    expect(rig.media.wait(WAIT_MS)).toBe(job);
    expect(rig.media.state(job)).toBe("encoded");
    const { tokens } = prompt(rig.llama, { text, parseSpecial: true, addSpecial: true });
    expect(rig.media.chunks(job)).toEqual([{ kind: "text", tokens }]);
  });

  test("yields audio as embeddings, thirty seconds at a time", async () => {
    await start(rig, "tiles");
    const job = prepare(rig, sound(31), sound(0.01));
    const expected = { kind: "audio", tokens: AUDIO_TOKENS, positions: AUDIO_TOKENS, nonCausal: false };
    expect(mediaOf(rig, job)).toMatchObject([
      { ...expected, id: "31s", part: 0 },
      { ...expected, id: "31s", part: 1 },
      { ...expected, id: "0.01s", part: 0 },
    ]);
    encode(rig, job);
    expect(embeddingsOf(rig, job).length).toBe(3 * AUDIO_TOKENS * HIDDEN);
    expect(embeddingsOf(rig, job).every(Number.isFinite)).toBe(true);
    expect(encodedOf(rig, prepare(rig, sound(31)))).toEqual([true, true]);
  });

  test("has positions as the model requires", async () => {
    await start(rig, "block");
    const plain = prepare(rig, image());
    expect([...rig.media.positions(plain, 1, 7, 2, 3)]).toEqual([9, 10, 11]);
    expect(mediaOf(rig, plain)).toMatchObject([{ nonCausal: true, positions: TILE_TOKENS }]);
    expect(() => rig.media.positions(plain, 1, 0, 10, 7)).toThrow("no such tokens");
    expect(() => rig.media.positions(plain, 0, 0, 0, 1)).toThrow("text");
    unload(rig);
    await start(rig, "mrope");
    // 48 x 32 pixels become six by four tokens.
    const job = prepare(rig, image(), sound(1));
    expect(mediaOf(rig, job)).toMatchObject([
      { tokens: 24, positions: 6 },
      { tokens: AUDIO_TOKENS, positions: AUDIO_TOKENS },
    ]);
    const [time, rows, columns] = [fill(3, 7), [7, 8, 8], [12, 7, 8]];
    expect([...rig.media.positions(job, 1, 7, 5, 3)]).toEqual([...time, ...rows, ...columns, 0, 0, 0]);
    const audio = rig.media.chunks(job).findLastIndex(isMedium);
    expect([...rig.media.positions(job, audio, 7, 2, 2)]).toEqual([9, 10, 9, 10, 9, 10, 9, 10]);
  });

  test("with an invalid medium fails and blames the medium", async () => {
    await start(rig, "tiles", { audioSeconds: 2 });
    const audio = (bytes: Uint8Array): Medium => ({ kind: "audio", id: "a", bytes });
    const wav = wavFile(1, 16_000);
    const stateOf = (medium: Medium) => rig.media.state(prepare(rig, medium));
    expect(stateOf(audio(Buffer.from("once upon a time")))).toEqual(bad("the audio is neither WAV, MP3 nor FLAC"));
    expect(stateOf(audio(wav.subarray(0, 30)))).toEqual(bad("the audio cannot be decoded"));
    expect(stateOf(audio(wav.subarray(0, 44)))).toMatchObject({ code: "bad-medium" });
    const together = "the sounds of a request are longer than 2 seconds together";
    expect(stateOf(sound(3))).toEqual(bad(together));
    expect(rig.media.state(prepare(rig, sound(1), image(), sound(1)))).toBe("prepared");
    expect(rig.media.state(prepare(rig, sound(1.5), image(), sound(0.4), sound(0.2)))).toEqual(bad(together, 3));
    const slow = "the audio must have 1000 to 384000 samples a second; got 500";
    expect(rig.media.state(prepare(rig, sound(1), image(), audio(wavFile(1, 500))))).toEqual(bad(slow, 2));
    // Claims to have four gigabytes of samples.
    const liar = Buffer.from(wav);
    liar.writeUInt32LE(0xffff_fff0, 40);
    expect(stateOf(audio(liar))).toBe("prepared");
    expect(failureOf(() => submit(rig, audio(new Uint8Array())))).toMatchObject({ code: "bad-medium" });
    expect(failureOf(() => submit(rig, image(2, 400)))).toMatchObject({ code: "bad-medium" });
    expect(failureOf(() => submit(rig, { ...image(), width: 47 } as Medium))).toMatchObject({ code: "failed" });
    const { marker } = rig.media.projector();
    const job = rig.media.submit(`${marker} ${marker}`, [image()]);
    rig.media.wait(WAIT_MS);
    expect(rig.media.state(job)).toMatchObject({ code: "failed", error: expect.stringContaining("marker") });
  });

  test.each(["tiles", "block", "mrope"] as const)("%s encodes an image of any size, or blames it", async (kind) => {
    await start(rig, kind);
    for (const [width = 0, height = 0] of [
      [1, 1],
      [1, 150],
      [150, 1],
      [3, 500],
      [1031, 17],
      [300, 301],
    ]) {
      const job = prepare(rig, image(width, height));
      // Tiles of this model have 64 pixels, of which the longest images would fill less than one row.
      if (kind === "tiles" && Math.max(width / height, height / width) > 64) {
        expect(rig.media.state(job)).toMatchObject({ code: "bad-medium" });
        continue;
      }
      encode(rig, job);
      expect(embeddingsOf(rig, job).every(Number.isFinite)).toBe(true);
    }
  });
});

const fill = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);
const bad = (error: string, medium = 0) => ({ error, code: "bad-medium" as const, medium });
