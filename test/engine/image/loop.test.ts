// The loop of an image engine with a library that draws nothing: turns between clients, and stopping an image.

import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import {
  ImageError,
  type DrawOptions,
  type DrawState,
  type ImageLibrary,
  type ImageTraits,
} from "../../../ffi/image/api.ts";
import { Semaphore } from "../../../src/domain/semaphore.ts";
import type { ImageEdit, ImageModel, ImageSize, ImageWork } from "../../../src/domain/image.ts";
import type { Painter } from "../../../src/engine/image/child/plan.ts";
import { ImageLoop } from "../../../src/engine/image/child/loop.ts";
import type { FromPainter } from "../../../src/engine/image/protocol.ts";
import { decodeImage } from "../../../src/media/image.ts";
import { defaultMediaLimits } from "../../../src/media/limits.ts";
import { temporaryFolder } from "../../support/folders.ts";
import { pngOfRows } from "../../support/png.ts";
import { transparentPng } from "../../support/transparent-png.ts";
import { until } from "../../support/until.ts";

interface Drawing extends DrawOptions {
  step: number;
  state: "drawing" | "paused";
}

/** Computes one step at each poll, and advances the clock. */
class FakePainter implements ImageLibrary {
  /** Prompts whose images were begun, resumed and done, in order. */
  readonly begun: string[] = [];
  readonly resumed: string[] = [];
  readonly done: string[] = [];
  stops = 0;
  /** How often a stopped image is still reported as being drawn. */
  lingers = 0;
  private readonly drawings = new Map<number, Drawing>();

  constructor(private readonly pass: () => void) {}

  start(options: DrawOptions): void {
    this.checkFree();
    this.begun.push(options.prompt);
    this.drawings.set(options.owner, { ...options, step: 0, state: "drawing" });
  }
  pause(owner: number): void {
    this.of(owner).state = "paused";
  }
  resume(owner: number): void {
    this.checkFree();
    const drawing = this.of(owner);
    drawing.state = "drawing";
    this.resumed.push(drawing.prompt);
  }
  state(owner: number): DrawState {
    const drawing = this.drawings.get(owner);
    if (!drawing) return this.lingers-- > 0 ? "drawing" : "none";
    return drawing.step < drawing.steps ? drawing.state : "done";
  }
  progress(owner: number) {
    const drawing = this.of(owner);
    const { steps, width, height } = drawing;
    if (drawing.step < steps && drawing.state === "drawing") {
      drawing.step++;
      this.pass();
    }
    return { step: drawing.step, steps, previews: 0, width, height };
  }
  take(owner: number): Uint8Array {
    const { width, height, prompt } = this.of(owner);
    this.done.push(prompt);
    this.drawings.delete(owner);
    return new Uint8Array(width * height * 3);
  }
  stop(owner: number): void {
    this.stops++;
    this.drawings.delete(owner);
  }
  preview = () => new Uint8Array();
  traits = () => traits;

  private of(owner: number): Drawing {
    const drawing = this.drawings.get(owner);
    if (!drawing) throw new ImageError("no image is drawn", "failed");
    return drawing;
  }

  private checkFree(): void {
    if (this.drawings.values().some(({ state }) => state === "drawing")) throw new Error("another image is computed");
  }
}

const traits: ImageTraits = {
  family: "Fake",
  multiple: 8,
  hasTinyDecoder: true,
  takesReferences: false,
  needsReference: false,
  device: "CPU",
  sampler: "euler",
  scheduler: "simple",
  samplers: ["euler"],
  schedulers: ["simple"],
  scale: 1,
};
const INK = { name: "ink", path: "/ink.safetensors" };
const model: ImageModel = {
  family: "Fake",
  bytes: 1,
  device: "CPU",
  size: { width: 8, height: 8 },
  largestSide: 64,
  steps: 2,
  guidance: 1,
  sampler: "euler",
  samplers: ["euler"],
  schedulers: ["simple"],
  adapters: [INK.name],
  edits: { mask: true, references: false },
};

/** `stepMs`: duration of a step. `drawsIn`: the only size that the model draws in. */
function start(stepMs = 0, drawsIn?: ImageSize) {
  let now = 0;
  const library = new FakePainter(() => void (now += stepMs));
  const sent: FromPainter[] = [];
  const painter: Painter = { model, traits, adapters: [INK], ...(drawsIn && { drawsIn }) };
  const decoding = new Semaphore(2 ** 30);
  const tools = { library, painter, decoding, threads: () => 1, now: () => now };
  const loop = new ImageLoop(tools, "fake", (message) => sent.push(message));
  let key = 0;
  return {
    library,
    loop,
    sent,
    ended: () => sent.flatMap((message) => (message.type === "events" ? message.finished : [])),
    /** Returns the job's key. */
    submit(prompt: string, client: string, changes: Partial<ImageWork> = {}): number {
      const encoding = { format: "png", withParameters: false } as const;
      const work: ImageWork = { prompt, count: 1, seed: 1, previews: 0, encoding, ...changes };
      loop.submit(++key, { image: 0, work, client });
      return key;
    },
  };
}

test("clients take turns with one image each, however many each of them requests", async () => {
  const { library, loop, submit, ended } = start();
  const clients = ["ada", "bob", "cyd", "dan", "eve"];
  // Each client's jobs arrive together.
  for (const client of clients) for (const job of [1, 2, 3, 4]) submit(`${client} ${job}`, client);
  await Bun.sleep(0);
  while (ended().length < 20) await loop.step();
  expect(library.begun).toEqual([1, 2, 3, 4].flatMap((job) => clients.map((client) => `${client} ${job}`)));
});

test("a client that arrives while another has many waiting images waits for at most one of them", async () => {
  const { library, loop, submit } = start();
  for (const job of [1, 2, 3, 4]) submit(`ada ${job}`, "ada");
  await Bun.sleep(0);
  await loop.step();
  submit("bob 1", "bob");
  await Bun.sleep(0);
  for (let turn = 0; turn < 2; turn++) await loop.step();
  expect(library.begun).toEqual(["ada 1", "bob 1", "ada 2"]);
});

test("a long image pauses for a short one of another client and loses no steps", async () => {
  const { library, loop, sent, submit, ended } = start(100);
  const long = submit("long", "ada", { steps: 40 });
  submit("long 2", "ada", { steps: 40 });
  await Bun.sleep(0);
  const drawing = loop.step();
  await until(() => library.begun.length === 1);
  submit("short", "bob");
  await drawing;
  await loop.step();
  expect(library.done).toEqual(["short"]);
  await loop.step();
  expect(library.done).toEqual(["short", "long"]);
  expect(library.begun).toEqual(["long", "short"]);
  expect(library.resumed).toEqual(["long"]);
  expect(ended().map(({ event }) => event.type)).toEqual(["image", "image"]);
  const own = sent
    .flatMap((message) => (message.type === "events" ? message.outputs : []))
    .filter(({ key }) => key === long);
  const steps = own.flatMap(({ events }) => events.flatMap((event) => (event.type === "progress" ? [event.step] : [])));
  expect(steps).toEqual(Array.from({ length: 40 }, (_, at) => at + 1));
  expect(sent.filter(({ type }) => type === "started")).toHaveLength(2);
});

test("an image pauses neither for the same client's next image nor for a longer one", async () => {
  const { library, loop, submit, ended } = start(100);
  submit("first", "ada", { steps: 40 });
  submit("own", "ada");
  submit("longer", "bob", { steps: 80 });
  await Bun.sleep(0);
  while (ended().length < 3) await loop.step();
  expect(library.done).toEqual(["first", "own", "longer"]);
  expect(library.resumed).toEqual(["longer"]);
});

test("clients with short images leave a client with a long image an equal share of time", async () => {
  const { library, loop, submit, ended } = start(500);
  // Ten seconds against three each.
  submit("long", "ada", { steps: 20 });
  await Bun.sleep(0);
  for (let shorts = 0; !library.done.includes("long");) {
    submit(`short ${++shorts}`, "bob", { steps: 6 });
    await Bun.sleep(0);
    await loop.step();
  }
  expect(ended().length).toBeLessThanOrEqual(5);
});

test("a paused image is stopped when its request is cancelled", async () => {
  const { library, loop, submit, ended } = start(100);
  const long = submit("long", "ada", { steps: 40 });
  submit("short", "bob");
  await Bun.sleep(0);
  await loop.step();
  expect(library.state(long)).toBe("paused");
  loop.cancel(long);
  expect(library.state(long)).toBe("none");
  while (ended().length < 1) await loop.step();
  expect(library.done).toEqual(["short"]);
});

test("a cancelled image ends between two steps, a cancelled waiting one never begins, and the next one is drawn", async () => {
  const { library, loop, sent, submit, ended } = start();
  const endless = submit("endless", "ada", { steps: 150 });
  const unwanted = submit("unwanted", "bob");
  const wanted = submit("wanted", "cyd");
  await Bun.sleep(0);
  const drawing = loop.step();
  await until(() => sent.some((message) => message.type === "events"));
  loop.cancel(unwanted);
  loop.cancel(endless);
  await drawing;
  expect(library.stops).toBe(1);
  const outcome = sent.findLast((message) => "key" in message && message.key === endless);
  expect(outcome).toMatchObject({ code: "request_cancelled" });
  while (ended().length < 1) await loop.step();
  expect(library.begun).toEqual(["endless", "wanted"]);
  expect(ended().map(({ key }) => key)).toEqual([wanted]);
});

test("a cancelled image that takes a while to stop ends as cancelled, even when another client's image is due", async () => {
  const { library, loop, sent, submit } = start(2000);
  const long = submit("long", "ada", { steps: 40 });
  await Bun.sleep(0);
  const drawing = loop.step();
  await until(() => sent.some(({ type }) => type === "events"));
  library.lingers = 3;
  loop.cancel(long);
  submit("short", "bob");
  await drawing;
  expect(sent.filter((message) => "key" in message && message.key === long).at(-1)).toMatchObject({
    code: "request_cancelled",
  });
  expect(sent.filter(({ type }) => type === "log")).toEqual([]);
  await loop.step();
  expect(library.done).toEqual(["short"]);
});

test("a prompt of too many tokens is refused by its field, with both numbers", async () => {
  const { library, loop, sent, submit } = start();
  library.start = () => {
    throw new ImageError("must have at most 2048 tokens; got 8012", "too-long");
  };
  const key = submit("1".repeat(8000), "ada");
  await Bun.sleep(0);
  await loop.step();
  const message = "'prompt' and 'negative_prompt' each must have at most 2048 tokens; got 8012.";
  expect(sent.at(-1)).toEqual({ type: "rejected", key, code: "invalid_value", param: "prompt", message });
});

describe("the source image of an edit", () => {
  const size = { width: 8, height: 8 };
  const photo = transparentPng(size.width, size.height, 255);
  const editOf = (path: string) => ({ image: { path, field: "image" }, storedSize: size });

  test("is read when its turn is near, so that those of a full queue take no memory", async () => {
    const { loop, sent, submit, ended } = start();
    const folder = temporaryFolder();
    const paths = Array.from({ length: 6 }, (_, at) => join(folder, `${at}.png`));
    await Bun.write(paths[0]!, photo);
    for (const [at, path] of paths.entries()) submit(`edit ${at}`, `client ${at}`, { edit: editOf(path) });
    await until(() => sent.filter(({ type }) => type === "accepted").length === paths.length);
    for (const at of paths.keys()) {
      // While one is drawn, the next one is read.
      if (at + 1 < paths.length) await Bun.write(paths[at + 1]!, photo);
      await loop.step();
    }
    expect(ended().map(({ event }) => event.type)).toEqual(paths.map(() => "image"));
  });

  test("is refused before its request is accepted, if it is near", async () => {
    const { sent, submit } = start();
    const path = join(temporaryFolder(), "text.png");
    await Bun.write(path, "no image");
    const key = submit("edit", "ada", { edit: editOf(path) });
    await until(() => sent.length > 0);
    expect(sent).toEqual([expect.objectContaining({ type: "rejected", key, code: "invalid_value", param: "image" })]);
  });

  test("is not decoded to its end, nor drawn, when it is not wanted any more", async () => {
    const { library, loop, sent, submit } = start();
    const path = join(temporaryFolder(), "photo.png");
    await Bun.write(path, photo);
    for (const beforeItsTurn of [true, false]) {
      const key = submit("edit", "ada", { edit: editOf(path) });
      if (beforeItsTurn) loop.cancel(key);
      const drawing = loop.step();
      loop.cancel(key);
      await drawing;
    }
    expect(library.begun).toEqual([]);
    expect(sent.map(({ type }) => type)).not.toContain("started");
  });
});

describe("a changed image that is delivered larger than it is drawn", () => {
  const SIDE = 32;
  const size = { width: SIDE, height: SIDE };
  const row = 3 * SIDE;
  /** Rows of a PNG, each after its filter: no two neighbours alike. */
  const rows = Buffer.from(Array.from({ length: SIDE * (row + 1) }, (_, at) => (at % (row + 1) ? (at * 89) % 251 : 0)));

  async function changed(work: Partial<ImageWork>, edit: Partial<ImageEdit>): Promise<Uint8Array> {
    const folder = temporaryFolder();
    const [image, mask] = ["image", "mask"].map((field) => ({ field, path: join(folder, `${field}.png`) }));
    if (!image || !mask) throw new Error("no sources");
    await Bun.write(image.path, pngOfRows({ ...size, colour: 2 }, rows));
    await Bun.write(mask.path, transparentPng(SIDE, SIDE, 0));
    const { loop, submit, ended } = start(0, { width: 8, height: 8 });
    const encoding = { format: "png", withParameters: true } as const;
    submit("edit", "ada", { size, encoding, edit: { image, storedSize: size, mask, ...edit }, ...work });
    while (ended().length < 1) await loop.step().then(() => Bun.sleep(1));
    const event = ended()[0]?.event;
    return event?.type === "image" ? event.data : new Uint8Array();
  }

  test("has every pixel of the original where its mask is opaque", async () => {
    const data = await changed({}, {});
    const { rgb } = await decodeImage(data, SIDE, defaultMediaLimits, new AbortController().signal);
    for (let y = 0; y < SIDE; y++) {
      const left = rgb.subarray(y * row, y * row + row / 2);
      expect(left).toEqual(new Uint8Array(row / 2));
      const right = rgb.subarray(y * row + row / 2, (y + 1) * row);
      const at = y * (row + 1) + 1;
      expect(right).toEqual(new Uint8Array(rows.subarray(at + row / 2, at + row)));
    }
  });

  test("tells its own size, the strength and the adapters", async () => {
    const data = await changed({ adapters: [{ name: INK.name, scale: 0.5 }] }, { strength: 0.6 });
    const text = Buffer.from(data).toString("latin1");
    expect(text).toContain("edit <lora:ink:0.5>\nSteps: 2, ");
    expect(text).toContain("Seed: 1, Size: 32x32, Denoising strength: 0.6, Model: fake");
  });
});
