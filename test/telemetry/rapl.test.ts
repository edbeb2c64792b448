import { afterEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Rapl } from "../../src/telemetry/rapl.ts";

const root = mkdtempSync(join(tmpdir(), "rapl-"));
afterEach(() => rmSync(root, { recursive: true, force: true }));

function zone(id: string, name: string, microjoules: number, range = 1_000_000): void {
  mkdirSync(join(root, id), { recursive: true });
  writeFileSync(join(root, id, "name"), `${name}\n`);
  writeFileSync(join(root, id, "max_energy_range_uj"), `${range}\n`);
  writeFileSync(join(root, id, "energy_uj"), `${microjoules}\n`);
}

test("packages and memories are added up without their parts and the platform, and counters may wrap", () => {
  zone("intel-rapl:0", "package-0", 500_000);
  zone("intel-rapl:0:0", "core", 1);
  zone("intel-rapl:0:1", "dram", 10);
  zone("intel-rapl:1", "package-1", 900_000);
  zone("intel-rapl:2", "psys", 1);
  mkdirSync(join(root, "intel-rapl"));
  const rapl = new Rapl(root);
  expect(rapl.read()).toEqual({ cpuJoules: 0, dramJoules: 0 });
  zone("intel-rapl:0", "package-0", 700_000);
  zone("intel-rapl:0:0", "core", 100_001);
  zone("intel-rapl:0:1", "dram", 50_010);
  zone("intel-rapl:1", "package-1", 100_000);
  expect(rapl.read()).toEqual({ cpuJoules: 0.4, dramJoules: 0.05 });
});

test("without counters there are no readings, and no error", () => {
  expect(new Rapl(join(root, "nowhere")).read()).toEqual({ cpuJoules: null, dramJoules: null });
});
