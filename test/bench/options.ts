// The options of `npm run bench`.

import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Scenario } from "./scenarios.ts";
import { SCENARIOS } from "./scenarios.ts";

const ROWS = [...new Set(["ready", ...SCENARIOS.flatMap(rowsOf), "memory"])];

export const USAGE = `npm run bench -- [options]
  --runs N             alternating runs of each scenario (default 3)
  --scenarios A,B      by name: ${SCENARIOS.map((scenario) => `"${scenario.name}"`).join(", ")} (default all)
  --rows A,B           ${ROWS.join(", ")} (default all)
  --threads N          for every side (default: the number of cores)
  --idle SECONDS       pause before memory is read (default 60)
  --svc COMMAND        how to start svc (default: dist/svc when built, else from source)
  --before COMMAND     an earlier svc, in the place of llama-server: what a change has cost or won
  --llama-server FILE  (default: the one that \`bun build.ts bench\` built); llama.cpp's benchmarks stand beside it`;

export interface BenchOptions {
  readonly runs: number;
  readonly wants: (row: string) => boolean;
  readonly threads: number;
  readonly idleSeconds: number;
  readonly svc: readonly string[];
  /** The command of another svc to measure instead of llama-server. */
  readonly before: readonly string[] | undefined;
  readonly llamaServer: string;
  /** The scenarios with at least one wanted row. */
  readonly scenarios: readonly Scenario[];
}

/** The repository's top folder. */
export const ROOT = join(import.meta.dir, "../..");

/** Reads the command line; returns undefined after printing help. Throws for unknown options and names. */
export function readOptions(): BenchOptions | undefined {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    options: {
      runs: text,
      scenarios: text,
      rows: text,
      threads: text,
      idle: text,
      svc: text,
      before: text,
      "llama-server": text,
      help: { type: "boolean" },
    },
  });
  if (values.help) return undefined;
  const names = readNames(
    "scenario",
    values.scenarios,
    SCENARIOS.map(({ name }) => name),
  );
  const rows = readNames("row", values.rows, ROWS);
  const wants = (row: string) => rows?.includes(row) ?? true;
  return {
    runs: Number(values.runs ?? 3),
    wants,
    threads: Number(values.threads ?? availableParallelism()),
    idleSeconds: Number(values.idle ?? 60),
    svc: values.svc?.split(" ") ?? findSvc(),
    before: values.before?.split(" "),
    llamaServer: values["llama-server"] ?? findLlamaServer(),
    scenarios: SCENARIOS.filter(({ name }) => names?.includes(name) ?? true).filter((one) => rowsOf(one).some(wants)),
  };
}

function rowsOf(scenario: Scenario): string[] {
  const own = scenario.measurements.map(({ id }) => id);
  return [...(scenario.ready === true ? ["ready"] : []), ...own, ...(scenario.memory === true ? ["memory"] : [])];
}

function readNames(what: string, list: string | undefined, known: readonly string[]): readonly string[] | undefined {
  const names = list?.split(",");
  const unknown = names?.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`no ${what} is called "${unknown}"\n${USAGE}`);
  return names;
}

export const findSvc = (): string[] =>
  existsSync(join(ROOT, "dist/svc")) ? [join(ROOT, "dist/svc")] : [process.execPath, join(ROOT, "src/main.ts")];

export function findLlamaServer(): string {
  const built = join(ROOT, "vendor/.build/llama-server/llama-server");
  if (!existsSync(built)) throw new Error("llama-server is not built: run `bun build.ts bench`");
  return built;
}
