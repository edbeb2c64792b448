// `bun test/bench/drawing.ts`: measures how much of 100 described scenes, none from its training, svc-draw draws,
// with the library that svc uses. `--steps N` (4).

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openImageLibrary } from "../../ffi/image/binding.ts";
import { developmentLibraries } from "../../ffi/runtime/native-files.ts";
import { draw, load } from "../native/image-harness.ts";
import { shapesIn } from "./drawn-shapes.ts";

const { values } = parseArgs({ options: { steps: { type: "string", default: "4" } } });
/** Pixels by which a shape may be off its position. */
const NEAR = 16;
const FIRST_SEED = 1000;

/** Description, background, and the objects: colour, shape and position of each. */
const scenes = (await Bun.file(join(import.meta.dir, "drawn-scenes.txt")).text())
  .trim()
  .split("\n")
  .map((line) => {
    const [prompt = "", background, objects = ""] = line.split(" | ");
    return { prompt, background, objects: objects.split(", ").map((one) => one.split(" ")) };
  });

const rig = { library: openImageLibrary(developmentLibraries()), folder: mkdtempSync(join(tmpdir(), "svc-drawing-")) };
const failure = await load(rig, { threads: 2 });
if (failure !== undefined) throw new Error(failure);

const right = { background: 0, colour: 0, shape: 0, number: 0, objects: 0, "whole scene": 0 };
for (const [index, { prompt, background, objects }] of scenes.entries()) {
  const found = shapesIn(
    await draw(rig, { prompt, seed: FIRST_SEED + index, steps: Number(values.steps), threads: 2 }),
  );
  const [largest] = found.shapes;
  const listed = (list: readonly string[]) => list.toSorted().join();
  const isSame =
    listed(found.shapes.map(({ colour, shape }) => `${colour} ${shape}`)) ===
    listed(objects.map(([colour, shape]) => `${colour} ${shape}`));
  const isPlaced = objects.every(([colour, shape, x, y]) =>
    found.shapes.some(
      (one) =>
        one.colour === colour &&
        one.shape === shape &&
        Math.abs(one.x - Number(x)) < NEAR &&
        Math.abs(one.y - Number(y)) < NEAR,
    ),
  );
  const results = {
    background: found.background === background,
    colour: objects.some(([colour]) => colour === largest?.colour),
    shape: objects.some(([, shape]) => shape === largest?.shape),
    number: found.shapes.length === objects.length,
    objects: isSame,
    "whole scene": found.background === background && isSame && isPlaced,
  };
  for (const [name, isRight] of Object.entries(results)) right[name as keyof typeof right] += Number(isRight);
}
for (const [name, count] of Object.entries(right)) console.log(`${name}: ${count} of ${scenes.length}`);
rig.library.unload();
