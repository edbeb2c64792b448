// Where models of several sizes go on machines of several sizes.

import { describe, expect, test } from "bun:test";
import { GIB } from "../../src/domain/gib.ts";
import type { Gpu } from "../../src/domain/gpu.ts";
import { kvBytesPerToken, type ContextNeeds } from "../../src/model/context.ts";
import { gpuCapacity, gpuClaim, placeModel, type Capacity } from "../../src/model/placement.ts";

const LAYERS = 47;
/** A model with this many GiB of weights; 1 GiB of its KV cache holds 11,155 tokens. */
const model = (gibibytes: number): ContextNeeds["model"] => ({
  trainedContext: 131_072,
  kvHeads: Array.from({ length: LAYERS }, () => 4),
  keyLength: 128,
  valueLength: 128,
  slidingWindow: 0,
  vocabulary: 150_000,
  tensorBytes: gibibytes * GIB,
});
const machine = (host: number, gpus: number, isShared = false): Capacity => ({
  host: host * GIB,
  gpus: gpus * GIB,
  isShared,
});
const needs = { kvType: "f16", kvMode: "auto", parallel: 4, canPage: true } as const;
const place = (size: number, on: Capacity, gpuLayers = -1, requested?: number) =>
  placeModel({ ...needs, model: model(size), ...(requested !== undefined && { requested }) }, gpuLayers, on);

describe("with as many layers on GPUs as fit", () => {
  // GiB of the model, of free RAM and on GPUs; the layers there, of 48, and the least and most tokens of the context.
  test.each([
    ["a GPU holds what RAM does not", 18, 13, 23, -1, 16_384, 32_768],
    ["RAM is not counted where the GPU is enough", 18, 1, 23, -1, 16_384, 32_768],
    ["two GPUs hold what one does not", 40, 13, 45, -1, 16_384, 32_768],
    ["a small model has the default context", 3, 120, 79, -1, 22_272, 22_272],
    ["RAM takes the layers that do not fit", 7, 120, 7, 35, 16_384, 32_768],
    ["RAM takes most of a large model", 18, 120, 7, 15, 16_384, 32_768],
    ["RAM takes some layers rather than leave no context", 18, 13, 18.5, 43, 16_384, 32_768],
    ["a GPU that is full holds nothing", 3, 13, 0.3, 0, 32_768, 131_072],
    ["a GPU that computes in RAM may have a part of it", 7, 13, 12, -1, 16_384, 32_768],
  ])("%s", (name, size, host, gpus, layers, least, most) => {
    const { gpuLayers, isDivided, context, warning } = place(
      size,
      machine(host, gpus, name.includes("computes in RAM")),
    );
    expect([gpuLayers, isDivided, warning]).toEqual([layers, layers > 0, undefined]);
    expect(context.context).toBeGreaterThanOrEqual(least);
    expect(context.context).toBeLessThanOrEqual(most);
  });

  test("a draft model is there whole, however few layers it has", () => {
    const draft = { ...model(4), kvHeads: Array.from({ length: 20 }, () => 4) };
    const all = { ...needs, model: model(40), draft };
    const on = machine(120, 23);
    const { gpuLayers, context, isDivided, warning } = placeModel(all, -1, on);
    expect([isDivided, warning]).toEqual([true, undefined]);
    const ofDraft = draft.tensorBytes + context.context * kvBytesPerToken(draft, needs.kvType);
    const share = gpuLayers / (LAYERS + 1);
    const taken = (layers: number) => ofDraft + (layers / (LAYERS + 1)) * (context.needBytes - ofDraft);
    expect(share).toBeGreaterThan(0.3);
    expect(taken(gpuLayers)).toBeLessThanOrEqual(on.gpus);
    // With as many layers as would fit without it, too little memory is left.
    const { gpuLayers: alone } = placeModel({ ...needs, model: model(40) }, -1, on);
    expect(placeModel(all, alone, on).warning).toContain("the model needs");
    expect(placeModel(all, gpuLayers - 4, on).warning).toBeUndefined();
  });

  test("what goes there leaves none of their memory short, however much there is", () => {
    for (const size of [1, 5, 13, 40])
      for (const gpus of [0.5, 2, 6, 15, 39, 60])
        for (const host of [2, 16, 100])
          for (const isShared of [false, true]) {
            const on = machine(host, isShared ? Math.min(gpus, host) : gpus, isShared);
            const { gpuLayers, context, warning } = place(size, on);
            const share = gpuLayers < 0 ? 1 : gpuLayers / (LAYERS + 1);
            const all = isShared ? on.host : on.host + on.gpus;
            expect(share * context.needBytes).toBeLessThanOrEqual(on.gpus);
            expect(warning === undefined).toBe(context.needBytes <= (gpuLayers === 0 ? on.host : all));
          }
  });

  test("the log says how many layers are elsewhere", () => {
    expect(place(7, machine(120, 7)).note).toBe("35 of 48 layers fit on GPUs; the CPU computes the others");
    expect(place(3, machine(13, 0.3)).note).toBe("no layer fits on GPUs; the CPU computes all");
    expect(place(18, machine(13, 23)).note).toBeUndefined();
  });

  test("the log says that a model fits into neither memory", () => {
    const { gpuLayers, context, warning } = place(40, machine(13, 23));
    expect(warning).toMatch(
      /^the model needs 40\.\d GiB of memory, 2[12]\.\d GiB of it on GPUs; 13\.0 GiB are free, and 23\.0 GiB on GPUs: loading may/,
    );
    expect([gpuLayers, context.context]).toEqual([27, 512]);
  });

  test("a requested context is counted: layers make room for it", () => {
    expect(place(18, machine(60, 23), -1, 32_768).gpuLayers).toBe(-1);
    const { gpuLayers, context, note } = place(18, machine(60, 23), -1, 131_072);
    expect(gpuLayers).toBeGreaterThan(30);
    expect(gpuLayers).toBeLessThan(40);
    expect([context.context, context.isTight]).toEqual([131_072, false]);
    expect(note).toContain("the CPU computes the others");
  });

  test("pages are used only where all layers are in RAM", () => {
    const modes = [23, 7, 0.3].map((gpus) => place(7, machine(60, gpus)).context.kvMode);
    expect(modes).toEqual(["unified", "unified", "paged"]);
  });

  test("the host cache gets a part of the RAM that is left", () => {
    const spare = (on: Capacity) => place(7, on).context.spareBytes / GIB;
    expect(spare(machine(16, 23))).toBe(4);
    expect(spare(machine(16, 7))).toBeCloseTo((16 - (15 / 48) * 9) / 4, 0);
    expect(spare(machine(16, 15, true))).toBeLessThan(2);
  });
});

describe("with --gpu-layers", () => {
  test("the number is taken as it is, and the context fits both memories", () => {
    const { gpuLayers, isDivided, context, note, warning } = place(18, machine(60, 13), 24);
    expect([gpuLayers, isDivided, note, warning]).toEqual([24, true, undefined, undefined]);
    expect(context.context).toBeGreaterThan(16_384);
    expect(place(18, machine(9.5, 13), 24).context.context).toBeLessThan(8000);
    expect(place(18, machine(60, 10), 24).context.context).toBeLessThan(8000);
  });

  test("more than there are means all", () => {
    const { context, gpuLayers, isDivided } = place(18, machine(1, 23), 99);
    expect([gpuLayers, isDivided, context.context]).toEqual([99, false, place(18, machine(1, 23)).context.context]);
  });

  test("a number that does not fit is warned of", () => {
    expect(place(18, machine(60, 7), 99).warning).toMatch(
      /18\.\d GiB of it on GPUs; 60\.0 GiB are free, and 7\.0 GiB on/,
    );
    expect(place(18, machine(4, 13), 24).warning).toContain("4.0 GiB are free");
  });
});

describe("several GPUs", () => {
  const gpu = (free: number): Gpu => ({ free: free * GIB, total: 24 * GIB, isShared: false });
  const two = [gpu(23), gpu(11)];
  const split = { splitMode: "layer", mainGpu: 0, tensorSplit: [] } as const;

  test.each([
    ["all but 1 GiB of each counts", split, 32],
    ["the main GPU alone counts where everything is there", { ...split, splitMode: "none", mainGpu: 1 } as const, 10],
    ["with given shares, the one that is full first limits the other", { ...split, tensorSplit: [1, 1] }, 20],
    ["one without a share does not count", { ...split, tensorSplit: [1] }, 22],
  ])("%s", (_name, options, most) => {
    expect(gpuCapacity(two, options) / GIB).toBe(most);
  });

  test("one that is full counts as nothing", () => {
    expect(gpuCapacity([gpu(0.5), gpu(5)], split) / GIB).toBe(4);
  });
});

describe("what a model claims of GPUs", () => {
  const gpus = [{ free: 0, total: 25 * GIB, isShared: false }];
  const claim = (size: number, gpuLayers: number, on: readonly Gpu[] = gpus) =>
    gpuClaim(model(size), size * GIB, gpuLayers, on);

  test("is all of it, or what they hold when nothing else is there; RAM may take the rest", () => {
    expect(claim(18, -1)?.orHost).toBe(true);
    expect((claim(18, -1)?.bytes ?? 0) / GIB).toBeCloseTo(18.35, 1);
    expect(claim(40, -1)).toEqual({ bytes: 24 * GIB, orHost: true });
  });

  test("is a fixed part with --gpu-layers", () => {
    const { bytes, orHost } = claim(24, 24) ?? { bytes: 0, orHost: true };
    expect(orHost).toBe(false);
    expect(bytes / GIB).toBeCloseTo(12.35, 1);
  });

  test("is nothing where GPUs are not used, are not there, or compute in RAM", () => {
    expect(claim(18, 0)).toBeUndefined();
    expect(claim(18, -1, [])).toBeUndefined();
    expect(claim(18, -1, [{ free: 0, total: GIB, isShared: true }])).toBeUndefined();
  });
});
