// `npm run test:agents`: coding agents and Ollama's clients, unmodified, with svc. Where the model's words matter,
// svc's HTTP application runs with a scripted model; otherwise the program runs with svc-mini. Prints one line per
// check, then `N passed, N failed`. Needs npm and Python 3 with venv (up to 3.12 for aider). Takes some minutes,
// mostly for svc-mini to process the agents' prompts.

import { join } from "node:path";
import { counts, summary } from "../clients/checks.ts";
import { missing } from "../native/templates/sources.ts";
import { pythonWith } from "../support/python.ts";
import { withServer } from "../support/server.ts";
import { claudeChecks } from "./claude-checks.ts";
import { codexChecks } from "./codex-checks.ts";
import { launchChecks } from "./launch-checks.ts";
import { realChecks } from "./real-checks.ts";
import { ScriptedModel } from "./scripted.ts";
import { templateChecks } from "./template-checks.ts";

const folder = import.meta.dir;

async function run(command: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
  const options = { cwd: folder, stdin: "ignore", stdout: "pipe", stderr: "inherit" } as const;
  const child = Bun.spawn([...command], { ...options, env: { ...process.env, ...env } });
  const [output, status] = await Promise.all([child.stdout.text(), child.exited]);
  if (status !== 0) throw new Error(`${command.join(" ")} ended with ${status}\n${output}`);
  return output;
}

/** Installs the pinned packages. One agent's program is put in place by a script of its package. */
async function install(): Promise<string> {
  await run(["npm", "ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"]);
  await run(["node", "node_modules/@anthropic-ai/claude-code/install.cjs"]);
  await pythonWith(join(folder, "requirements-aider.txt"), "aider");
  return join(await pythonWith(join(folder, "requirements-ollama.txt"), "ollama"), "python");
}

/** Runs a script that prints one line per check, then the counts. */
async function runChecks(command: readonly string[], url: string): Promise<void> {
  const lines = (await run(command, { SVC_URL: url })).trimEnd().split("\n");
  const total = /^(\d+) passed, (\d+) failed$/.exec(lines.pop() ?? "");
  if (!total) throw new Error(`${command.join(" ")} ended without a count`);
  console.log(lines.join("\n"));
  counts.passed += Number(total[1]);
  counts.failed += Number(total[2]);
}

const python = await install();
const model = new ScriptedModel();
const conversations = [
  { agent: "codex", prompts: await codexChecks(model) },
  { agent: "claude", prompts: await claudeChecks(model) },
];
await launchChecks(model);
await model.stop();
if (missing) console.log(`skip  templates of other models: ${missing}`);
else await templateChecks(conversations);
await withServer(["--threads", "1"], async ({ url }) => {
  await runChecks([process.execPath, "ollama.ts"], url);
  await runChecks([python, "ollama_client.py"], url);
});
// A model of this size never ends its answer to such a long prompt on its own, so common letters stop it. With one
// thread, none waits for another without a core.
const agents = ["--ctx", "65536", "--threads", "1", "--temperature", "0", "--stop", '["s","e","a","i","o","t"]'];
await withServer(agents, ({ url }) => realChecks(url));
summary();
process.exit(counts.failed === 0 ? 0 : 1);
