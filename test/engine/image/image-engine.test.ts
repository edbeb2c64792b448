// The image engine with its real process and svc-draw.

import { afterAll, afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { developmentLibraries, fileName, nativeFiles } from "../../../ffi/runtime/native-files.ts";
import { engineEnvironment } from "../../../src/config/environment.ts";
import type { ImageEvent, ImageWork } from "../../../src/domain/image.ts";
import { ImageEngine } from "../../../src/engine/image/image-engine.ts";
import { MemoryBudget } from "../../../src/engine/process/memory-budget.ts";
import type { Launch } from "../../../src/engine/process/supervisor-options.ts";
import { decodeImage } from "../../../src/media/image.ts";
import { defaultMediaLimits } from "../../../src/media/limits.ts";
import { isBuilt, pixelAt, SIDE } from "../../native/image-harness.ts";
import { sharedFolder } from "../../support/folders.ts";
import { testLaunch } from "../../support/launch.ts";
import { childrenOf } from "../../support/processes.ts";
import { rejection } from "../../support/thrown.ts";
import { transparentPng } from "../../support/transparent-png.ts";
import { until } from "../../support/until.ts";

const PATIENCE_MS = 60_000;
setDefaultTimeout(PATIENCE_MS);
const folder = sharedFolder();
const engines: ImageEngine[] = [];

afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.stop()));
});

const libraries = process.env["SVC_LIBRARIES"] ?? developmentLibraries();

/** In pixels: nothing to look at, and soon drawn. */
const SMALL = 32;

/** `bytes`: of the model's files. */
function create(launch: Partial<Launch> = {}, bytes = 15_000_000, idleMs = 0, side = SIDE): ImageEngine {
  const { model, textEncoder, taesd } = nativeFiles("").embeddedImages;
  const engine = new ImageEngine({
    engine: {
      libraries,
      imageLibrary: join(libraries, fileName("image")),
      threads: 1,
      gpuLayers: 0,
      flashAttention: "auto",
      mmap: true,
      mlock: false,
      warmup: true,
      name: "svc-draw",
      modelPath: model,
      textEncoders: [textEncoder],
      taesdPath: taesd,
      adapters: [],
      bytes,
      demo: { width: side, height: side },
    },
    model: { id: "svc-draw", created: 7 },
    launch: testLaunch({ env: { ...engineEnvironment(process.env), HOME: dirname(folder) }, ...launch }),
    idleMs,
  });
  engines.push(engine);
  return engine;
}

const live = () => new AbortController().signal;
const work = (changes: Partial<ImageWork> = {}): ImageWork => ({
  prompt: "a red circle on a white background",
  count: 1,
  seed: 7,
  steps: 2,
  previews: 0,
  encoding: { format: "png", withParameters: true },
  ...changes,
});
const run = (engine: ImageEngine, wanted: ImageWork, signal = live(), client = "me") =>
  Array.fromAsync(engine.run({ work: wanted, client }, signal));
const metricsOf = (engine: ImageEngine) =>
  Object.fromEntries(engine.metrics().map(({ name, samples }) => [name, samples[0]?.[1]]));
const imagesOf = (events: readonly ImageEvent[]) => events.flatMap((event) => (event.type === "image" ? [event] : []));
async function pixelsOf(data: Uint8Array | undefined) {
  const { width, height, rgb } = await decodeImage(data ?? new Uint8Array(), 4096, defaultMediaLimits, live());
  return { width, height, rgb };
}
/** Resolves when an image has begun to be drawn; `rest`: what is left to come. */
async function begun(engine: ImageEngine, wanted: ImageWork, signal = live()) {
  const rest = run(engine, wanted, signal);
  rest.catch(() => {});
  await until(() => engine.status().running === 1, PATIENCE_MS);
  return { rest };
}

describe.skipIf(!isBuilt)("the image engine", () => {
  // What needs no engine of its own: to load one takes as long as to draw.
  const engine = create();
  engines.pop();
  afterAll(() => engine.stop());

  test("draws what is described, image by image, and tells how it goes", async () => {
    expect(engine.status()).toMatchObject({ state: "unloaded", modelId: "svc-draw", created: 7, isDemo: true });
    const events = await run(engine, work({ count: 2, previews: 1 }));
    const one = ["progress", "progress", "image"] as const;
    const told = events.map(({ type }) => type).filter((type) => type !== "preview");
    expect(told).toEqual(["accepted", "started", ...one, ...one, "result"]);
    expect(events.filter(({ type }) => type === "progress")[2]).toEqual({
      type: "progress",
      image: 1,
      step: 1,
      steps: 2,
    });
    const [first, second] = imagesOf(events);
    expect([first?.seed, second?.seed, second?.image]).toEqual([7, 8, 1]);
    const { rgb, width } = await pixelsOf(first?.data);
    expect(width).toBe(SIDE);
    expect(pixelAt(rgb, 64, 64)[0]).toBeGreaterThan(150);
    expect(pixelAt(rgb, 64, 64)[1]).toBeLessThan(100);
    expect(Math.min(...pixelAt(rgb, 3, 3))).toBeGreaterThan(200);
    expect(Buffer.from(first?.data ?? []).toString("latin1")).toContain("Seed: 7, Size: 128x128, Model: svc-draw");
    const previews = events.flatMap((event) => (event.type === "preview" ? [event] : []));
    expect(previews.map(({ image, index }) => [image, index])).toEqual([
      [0, 0],
      [1, 0],
    ]);
    expect(await pixelsOf(previews[0]?.data)).toMatchObject({ width: SIDE });
    // The second image is what it is as the first of another request.
    const same = imagesOf(await run(engine, work({ seed: 8 })));
    expect(same[0]?.data).toEqual(second?.data);
    expect(engine.status()).toMatchObject({ state: "ready", model: { family: "Flux.2 klein", isDemo: true } });
    expect(engine.status().stepSeconds).toBeGreaterThan(0);
    expect(metricsOf(engine)).toMatchObject({ svc_images_total: 3, svc_image_steps_total: 6, svc_image_steps_left: 0 });
  });

  test("estimates when it has a place, from the steps that are left and the time of recent ones", async () => {
    const engine = create({}, 0, 0, SMALL);
    /** Returns the steps left, and the milliseconds until a place is free, in steps. */
    const left = () => {
      const { svc_image_steps_left: steps, svc_image_step_seconds: seconds } = metricsOf(engine);
      return [steps, Math.round((engine.placeFreeMs() ?? NaN) / Number(seconds)) / 1000];
    };
    const started = async (wanted: ImageWork, isLast: (event: ImageEvent) => boolean) => {
      const events = engine.run({ work: wanted }, live())[Symbol.asyncIterator]();
      for (let next = await events.next(); !next.done && !isLast(next.value); next = await events.next());
      return events;
    };
    const first = await started(work({ count: 2, steps: 4 }), (event) => event.type === "progress");
    // One step may have included the work before it.
    expect(left()).toEqual([7, NaN]);
    await first.next();
    expect(left()).toEqual([6, 6]);
    const second = await started(work({ steps: 10 }), (event) => event.type === "progress" && event.step === 8);
    expect(left()).toEqual([8, 2 * 2]);
    await second.return?.();
    expect(left()).toEqual([6, 6]);
    await first.return?.();
    expect(left()).toEqual([0, NaN]);
  });

  test("changes an image under a mask, and leaves the rest of it as it was", async () => {
    const [circle] = imagesOf(await run(engine, work()));
    const before = await pixelsOf(circle?.data);
    writeFileSync(join(folder, "image.png"), circle?.data ?? "");
    writeFileSync(join(folder, "mask.png"), transparentPng(SIDE, SIDE, 0));
    const edit = {
      image: { path: join(folder, "image.png"), field: "image" },
      storedSize: { width: SIDE, height: SIDE },
      mask: { path: join(folder, "mask.png"), field: "mask" },
      strength: 1,
    };
    const [changed] = imagesOf(await run(engine, work({ prompt: "a blue circle on a white background", edit })));
    const after = await pixelsOf(changed?.data);
    expect(pixelAt(after.rgb, 44, 64)[2]).toBeGreaterThan(150);
    for (const y of [0, 30, 64, 127]) {
      const right = ({ rgb }: { readonly rgb: Uint8Array }) => rgb.subarray((y * SIDE + 64) * 3, (y + 1) * SIDE * 3);
      expect(right(after)).toEqual(right(before));
    }
    const { mask: _mask, ...whole } = edit;
    expect(await rejection(run(engine, work({ edit: { ...whole, references: [edit.image] } })))).toEqual([
      "unsupported_parameter",
      "image",
    ]);
    expect(await rejection(run(engine, work({ sampler: "none" })))).toEqual(["invalid_value", "sampler"]);
    writeFileSync(join(folder, "image.png"), "no image");
    expect(await rejection(run(engine, work({ edit: whole })))).toEqual(["invalid_value", "image"]);
  });

  test("is free again when an image is not wanted any more, and lives on when its process is killed", async () => {
    const engine = create({}, 0, 0, SMALL);
    const before = childrenOf(process.pid);
    const stop = new AbortController();
    const { rest: endless } = await begun(engine, work({ steps: 150 }), stop.signal);
    stop.abort(new Error("gone"));
    expect(await rejection(endless)).toEqual(new Error("gone"));
    expect(engine.status().restarts).toBe(0);
    const { rest: doomed } = await begun(engine, work({ steps: 150 }));
    const [child = 0] = childrenOf(process.pid).filter((pid) => !before.includes(pid));
    process.kill(child, "SIGKILL");
    expect(await rejection(doomed)).toEqual(["engine_crashed", undefined]);
    expect(imagesOf(await run(engine, work({ steps: 1 })))).toHaveLength(1);
    expect(engine.status()).toMatchObject({ state: "ready", restarts: 1 });
  });

  test("is not idle while the reader of several images takes its time", async () => {
    const engine = create({}, 0, 10, SMALL);
    const events = engine.run({ work: work({ count: 2, steps: 1 }) }, live());
    for await (const { type } of events) {
      if (type !== "image") continue;
      await Bun.sleep(50);
      expect(engine.status().state).toBe("ready");
    }
    await until(() => engine.status().state === "unloaded");
  });

  test("is not loaded where memory cannot hold it", async () => {
    const engine = create({ memory: new MemoryBudget(() => 3.14e9) }, 7.4e9);
    const refusal = await run(engine, work()).then(String, (error: Error) => error);
    expect(refusal).toMatchObject({
      code: "engine_unavailable",
      message: "The model svc-draw needs at least 6.9 GiB of memory; 2.9 GiB are free.",
    });
    expect(engine.status().state).toBe("unloaded");
  });
});
