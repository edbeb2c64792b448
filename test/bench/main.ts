// `npm run bench`: svc against llama-server, on the same libraries, files and settings. Prints Markdown tables.

import { relative } from "node:path";
import { streamChat } from "./client.ts";
import type { BenchOptions } from "./options.ts";
import { launchPlans, readOptions, ROOT, USAGE } from "./options.ts";
import { PromptSource } from "./prompts.ts";
import { printTable } from "./report.ts";
import type { Figure, Scenario } from "./scenarios.ts";
import type { LaunchPlan, RunningServer, Side } from "./server-under-test.ts";
import { launch } from "./server-under-test.ts";

async function runScenario(scenario: Scenario, options: BenchOptions): Promise<void> {
  const plans = launchPlans(scenario, options);
  const samples: Record<Side, Figure[][]> = { svc: [], "llama-server": [] };
  // A start nobody times fills the file cache and, on the first one of all, svc's library cache.
  for (const plan of plans) await (await launch(plan)).stop();
  for (let run = 0; run < options.runs; run++) {
    // Who goes first changes, so that neither always meets the warmer machine.
    for (const plan of run % 2 === 0 ? plans : plans.toReversed()) {
      console.error(`bench: ${scenario.name}, run ${run + 1} of ${options.runs}, ${plan.side}`);
      const isLast = run === options.runs - 1;
      samples[plan.side].push(await runOnce(plan, scenario, { seed: run * 100 + 1, readMemory: isLast, options }));
    }
  }
  console.log(`\n### ${scenario.name}\n`);
  printTable(samples);
  console.log(`\n${plans.map((plan) => `- ${plan.side}: \`${plan.command.map(display).join(" ")}\``).join("\n")}`);
}

const display = (word: string): string => (word.startsWith(`${ROOT}/`) ? relative(ROOT, word) : word);

interface Run {
  readonly seed: number;
  readonly readMemory: boolean;
  readonly options: BenchOptions;
}

/** One start of one server: time to ready, then every wanted measurement, then memory. */
async function runOnce(plan: LaunchPlan, scenario: Scenario, { seed, readMemory, options }: Run): Promise<Figure[]> {
  const wants = (id: string) => options.rows?.includes(id) ?? true;
  const measurements = scenario.measurements.filter(({ id }) => wants(id));
  const server = await launch(plan);
  const figures: Figure[] = [];
  try {
    if (wants("ready")) {
      figures.push({ label: "time to ready, warm file cache", unit: "ms", better: "lower", value: server.readyMs });
    }
    const prompts = new PromptSource(seed);
    if (measurements.length > 0) await streamChat(server.port, { prompt: prompts.next(16), maxTokens: 4 });
    for (const measurement of measurements) figures.push(...(await measurement.run(server.port, prompts)));
    if (readMemory && scenario.memory && wants("memory")) {
      await Bun.sleep(options.idleSeconds * 1000);
      figures.push(...memoryFigures(server, plan.side, options.idleSeconds));
    }
  } finally {
    await server.stop();
  }
  return figures;
}

function memoryFigures(server: RunningServer, side: Side, idleSeconds: number): Figure[] {
  const memory = server.memory();
  if (!memory) return [];
  const figure = (label: string, bytes: number): Figure => ({ label, unit: "MB", better: "lower", value: bytes / 1e6 });
  return [
    figure(`resident, all processes, ${idleSeconds} s idle`, memory.resident),
    figure("peak resident, all processes", memory.peak),
    ...(side === "svc" ? [figure("resident, front process alone", memory.front)] : []),
  ];
}

const options = readOptions();
if (options) {
  for (const scenario of options.scenarios) await runScenario(scenario, options);
} else {
  console.log(USAGE);
}
