// How models are loaded by a build for GPUs. The libraries are those of this machine, with a file that is named like
// ggml's for CUDA: what is computed is computed by the CPU.

import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { developmentLibraries, nativeFiles } from "../../ffi/runtime/native-files.ts";
import { chatEngine } from "../../src/cli/engines.ts";
import { logPlacement, readGpus } from "../../src/cli/gpus.ts";
import { prepareModel } from "../../src/cli/prepare-model.ts";
import { GIB } from "../../src/domain/gib.ts";
import type { Gpu } from "../../src/domain/gpu.ts";
import { GpuMemory } from "../../src/engine/process/gpu-memory.ts";
import { flashAttentionOf } from "../../src/engine/text/child/kind.ts";
import { MemoryBudget } from "../../src/engine/process/memory-budget.ts";
import { readModelFile } from "../../src/model/model-file.ts";
import { testConfig } from "../http/harness.ts";
import { isBuilt } from "../native/whisper-harness.ts";
import { sharedFolder } from "../support/folders.ts";
import { testLaunch } from "../support/launch.ts";
import { RecordingLog } from "../support/recording-log.ts";
import { plainRequest } from "../support/request.ts";

setDefaultTimeout(60_000);

const libraries = sharedFolder();
beforeAll(() => {
  if (!isBuilt) return;
  const own = developmentLibraries();
  for (const name of readdirSync(own)) symlinkSync(join(own, name), join(libraries, name));
  writeFileSync(join(libraries, "libggml-cuda.so"), "");
});

const config = { ...testConfig, gpuLayers: -1, threads: 1 };
const native = () => ({ ...nativeFiles(""), libraries });
const gpu = (free: number): Gpu => ({ free: free * GIB, total: 24 * GIB, isShared: false });
/** Describes the embedded model as one with so many GiB of weights. */
const sized = (gibibytes: number) => ({ ...readModelFile(native().embeddedModel), tensorBytes: gibibytes * GIB });
const prepare = (size: number, gpus: readonly Gpu[], more: Partial<typeof config> = {}) =>
  prepareModel({ ...config, ...more }, native, { files: { model: sized(size) }, gpus });

describe.skipIf(!isBuilt)("a model on a machine with a GPU", () => {
  test("has its context there, whatever RAM is free", () => {
    const { options, context, placement } = prepare(18, [gpu(23)]);
    expect([options.gpuLayers, options.isDivided, context.kvMode]).toEqual([-1, undefined, "unified"]);
    expect(placement?.warning).toBeUndefined();
    expect(options.context).toBeGreaterThan(4096);
  });

  test("has only the layers there that fit", () => {
    const { options, placement } = prepare(18, [gpu(7)]);
    expect(options.isDivided).toBe(true);
    expect(options.gpuLayers).toBeGreaterThan(0);
    expect(options.gpuLayers).toBeLessThan(sized(18).kvHeads.length);
    const log = new RecordingLog();
    logPlacement({ id: "m", placement: placement as NonNullable<typeof placement> }, log);
    expect(log.lines[0]).toMatchObject({
      level: "info",
      message: expect.stringMatching(/^\d+ of \d+ layers fit on GPUs/),
    });
  });

  test("has flash attention even if it is divided, unless that is off", () => {
    const uses = (flashAttention: "auto" | "off") => [
      flashAttentionOf({ flashAttention }),
      flashAttentionOf({ flashAttention, isDivided: true }),
    ];
    expect(uses("auto")).toEqual(["auto", "on"]);
    expect(uses("off")).toEqual(["off", "off"]);
  });

  test("is warned of once if neither memory is enough", () => {
    const messages = (ctx?: number) => {
      const { placement } = prepare(
        2000,
        Array.from({ length: 20 }, () => gpu(23)),
        ctx === undefined ? {} : { ctx },
      );
      const log = new RecordingLog();
      logPlacement({ id: "m", placement: placement as NonNullable<typeof placement> }, log);
      return log.lines.filter(({ level }) => level === "warn").map(({ message }) => message);
    };
    expect(messages()).toEqual([
      expect.stringMatching(/^the model needs 2000\.\d GiB of memory, \d+\.\d GiB of it on GPUs/),
    ]);
    // Whoever loads it has said so of --ctx.
    expect(messages(8192)).toEqual([]);
  });

  test("is as before where GPUs are unknown, not used, or beside workers", () => {
    const worker = { name: "a", endpoint: "a", free: [30 * GIB] };
    const files = { model: sized(18) };
    expect(prepare(18, []).placement).toBeUndefined();
    expect(prepare(18, [gpu(23)], { gpuLayers: 0 }).placement).toBeUndefined();
    expect(prepareModel(config, native, { files, workers: [worker], gpus: [gpu(23)] }).placement).toBeUndefined();
  });

  test("leaves memory there for its projector", () => {
    const own = { ...config, ctx: 4096 };
    const besideWeights = prepare(1, [gpu(23)], own).context.needBytes / GIB - 1;
    const files = { model: sized(22 - besideWeights - 1 / 1024) };
    const layersWith = (more: object) =>
      prepareModel(own, native, { files: { ...files, ...more }, gpus: [gpu(23)] }).options.gpuLayers;
    expect(layersWith({})).toBe(-1);
    expect(layersWith({ mmproj: native().embeddedModel })).toBeGreaterThan(0);
  });
});

describe.skipIf(!isBuilt)("a model that is loaded on first use", () => {
  const ask = async (size: number, host: number, gpus: readonly Gpu[]) => {
    const log = new RecordingLog();
    const memory = new MemoryBudget(() => host * GIB, new GpuMemory(async () => gpus));
    await memory.gpus.read();
    const launch = testLaunch({ log, memory });
    const setup = { config, launch, native: native() };
    const engine = chatEngine({ ...sized(size), id: "m" }, native().embeddedModel, setup);
    try {
      const events = engine.generate({ ...plainRequest("Hello"), maxTokens: 2 }, new AbortController().signal);
      return await Array.fromAsync(events).then(
        (all) => all.at(-1)?.type,
        (error: Error) => error.message,
      );
    } finally {
      await engine.stop();
    }
  };

  test("needs no RAM for what a GPU holds", async () => {
    expect(await ask(18, 0, [gpu(23)])).toBe("finish");
  });

  test("is refused with all numbers if neither memory is enough", async () => {
    expect(await ask(40, 13, [gpu(23)])).toBe(
      "The model m needs at least 40.0 GiB of memory; 13.0 GiB are free, and 22.0 GiB on GPUs.",
    );
  });
});

// Macs are not asked.
describe.skipIf(!isBuilt || process.platform === "darwin")("the memory of GPUs", () => {
  const launch = testLaunch();
  const fails = testLaunch({
    command: () => {
      throw new Error("started");
    },
  });

  test("is read by a build for GPUs", async () => {
    const log = new RecordingLog();
    let started = 0;
    const command = (kind: string) => {
      started++;
      return launch.command(kind);
    };
    // There is no GPU that the file could use.
    expect(await readGpus(config, native(), { ...launch, log, command })).toEqual([]);
    expect([started, log.lines.filter(({ level }) => level === "warn")]).toEqual([1, []]);
  });

  test("is not read where no GPU is used", async () => {
    expect(await readGpus({ ...config, gpuLayers: 0 }, native(), fails)).toEqual([]);
    expect(await readGpus(config, { ...native(), libraries: developmentLibraries() }, fails)).toEqual([]);
  });

  test.each([
    ["when it cannot be read", libraries],
    ["without the libraries", join(libraries, "missing")],
  ])("does not keep the server from starting %s", async (_, folder) => {
    const log = new RecordingLog();
    expect(await readGpus(config, { ...native(), libraries: folder }, { ...fails, log })).toEqual([]);
    expect(log.lines.filter(({ level }) => level === "warn")).toEqual([
      expect.objectContaining({ message: expect.stringContaining("models are fitted into RAM") }),
    ]);
  });
});
