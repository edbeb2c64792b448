// The command lines of a scenario, equivalent for all servers: same file, context, threads, batch, KV type and
// attention.

import { dirname, join } from "node:path";
import type { Tool } from "./engine-tools.ts";
import { makeModel } from "./make-model.ts";
import { ROOT, type BenchOptions } from "./options.ts";
import type { Scenario } from "./scenarios.ts";
import type { LaunchPlan } from "./server-under-test.ts";

/**
 * The KV cache options of the servers when a scenario sets none: svc decides for itself. llama-server's second prompt
 * cache is off: copying finished prompts into it takes time, and no prompt of these scenarios repeats.
 */
const USUAL = { svc: "", "llama-server": "--no-kv-unified --cache-ram 0" } as const;

const words = (line: string) => line.split(" ").filter((word) => word !== "");

/** Returns the servers of a scenario, svc first. */
export function launchPlans(scenario: Scenario, options: BenchOptions): readonly LaunchPlan[] {
  const [svc, other] =
    scenario.model === "all-minilm" ? embeddingPlans(scenario, options) : textPlans(scenario, options);
  if (options.before) {
    const command = [...options.before, ...svc.command.slice(options.svc.length)];
    return [svc, { side: "before", command }];
  }
  const otherwise = (scenario.otherwise ?? []).map((flags): LaunchPlan => ({
    side: flags,
    command: [...svc.command, ...words(flags)],
  }));
  return scenario.alone === true ? [svc, ...otherwise] : [svc, other, ...otherwise];
}

type Plans = readonly [svc: LaunchPlan, llamaServer: LaunchPlan];

function textPlans(scenario: Scenario, options: BenchOptions): Plans {
  const model = modelPath(scenario);
  const same = `--parallel ${scenario.parallel} --threads ${options.threads}`;
  const flags = scenario.flags ?? USUAL;
  const svc: LaunchPlan = {
    side: "svc",
    command: [
      ...options.svc,
      "--model",
      model,
      ...words(`--ctx ${scenario.ctx} ${same} --batch 512 --micro-batch 512 --flash-attention on --kv-type f16`),
      ...words(flags.svc),
    ],
  };
  const llamaServer: LaunchPlan = {
    side: "llama-server",
    command: [
      options.llamaServer,
      "--model",
      model,
      ...words(`--ctx-size ${scenario.ctx} ${same} --batch-size 512 --ubatch-size 512 --flash-attn on`),
      ...words("--cache-type-k f16 --cache-type-v f16 --no-ui"),
      ...words(flags["llama-server"]),
    ],
  };
  return [svc, llamaServer];
}

/**
 * Returns plans with an embedding model: next to svc-mini in svc, and alone in llama-server, which divides its
 * context among the slots.
 */
function embeddingPlans(scenario: Scenario, options: BenchOptions): Plans {
  const model = modelPath(scenario);
  const threads = `--threads ${options.threads}`;
  const llamaFlags = `--embedding --ctx-size ${scenario.ctx} --parallel ${scenario.parallel} --batch-size 512 --ubatch-size 512 --no-ui`;
  return [
    { side: "svc", command: [...options.svc, "--embedding-model", model, ...words(threads)] },
    { side: "llama-server", command: [options.llamaServer, "--model", model, ...words(`${llamaFlags} ${threads}`)] },
  ];
}

/** Returns the command of an engine benchmark with a scenario's model. */
export function toolCommand(tool: Tool, scenario: Scenario, options: BenchOptions): readonly string[] {
  return [
    join(dirname(options.llamaServer), tool.name),
    "-m",
    modelPath(scenario),
    ...words(`-t ${options.threads} -b 512 -ub 512 -ctk f16 -ctv f16`),
    ...tool.arguments(scenario.ctx),
  ];
}

function modelPath(scenario: Scenario): string {
  if (scenario.model === "svc-mini") return join(ROOT, "vendor/svc-mini/svc-mini-q8_0.gguf");
  if (scenario.model === "all-minilm") return join(ROOT, "vendor/.build/embedding/current/all-minilm-l6-v2.gguf");
  if (scenario.model === "smollm2") return join(ROOT, "vendor/.build/smollm2/current/smollm2-135m-instruct-q4_1.gguf");
  return makeModel(scenario.model, join(ROOT, "vendor/.build/models"));
}
