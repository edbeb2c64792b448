// Reads the energy counters of Intel and AMD processors (RAPL) on Linux. Often only root may read them.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Joules since an arbitrary moment; null if there is no readable counter. */
export interface Energy {
  readonly cpuJoules: number | null;
  readonly dramJoules: number | null;
}

export class Rapl {
  private readonly cpu: Counter[];
  private readonly dram: Counter[];

  /** Finds the counters under `root` that are readable. */
  constructor(root = "/sys/class/powercap") {
    const zones = list(root).filter((name) => name.startsWith("intel-rapl:"));
    const counters = zones.flatMap((zone) => Counter.open(join(root, zone)) ?? []);
    this.cpu = counters.filter(({ name }) => name.startsWith("package"));
    this.dram = counters.filter(({ name }) => name === "dram");
  }

  read(): Energy {
    const sum = (counters: readonly Counter[]) =>
      counters.length === 0 ? null : counters.reduce((joules, counter) => joules + counter.read(), 0);
    return { cpuJoules: sum(this.cpu), dramJoules: sum(this.dram) };
  }
}

/** One counter, corrected for its wraparound, which happens after minutes at the earliest. */
class Counter {
  private total = 0;
  private last: number;

  private constructor(
    private readonly file: string,
    readonly name: string,
    private readonly range: number,
  ) {
    this.last = Number(readFileSync(file, "utf8"));
  }

  static open(zone: string): Counter | undefined {
    try {
      const text = (name: string) => readFileSync(join(zone, name), "utf8").trim();
      return new Counter(join(zone, "energy_uj"), text("name"), Number(text("max_energy_range_uj")));
    } catch {
      return undefined;
    }
  }

  read(): number {
    const now = Number(readFileSync(this.file, "utf8"));
    this.total += now >= this.last ? now - this.last : now - this.last + this.range;
    this.last = now;
    return this.total / 1e6;
  }
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
