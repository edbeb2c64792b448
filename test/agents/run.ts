// `npm run test:agents`: coding agents and Ollama's clients, unmodified, with svc. Where the model's words matter,
// svc's HTTP application runs with a scripted model; otherwise the program runs with svc-mini. Prints one line per
// check, then `N passed, N failed`. Needs npm and Python 3 with venv (up to 3.12 for aider). Takes some minutes,
// mostly for svc-mini to process the agents' prompts.

import { join } from "node:path";
import { counts, summary } from "../clients/checks.ts";
import { run, runChecks } from "../clients/scripts.ts";
import { missing } from "../native/templates/sources.ts";
import { pythonWith } from "../support/python.ts";
import { withServer } from "../support/server.ts";
import { claudeChecks } from "./claude-checks.ts";
import { codexChecks } from "./codex-checks.ts";
import { launchChecks } from "./launch-checks.ts";
import { realChecks } from "./real-checks.ts";
import { ScriptedModel } from "./scripted.ts";
import { templateChecks } from "./template-checks.ts";

const cwd = import.meta.dir;

/** Installs the pinned packages. One agent's program is put in place by a script of its package. */
async function install(): Promise<string> {
  await run(["npm", "ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"], { cwd });
  await run(["node", "node_modules/@anthropic-ai/claude-code/install.cjs"], { cwd });
  await pythonWith(join(cwd, "requirements-aider.txt"), "aider");
  return join(await pythonWith(join(cwd, "requirements-ollama.txt"), "ollama"), "python");
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
  const options = { cwd, env: { SVC_URL: url } };
  await runChecks([process.execPath, "ollama.ts"], options);
  await runChecks([python, "ollama_client.py"], options);
});
// A model of this size never ends its answer to such a long prompt on its own, so common letters stop it. With one
// thread, none waits for another without a core.
const agents = ["--ctx", "65536", "--threads", "1", "--temperature", "0", "--stop", '["s","e","a","i","o","t"]'];
await withServer(agents, ({ url }) => realChecks(url));
summary();
process.exit(counts.failed === 0 ? 0 : 1);
