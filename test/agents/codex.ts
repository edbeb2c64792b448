// Codex CLI, which uses the OpenAI-compatible Responses API.

import { Workspace, ended, type RunOptions } from "./program.ts";

/**
 * Warnings that do not concern the protocol: an unknown model, a home folder below /tmp, an exit before the log ends.
 */
const EXPECTED =
  /Unknown model [\w-]+ is used|Model metadata for `[\w-]+` not found|create PATH aliases|failed to flush rollout/;

interface CodexEvent {
  readonly type: string;
  readonly message?: string;
  readonly item?: {
    readonly type: string;
    readonly text?: string;
    readonly message?: string;
    readonly status?: string;
  };
  readonly usage?: { readonly input_tokens: number; readonly cached_input_tokens: number };
}

export interface CodexRun {
  readonly status: number;
  readonly events: readonly CodexEvent[];
  /** The last message of the agent. */
  readonly answer: string;
  /** Usage of all requests of the turn together. */
  readonly usage: CodexEvent["usage"];
}

export class Codex {
  readonly space = new Workspace("codex");

  /** `settings`: additional lines of its config file. */
  constructor(url: string, settings = "") {
    this.space.make("home/.codex");
    // The settings from svc's docs, without Codex's own traffic.
    this.space.write(
      "home/.codex/config.toml",
      `model = "svc-mini"
model_provider = "svc"
model_context_window = 65536
check_for_update_on_startup = false
${settings}
[model_providers.svc]
name = "svc"
base_url = "${url}/v1"
wire_api = "responses"
stream_idle_timeout_ms = 3600000
[analytics]
enabled = false
[features]
plugins = false
`,
    );
  }

  /**
   * Runs `codex exec` with these arguments. Throws the complaints in its log, and when it fails or its log has no
   * stream, unless an interrupt or a refusal is expected.
   */
  async exec(args: readonly string[], options: RunOptions = {}): Promise<CodexRun> {
    const flags = ["exec", "--strict-config", "--skip-git-repo-check", "--json", ...args];
    const env = { RUST_LOG: "debug,h2=off,hyper=off", NO_COLOR: "1", ...options.env };
    const run = await this.space.run("@openai/codex/bin/codex.js", flags, { ...options, env });
    const events = run.output
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line) as CodexEvent);
    if (!options.interrupt && !options.refused) {
      ended(run);
      checkLog(run.complaints, events);
    }
    const answer = events.findLast(({ item }) => item?.type === "agent_message")?.item?.text ?? "";
    return { status: run.status, events, answer, usage: events.findLast(({ usage }) => usage)?.usage };
  }
}

function checkLog(log: string, events: readonly CodexEvent[]): void {
  if (!log.includes("event.kind=response.completed")) throw new Error("its log says nothing of the stream");
  const errors = events.flatMap(({ type, message, item }) =>
    type === "error" || type === "turn.failed" || item?.type === "error" ? [message ?? item?.message ?? type] : [],
  );
  const lines = log.split("\n").filter((line) => / (WARN|ERROR) |codex\.sse_event.* error\.message=/.test(line));
  const complaints = [...errors, ...lines].filter((line) => !EXPECTED.test(line));
  if (complaints.length > 0) throw new Error(`its log complains:\n${complaints.join("\n")}`);
}
