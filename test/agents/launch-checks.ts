// `svc launch`: each agent is started and performs a task: it reads a file, then edits it. The user's own
// configuration stays unchanged, and does not divert the agent from this server.

import { check, equal, ok } from "../clients/checks.ts";
import { allServed } from "./exchanges.ts";
import { ended, Workspace } from "./program.ts";
import { call, say, type ScriptedModel, type Turn } from "./scripted.ts";

interface Launched {
  readonly agent: string;
  /** Arguments for a run without user interaction. */
  readonly args: (task: string) => readonly string[];
  /** A config file in the user's home folder that names another server. */
  readonly config: { readonly folder: string; readonly name: string; readonly text: string };
  /** The turns of the model before its final message. */
  readonly turns: (path: string) => readonly Turn[];
  /** The final message; by default it says that the task is done. */
  readonly last?: string;
  readonly env?: Readonly<Record<string, string>>;
}

const AIDER_ALONE = [
  "--yes-always",
  "--no-git",
  "--no-check-update",
  "--analytics-disable",
  "--no-stream",
  "--no-pretty",
];

const PATCH = "*** Begin Patch\n*** Update File: greeting.txt\n@@\n-hello\n+goodbye\n*** End Patch";
const ELSEWHERE = "http://127.0.0.1:1";

const LAUNCHED: readonly Launched[] = [
  {
    agent: "codex",
    args: (task) => ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", task],
    config: {
      folder: "home/.codex",
      name: "config.toml",
      text: `model = "other"\nmodel_provider = "other"\n[model_providers.other]\nname = "other"\nbase_url = "${ELSEWHERE}"\n`,
    },
    turns: () => [
      call({ name: "exec_command", arguments: { cmd: "cat greeting.txt" } }),
      call({ name: "exec_command", arguments: { cmd: `apply_patch <<'EOF'\n${PATCH}\nEOF` } }),
    ],
  },
  {
    agent: "claude",
    args: (task) => ["-p", "--allowedTools", "Read,Edit", "--", task],
    config: {
      folder: "home/.claude",
      name: "settings.json",
      text: `{"env":{"ANTHROPIC_BASE_URL":"${ELSEWHERE}","ANTHROPIC_MODEL":"other"}}`,
    },
    turns: (path) => [
      call({ name: "Read", arguments: { file_path: path } }),
      call({ name: "Edit", arguments: { file_path: path, old_string: "hello", new_string: "goodbye" } }),
    ],
    env: { ANTHROPIC_API_KEY: "of-another-server", DISABLE_TELEMETRY: "1", DISABLE_AUTOUPDATER: "1" },
  },
  {
    agent: "opencode",
    args: (task) => ["run", task],
    config: {
      folder: "home/.config/opencode",
      name: "opencode.json",
      text: '{"$schema":"https://opencode.ai/config.json","model":"anthropic/claude-sonnet-4","autoupdate":false,"share":"disabled"}',
    },
    turns: (path) => [
      call({ name: "read", arguments: { filePath: path } }),
      call({ name: "edit", arguments: { filePath: path, oldString: "hello", newString: "goodbye" } }),
    ],
    env: { OPENCODE_DISABLE_MODELS_FETCH: "1" },
  },
  {
    agent: "aider",
    args: (task) => [...AIDER_ALONE, "--message", task, "greeting.txt"],
    config: { folder: "home", name: ".aider.conf.yml", text: `model: openai/other\nopenai-api-base: ${ELSEWHERE}\n` },
    // This agent calls no tools: it sends the file and takes the new version from the answer.
    turns: () => [],
    last: "greeting.txt\n```\ngoodbye\n```\n",
  },
];

/** Prints one line per check. */
export async function launchChecks(model: ScriptedModel): Promise<void> {
  for (const { agent, args, config, turns, last = "It says goodbye now.", env = {} } of LAUNCHED) {
    if (!Workspace.has(agent)) {
      console.log(`skip  svc launch ${agent}: it is not installed for this machine`);
      continue;
    }
    await check(`svc launch ${agent}: a file is read and edited, and its user's settings stay`, async () => {
      const space = new Workspace(`launch-${agent}`);
      space.make(config.folder);
      space.write(`${config.folder}/${config.name}`, config.text);
      const path = space.write("work/greeting.txt", "hello\n");
      model.play(...turns(path), say(last));
      if (turns(path).length > 0) model.playAside(say("A greeting"));
      const run = await space.launch(model.url, agent, args("Make greeting.txt say goodbye."), { env });
      ended(run);
      equal(space.read("work/greeting.txt"), "goodbye\n");
      ok(
        JSON.stringify(model.engine.requests.at(-1)?.messages).includes("hello"),
        "the model was not told what the file says",
      );
      model.allPlayed();
      allServed(model.exchanges.take());
      equal(space.read(`${config.folder}/${config.name}`), config.text);
      space.remove();
    });
  }
}
