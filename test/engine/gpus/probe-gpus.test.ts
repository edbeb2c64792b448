// The devices of this machine, as ggml and the process that reads them report them. Without a GPU, that is the CPU.

import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { totalmem } from "node:os";
import { openDevices } from "../../../ffi/llama/devices.ts";
import { developmentLibraries } from "../../../ffi/runtime/native-files.ts";
import { usedGpus } from "../../../src/engine/gpus/child/kind.ts";
import { probeGpus } from "../../../src/engine/gpus/probe-gpus.ts";
import { isBuilt } from "../../native/whisper-harness.ts";
import { temporaryFolder } from "../../support/folders.ts";
import { testLaunch } from "../../support/launch.ts";
import { TestClock } from "../../support/test-clock.ts";
import { childrenOf } from "../../support/processes.ts";

setDefaultTimeout(30_000);

describe.skipIf(!isBuilt)("devices", () => {
  test("have a kind and a size", () => {
    const devices = openDevices(developmentLibraries()).devices();
    const cpu = devices.find(({ type }) => type === "cpu");
    expect(cpu?.total).toBeGreaterThan(totalmem() / 2);
    expect(cpu?.total).toBeLessThan(totalmem() * 2);
    expect(cpu?.free).toBeGreaterThan(0);
    expect(cpu?.free).toBeLessThanOrEqual(cpu?.total ?? 0);
  });

  test("are read by a process that ends", async () => {
    const before = childrenOf(process.pid).length;
    const gpus = await probeGpus(developmentLibraries(), testLaunch());
    for (const { free, total } of gpus) expect(free).toBeLessThanOrEqual(total);
    expect(childrenOf(process.pid)).toHaveLength(before);
  });
});

test("libraries that cannot be loaded are an error, not a machine without GPUs", async () => {
  await expect(probeGpus(temporaryFolder(), testLaunch())).rejects.toThrow("cannot load the native library");
});

test("a driver that hangs is an error within a minute, although engines may be silent for ever", async () => {
  const clock = new TestClock();
  const hanging = testLaunch({ command: () => ["sleep", "600"], clock });
  const probed = probeGpus("", hanging).then(
    () => "read",
    (error: Error) => error.message,
  );
  let said: string | undefined;
  void probed.then((message) => (said = message));
  for (let second = 0; said === undefined && second < 120; second++) {
    clock.pass(1000);
    await Bun.sleep(20);
  }
  expect(said).toContain("made no progress for 60 s while loading");
});

describe("the devices for models", () => {
  const of = (type: "cpu" | "gpu" | "integrated" | "accelerator", size: number) => ({ type, free: size, total: size });

  test("are all GPUs with memory of their own", () => {
    expect(usedGpus([of("gpu", 3), of("cpu", 9), of("integrated", 9), of("gpu", 5)])).toEqual([
      { free: 3, total: 3, isShared: false },
      { free: 5, total: 5, isShared: false },
    ]);
  });

  test("are GPUs that compute in RAM where there are no others, and none without any", () => {
    expect(usedGpus([of("integrated", 9), of("cpu", 9)])).toEqual([{ free: 9, total: 9, isShared: true }]);
    expect(usedGpus([of("accelerator", 0), of("cpu", 9)])).toEqual([]);
  });
});
