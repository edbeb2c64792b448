// `npm run bench`: svc compared with llama-server, with the same libraries, files and settings. Prints Markdown
// tables.

import { relative } from "node:path";
import { streamChat } from "./client.ts";
import type { Tool } from "./engine-tools.ts";
import { launchPlans, toolCommand } from "./launch-plans.ts";
import type { Figure, Measurement, Yardstick } from "./measurement.ts";
import type { BenchOptions } from "./options.ts";
import { readOptions, ROOT, USAGE } from "./options.ts";
import { PromptSource } from "./prompts.ts";
import { printTable } from "./report.ts";
import type { Scenario } from "./scenarios.ts";
import type { LaunchPlan, RunningServer, Side } from "./server-under-test.ts";
import { launch } from "./server-under-test.ts";
import { exitOnSignals, killAtExit } from "../support/kill-at-exit.ts";

/** After 5 s of the load that follows, code is still being compiled, which takes 50 ms of a one-second request. */
const WARM_UP_MS = 10_000;
/** Numbers of concurrent streams, in turn. */
const WARM_UP_STREAMS = [4, 1];
/** Warm-up prompts differ from those that are measured. */
const WARM_UP_SEEDS = 50;

async function runScenario(scenario: Scenario, options: BenchOptions): Promise<void> {
  const plans = launchPlans(scenario, options);
  const tools = options.before ? [] : (scenario.tools ?? []).filter(({ id }) => options.wants(id));
  const samples = new Map<"svc" | Yardstick, (readonly Figure[])[]>(
    [...plans.map(({ side }) => side), ...tools.map(({ name }) => name)].map((name) => [name, []]),
  );
  const announce = (run: number, what: string) =>
    console.error(`bench: ${scenario.name}, run ${run + 1} of ${options.runs}, ${what}`);
  // A start that is not timed fills the file cache and, the first time, svc's library cache.
  for (const plan of plans) await (await launch(plan)).stop();
  for (let run = 0; run < options.runs; run++) {
    // The order alternates, so that neither server always gets the warmer machine.
    for (const plan of run % 2 === 0 ? plans : plans.toReversed()) {
      announce(run, plan.side);
      const isLast = run === options.runs - 1;
      samples.get(plan.side)?.push(await runOnce(plan, scenario, { seed: run * 100 + 1, readMemory: isLast, options }));
    }
    for (const tool of tools) {
      announce(run, tool.name);
      samples.get(tool.name)?.push(await runTool(tool, toolCommand(tool, scenario, options)));
    }
  }
  console.log(`\n### ${scenario.name}\n`);
  printTable(samples);
  const commands = [
    ...plans.map(({ side, command }) => ({ name: side, command })),
    ...tools.map((tool) => ({ name: tool.name, command: toolCommand(tool, scenario, options) })),
  ];
  console.log(
    `\n${commands.map(({ name, command }) => `- ${name}: \`${command.map(display).join(" ")}\``).join("\n")}`,
  );
}

const display = (word: string): string => (word.startsWith(`${ROOT}/`) ? relative(ROOT, word) : word);

interface Run {
  readonly seed: number;
  readonly readMemory: boolean;
  readonly options: BenchOptions;
}

/** Runs one start of one server: time to ready, then every wanted measurement, then memory. */
async function runOnce(plan: LaunchPlan, scenario: Scenario, { seed, readMemory, options }: Run): Promise<Figure[]> {
  const measurements = scenario.measurements.filter(({ id }) => options.wants(id));
  const server = await launch(plan);
  const figures: Figure[] = [];
  try {
    if (scenario.ready === true && options.wants("ready")) {
      figures.push({ label: "time to ready, warm file cache", unit: "ms", better: "lower", value: server.readyMs });
    }
    const prompts = new PromptSource(seed);
    if (measurements.length > 0 && scenario.cold !== true) await warmUp(server.port, seed + WARM_UP_SEEDS);
    for (const measurement of measurements)
      figures.push(...(await runRow(measurement, plan.side, server.port, prompts)));
    if (readMemory && scenario.memory === true && options.wants("memory")) {
      await Bun.sleep(options.idleSeconds * 1000);
      figures.push(...memoryFigures(server, plan.side, options.idleSeconds));
    }
  } finally {
    await server.stop();
  }
  return figures;
}

/**
 * Warms up a server. Servers run for days, so their first seconds, in which caches fill and code is compiled, are not
 * measured. llama.cpp's own benchmarks warm up as well.
 */
async function warmUp(port: number, seed: number): Promise<void> {
  const prompts = new PromptSource(seed);
  const until = performance.now() + WARM_UP_MS;
  do {
    for (const streams of WARM_UP_STREAMS) {
      const calls = Array.from({ length: streams }, () => ({ prompt: prompts.next(32), maxTokens: 128 / streams }));
      await Promise.all(calls.map((call) => streamChat(port, call)));
    }
  } while (performance.now() < until);
}

/** Runs a row. A row that fails, for example because a server gives up on it, leaves its own cells empty. */
async function runRow({ id, run }: Measurement, side: Side, port: number, prompts: PromptSource) {
  try {
    return await run(port, prompts);
  } catch (error) {
    console.log(`\nrow ${id} failed on ${side}: ${String(error)}`);
    process.exitCode = 1;
    return [];
  }
}

function memoryFigures(server: RunningServer, side: Side, idleSeconds: number): Figure[] {
  const memory = server.memory();
  if (!memory) return [];
  const figure = (label: string, bytes: number): Figure => ({ label, unit: "MB", better: "lower", value: bytes / 1e6 });
  return [
    figure(`resident, all processes, ${idleSeconds} s idle`, memory.resident),
    figure("peak resident, all processes", memory.peak),
    ...(side !== "llama-server" ? [figure("resident, front process alone", memory.front)] : []),
  ];
}

async function runTool(tool: Tool, command: readonly string[]): Promise<readonly Figure[]> {
  const child = Bun.spawn([...command], { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const ended = killAtExit(child);
  const [stdout, stderr, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  ended();
  if (status !== 0) throw new Error(`${tool.name} ended with ${status}\n${stderr.slice(-2000)}`);
  return tool.read(stdout);
}

const options = readOptions();
if (options) {
  exitOnSignals();
  for (const scenario of options.scenarios) await runScenario(scenario, options);
} else {
  console.log(USAGE);
}
