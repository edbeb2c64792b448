// Readings of a machine's counters, and rates computed from two readings.

import { cpus } from "node:os";
import type { ProfileSample } from "../domain/profile.ts";
import type { Energy } from "./rapl.ts";

interface GpuReading {
  readonly watts: number | null;
  /** Utilisation, 0 to 1. */
  readonly share: number | null;
}

/** Estimated bytes that decode steps read from memory, and the milliseconds that these steps took. */
interface StepReads {
  readonly bytes: number;
  readonly ms: number;
}

/** One reading of all counters. Values other than `residentBytes` and `gpu` are cumulative. */
export interface Reading extends Energy {
  /** Milliseconds on a monotonic clock. */
  readonly at: number;
  readonly processCpuMs: number;
  readonly busyMs: number;
  /** Milliseconds of all CPUs, busy and idle. */
  readonly totalMs: number;
  readonly residentBytes: number;
  readonly gpu: GpuReading | undefined;
  readonly reads: StepReads;
}

/** Returns the CPU time of this process and of all CPUs, and the resident memory of this process. */
export function readProcess(): Pick<Reading, "processCpuMs" | "busyMs" | "totalMs" | "residentBytes"> {
  const { user, system } = process.cpuUsage();
  let [busyMs, totalMs] = [0, 0];
  for (const { times } of cpus()) {
    const busy = times.user + times.nice + times.sys + times.irq;
    busyMs += busy;
    totalMs += busy + times.idle;
  }
  return { processCpuMs: (user + system) / 1000, busyMs, totalMs, residentBytes: process.memoryUsage.rss() };
}

/** Returns the rates between two readings: all values of a sample except instantaneous ones. */
export function between(one: Reading, other: Reading, cpuCount: number) {
  const ms = other.at - one.at;
  const rate = (before: number | null, after: number | null) =>
    before === null || after === null ? null : over(after - before, ms / 1000);
  return {
    bandwidth: over(other.reads.bytes - one.reads.bytes, (other.reads.ms - one.reads.ms) / 1000),
    cpuShare: share(other.processCpuMs - one.processCpuMs, ms * cpuCount),
    systemCpuShare: share(other.busyMs - one.busyMs, other.totalMs - one.totalMs),
    cpuWatts: rate(one.cpuJoules, other.cpuJoules),
    dramWatts: rate(one.dramJoules, other.dramJoules),
  };
}

/** Returns a sample for each reading after the first, computed from that reading and the one before. */
export function samplesOf(readings: readonly Reading[], cpuCount: number): ProfileSample[] {
  const [first] = readings;
  if (!first) return [];
  return readings.slice(1).map((reading, index) => ({
    ms: reading.at - first.at,
    ...between(readings[index] ?? first, reading, cpuCount),
    gpuShare: reading.gpu?.share ?? null,
    gpuWatts: reading.gpu?.watts ?? null,
    residentBytes: reading.residentBytes,
  }));
}

/** Returns a rate, or null for an interval of no time. */
const over = (amount: number, seconds: number): number | null => (seconds > 0 ? amount / seconds : null);

/** Returns a share from 0 to 1. The two numbers have different clocks, so the quotient may be slightly out of range. */
const share = (part: number, whole: number): number | null =>
  whole > 0 ? Math.min(Math.max(part / whole, 0), 1) : null;
