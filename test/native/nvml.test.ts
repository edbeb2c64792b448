// GPU readings through a library that mimics NVIDIA's, compiled here: two devices, one of which svc does not use.

import { beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { openGpus } from "../../ffi/nvml/binding.ts";
import { sharedFolder } from "../support/folders.ts";

const source = (power: string) => `
  #include <string.h>
  typedef struct device { const char * name; unsigned milliwatts; } * nvmlDevice_t;
  typedef struct { unsigned gpu, memory; } nvmlUtilization_t;
  static struct device devices[] = {{"Fast GPU", 301500}, {"Display", 9000}, {"Fast GPU", 100000}};
  extern "C" {
  int nvmlInit_v2() { return 0; }
  int nvmlDeviceGetCount_v2(unsigned * n) { *n = 3; return 0; }
  int nvmlDeviceGetHandleByIndex_v2(unsigned i, nvmlDevice_t * d) { *d = &devices[i]; return 0; }
  int nvmlDeviceGetName(nvmlDevice_t d, char * out, unsigned n) { strncpy(out, d->name, n); return 0; }
  int nvmlDeviceGetPowerUsage(nvmlDevice_t d, unsigned * mw) { ${power} }
  int nvmlDeviceGetUtilizationRates(nvmlDevice_t d, nvmlUtilization_t * u) { u->gpu = d->milliwatts > 200000 ? 97 : 5; u->memory = 1; return 0; }
  int nvmlDeviceGetMaxClockInfo(nvmlDevice_t, int type, unsigned * mhz) { *mhz = type == 2 ? 2619 : 1; return 0; }
  int nvmlDeviceGetMemoryBusWidth(nvmlDevice_t, unsigned * bits) { *bits = 5120; return 0; }
  }`;

const folder = sharedFolder();
const [whole, silent] = [join(folder, "whole.so"), join(folder, "silent.so")];
async function compile(code: string, library: string): Promise<void> {
  const compiler = Bun.spawn(["g++", "-shared", "-fPIC", "-x", "c++", "-", "-o", library], {
    stdin: Buffer.from(code),
  });
  expect(await compiler.exited).toBe(0);
}

beforeAll(async () => {
  await compile(source("*mw = d->milliwatts; return 0;"), whole);
  await compile(source("return 3;"), silent);
});

describe("GPU readings", () => {
  test("are the totals of the devices in use", () => {
    const gpus = openGpus("Fast GPU, Fast GPU", whole);
    expect(gpus?.read()).toEqual({ watts: 401.5, share: 0.97 });
    expect(gpus?.peakBandwidth).toBe(2 * 2 * 2619e6 * 640);
  });

  test("are null when a device does not report them", () => {
    expect(openGpus("Fast GPU", silent)?.read()).toEqual({ watts: null, share: 0.97 });
  });

  test("are absent without such a device or without the library", () => {
    expect(openGpus("Other GPU", whole)).toBeUndefined();
    expect(openGpus("Fast GPU", join(folder, "missing.so"))).toBeUndefined();
  });
});
