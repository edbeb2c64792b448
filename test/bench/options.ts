// What `npm run bench` can be told, and the equal command lines that follow from it.

import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { makeModel } from "./make-model.ts";
import type { Scenario } from "./scenarios.ts";
import { SCENARIOS } from "./scenarios.ts";
import type { LaunchPlan } from "./server-under-test.ts";

export const USAGE = `npm run bench -- [options]
  --runs N             alternating runs of each scenario (default 3)
  --scenarios A,B      by name: ${SCENARIOS.map((scenario) => `"${scenario.name}"`).join(", ")} (default all)
  --rows A,B           ready, ttft, decode, constrained, aggregate, gaps, memory (default all)
  --threads N          for both servers (default: the number of cores)
  --idle SECONDS       pause before memory is read (default 60)
  --svc COMMAND        how to start svc (default: dist/svc when built, else from source)
  --llama-server FILE  (default: the one that \`bun build.ts bench\` built)`;

export interface BenchOptions {
  readonly runs: number;
  /** Absent: all. */
  readonly rows?: readonly string[] | undefined;
  readonly threads: number;
  readonly idleSeconds: number;
  readonly svc: readonly string[];
  readonly llamaServer: string;
  readonly scenarios: readonly Scenario[];
}

/** The repository's top folder. */
export const ROOT = join(import.meta.dir, "../..");

/** Reads the command line; undefined when help was asked for. Throws on unknown options and names. */
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
      "llama-server": text,
      help: { type: "boolean" },
    },
  });
  if (values.help) return undefined;
  const names = values.scenarios?.split(",");
  const unknown = names?.find((name) => !SCENARIOS.some((scenario) => scenario.name === name));
  if (unknown !== undefined) throw new Error(`no scenario is called "${unknown}"\n${USAGE}`);
  return {
    runs: Number(values.runs ?? 3),
    rows: values.rows?.split(","),
    threads: Number(values.threads ?? availableParallelism()),
    idleSeconds: Number(values.idle ?? 60),
    svc: values.svc?.split(" ") ?? findSvc(),
    llamaServer: values["llama-server"] ?? findLlamaServer(),
    scenarios: SCENARIOS.filter((scenario) => names?.includes(scenario.name) ?? true),
  };
}

const findSvc = (): string[] =>
  existsSync(join(ROOT, "dist/svc")) ? [join(ROOT, "dist/svc")] : [process.execPath, join(ROOT, "src/main.ts")];

function findLlamaServer(): string {
  const built = join(ROOT, "vendor/.build/llama-server/llama-server");
  if (!existsSync(built)) throw new Error("llama-server is not built: run `bun build.ts bench`");
  return built;
}

/** Both servers' command lines for a scenario: same file, context, threads, batch, KV cache and attention. */
export function launchPlans(scenario: Scenario, options: BenchOptions): readonly LaunchPlan[] {
  const model = modelPath(scenario);
  const words = (line: string) => line.split(" ");
  const same = `--parallel ${scenario.parallel} --threads ${options.threads}`;
  return [
    {
      side: "svc",
      command: [
        ...options.svc,
        "--model",
        model,
        ...words(`--ctx ${scenario.ctx} ${same} --batch 512 --micro-batch 512`),
        ...words("--flash-attention on --kv-type f16 --kv-mode streams"),
      ],
    },
    {
      side: "llama-server",
      command: [
        options.llamaServer,
        "--model",
        model,
        ...words(`--ctx-size ${scenario.ctx} ${same} --batch-size 512 --ubatch-size 512`),
        // Its second prompt cache is off: copying finished prompts there costs time, and no prompt here comes twice.
        ...words("--flash-attn on --cache-type-k f16 --cache-type-v f16 --no-kv-unified --cache-ram 0 --no-ui"),
      ],
    },
  ];
}

function modelPath(scenario: Scenario): string {
  if (scenario.model === "svc-mini") return join(ROOT, "vendor/svc-mini/svc-mini-q8_0.gguf");
  return makeModel(scenario.model, join(ROOT, "vendor/.build/models"));
}
