// The sizes, steps and guidance that each family of models is made for: nothing in the model files says so.

import type { ImageModel } from "../../../domain/image.ts";

type FamilyHabits = Pick<ImageModel, "size" | "largestSide" | "steps" | "guidance">;

type Row = readonly [family: RegExp, side: number, steps: number, guidance: number, name?: RegExp];

/** By the library's name of the family and, where given, a pattern for the model's name; the first match counts. */
const FAMILIES: readonly Row[] = [
  [/^SDXS/, 512, 1, 1],
  [/^SD 1|^Instruct-Pix2Pix/, 512, 20, 7],
  [/^SD 2/, 512, 4, 1, /^sd[-_]?turbo/i],
  [/^SD 2/, 768, 20, 7],
  [/^SDXL/, 512, 4, 1, /^sd[-_]?xl[-_]turbo/i],
  [/^SDXL/, 1024, 20, 7],
  [/^SD3/, 1024, 28, 4.5],
  [/^Flux\.2 klein/, 1024, 4, 1],
  [/^Flux|^Flex|^Longcat/, 1024, 20, 1],
  [/^Chroma/, 1024, 20, 4],
  [/^Qwen/, 1024, 20, 2.5],
  [/^Z-Image/, 1024, 8, 1, /turbo/i],
  [/^Z-Image/, 1024, 28, 4],
  [/^/, 1024, 20, 5],
];
/** Names of models that were distilled to few steps. */
const FEW_STEPS = /turbo|lightning|hyper|lcm|schnell/i;
const FEW = { steps: 4, guidance: 1 } as const;

/** `name`: the model's name. */
export function habitsOf(family: string, name: string): FamilyHabits {
  const fits = ([known, , , , ofName]: Row) => known.test(family) && (ofName?.test(name) ?? true);
  const [, side, steps, guidance, ofName] = FAMILIES.find(fits) as Row;
  const few = !ofName && FEW_STEPS.test(name) ? FEW : {};
  return { size: { width: side, height: side }, largestSide: 2 * side, steps, guidance, ...few };
}
