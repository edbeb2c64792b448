// Claude Code, which uses the Anthropic-compatible Messages API.

import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Workspace, ended, type Run, type RunOptions } from "./program.ts";

/** Warnings that do not concern the protocol: an unknown model, a new home folder, a prompt that takes long. */
const EXPECTED = new RegExp(
  [
    `"svc-mini" isn't described`,
    'recognize the model "svc-mini"',
    "Skill listing over budget",
    "save config with lock",
    String.raw`\[Stall\] stream_idle_partial`,
    "Streaming stall detected",
    "Streaming completed with",
  ].join("|"),
);

interface ClaudeEvent {
  readonly type: string;
  readonly is_error?: boolean;
  readonly result?: string;
  readonly structured_output?: unknown;
  readonly message?: { readonly content: string | readonly { readonly type: string; readonly thinking?: string }[] };
  readonly usage?: { readonly input_tokens: number; readonly cache_read_input_tokens: number };
}

export interface ClaudeRun {
  readonly status: number;
  readonly events: readonly ClaudeEvent[];
  /** The last event: the answer, and the usage of all requests together. */
  readonly result: ClaudeEvent | undefined;
  readonly thoughts: readonly string[];
}

export class Claude {
  readonly space = new Workspace("claude");

  constructor(private readonly url: string) {}

  /**
   * Runs `claude -p` with these arguments. Throws the complaints in its log, and when it fails or its log has no
   * stream, unless an interrupt or a refusal is expected.
   */
  async print(args: readonly string[], options: RunOptions = {}): Promise<ClaudeRun> {
    const log = join(this.space.home, "debug.log");
    rmSync(log, { force: true });
    const flags = ["-p", "--output-format", "stream-json", "--verbose", "--debug-file", log, ...args];
    const run = await this.run(flags, options);
    const events = run.output
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line) as ClaudeEvent);
    if (!options.interrupt && !options.refused) {
      ended(run);
      checkLog(existsSync(log) ? readFileSync(log, "utf8") : "");
    }
    const blocks = events.flatMap(({ type, message }) =>
      type === "assistant" && typeof message?.content === "object" ? message.content : [],
    );
    const thoughts = blocks.flatMap(({ thinking }) => (thinking === undefined ? [] : [thinking]));
    return { status: run.status, events, result: events.findLast(({ type }) => type === "result"), thoughts };
  }

  /** Runs `claude -p` for a command that needs no model. Throws when it fails. */
  async command(text: string, env: RunOptions["env"] = {}): Promise<void> {
    ended(await this.run(["-p", text], { env }));
  }

  private run(flags: readonly string[], options: RunOptions): Promise<Run> {
    // The settings from svc's docs, without Claude's own traffic.
    const env = {
      ANTHROPIC_BASE_URL: this.url,
      ANTHROPIC_API_KEY: "none",
      ANTHROPIC_MODEL: "svc-mini",
      CLAUDE_CODE_MAX_CONTEXT_TOKENS: "65536",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_TELEMETRY: "1",
      DISABLE_ERROR_REPORTING: "1",
      DISABLE_AUTOUPDATER: "1",
      ...options.env,
    };
    return this.space.run("@anthropic-ai/claude-code/bin/claude.exe", flags, { ...options, env });
  }
}

function checkLog(log: string): void {
  if (!log.includes("Stream started")) throw new Error("its log says nothing of the stream");
  const lines = log.split("\n").filter((line) => / \[(WARN|ERROR)\] /.test(line) && !EXPECTED.test(line));
  if (lines.length > 0) throw new Error(`its log complains:\n${lines.join("\n")}`);
}
