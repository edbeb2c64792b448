import { describe, expect, test } from "bun:test";
import { cpus } from "node:os";
import { between, readProcess, samplesOf, type Reading } from "../../src/telemetry/readings.ts";

const start: Reading = {
  at: 5000,
  processCpuMs: 100,
  busyMs: 1000,
  totalMs: 4000,
  residentBytes: 1,
  cpuJoules: 10,
  dramJoules: null,
  gpu: undefined,
  reads: { bytes: 1e9, ms: 500 },
};
const later = (changes: Partial<Reading>): Reading => ({ ...start, ...changes });

describe("between two readings", () => {
  test("rates are differences over time", () => {
    const end = later({ at: 7000, processCpuMs: 2100, busyMs: 4000, totalMs: 8000, cpuJoules: 110 });
    expect(between(start, { ...end, reads: { bytes: 7e9, ms: 2000 } }, 2)).toEqual({
      bandwidth: 4e9,
      cpuShare: 0.5,
      systemCpuShare: 0.75,
      cpuWatts: 50,
      dramWatts: null,
    });
  });

  test("shares are from 0 to 1, and values missing in one reading have no rate", () => {
    const end = later({ at: 6000, processCpuMs: 9000, busyMs: 900, totalMs: 4001, cpuJoules: null, dramJoules: 5 });
    expect(between(start, end, 1)).toMatchObject({ cpuShare: 1, systemCpuShare: 0, cpuWatts: null, dramWatts: null });
  });

  test("nothing has a rate when no time has passed", () => {
    expect(between(start, start, 2)).toEqual({
      bandwidth: null,
      cpuShare: null,
      systemCpuShare: null,
      cpuWatts: null,
      dramWatts: null,
    });
  });
});

test("each sample covers the time since the previous one, with levels of its own moment", () => {
  const gpu = { watts: 300, share: 0.9 };
  const readings = [
    start,
    later({ at: 5100, cpuJoules: 12, residentBytes: 2 }),
    later({ at: 5400, cpuJoules: 15, residentBytes: 3, gpu }),
  ];
  expect(samplesOf(readings, 1)).toMatchObject([
    { ms: 100, cpuWatts: 20, gpuWatts: null, gpuShare: null, residentBytes: 2 },
    { ms: 400, cpuWatts: 10, gpuWatts: 300, gpuShare: 0.9, residentBytes: 3 },
  ]);
});

test("a reading of this process has the values that the system reports", () => {
  const look = () => {
    const { user, system } = process.cpuUsage();
    const times = cpus().map((cpu) => cpu.times);
    const sum = (of: (time: (typeof times)[number]) => number) => times.reduce((all, time) => all + of(time), 0);
    const busyMs = sum(({ user: own, nice, sys, irq }) => own + nice + sys + irq);
    return { processCpuMs: user / 1000 + system / 1000, busyMs, totalMs: busyMs + sum(({ idle }) => idle) };
  };
  for (const until = performance.now() + 50; performance.now() < until;);
  const before = look();
  const reading = readProcess();
  const after = look();
  for (const name of ["processCpuMs", "busyMs", "totalMs"] as const) {
    expect(reading[name]).toBeWithin(before[name], after[name] + 1);
  }
  expect(reading.residentBytes).toBeGreaterThan(1e6);
});
