// The two servers to compare, started with equivalent options, and one way to send requests to either.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { launch, type LaunchPlan, type Side } from "../bench/server-under-test.ts";
import { makeAdapter } from "../models/make-adapter.ts";
import { PROGRAM } from "../support/server.ts";
import type { Fields } from "./matrix.ts";

export interface Token {
  /** The token's bytes as a key. */
  readonly text: string;
  readonly logprob: number;
  /** The most probable tokens, best first. */
  readonly top: readonly { readonly text: string; readonly logprob: number }[];
}

export interface Answer {
  /** Content, reasoning and calls: everything that the client sees. */
  readonly said: string;
  /** Empty when none were requested, or when the server has none for this kind of answer. */
  readonly tokens: readonly Token[];
  readonly finish: string;
  readonly promptTokens: number;
  readonly completionTokens: number;
}

const ROOT = join(import.meta.dir, "../..");
const MODEL = join(ROOT, "vendor/svc-mini/svc-mini-q8_0.gguf");
export const LLAMA_SERVER = join(ROOT, "vendor/.build/llama-server/llama-server");
/** The folder for models made by tests. */
export const MODELS = join(ROOT, "vendor/.build/models");
/** The adapters are off unless a request selects them. */
const ADAPTERS = [1, 2].map((seed) => makeAdapter(MODELS, seed));
const words = (line: string) => line.split(" ");

/** Plans of both servers with svc-mini, for chat. */
export const CHAT_PLANS: Readonly<Record<"svc" | "llama-server", LaunchPlan>> = {
  svc: {
    side: "svc",
    command: [
      ...PROGRAM,
      "--model",
      MODEL,
      ...words("--ctx 4096 --parallel 1 --threads 1 --batch 512 --micro-batch 512"),
      ...words("--flash-attention on --kv-type f16 --kv-mode streams --no-prefix-cache --no-speculation"),
      ...ADAPTERS.flatMap((path) => ["--lora", path]),
    ],
  },
  "llama-server": {
    side: "llama-server",
    command: [
      LLAMA_SERVER,
      "--model",
      MODEL,
      ...words("--ctx-size 4096 --parallel 1 --threads 1 --batch-size 512 --ubatch-size 512 --flash-attn on"),
      ...words("--cache-type-k f16 --cache-type-v f16 --no-kv-unified --cache-ram 0 --no-ui --jinja"),
      ...ADAPTERS.flatMap((path) => ["--lora-scaled", `${path}:0`]),
    ],
  },
};

export interface Asked {
  /** Why there is no answer, in the server's words. */
  readonly refused?: string;
  readonly answer?: Answer;
}

export class ComparedServer {
  private constructor(
    readonly side: Side,
    private readonly port: number,
    readonly stop: () => Promise<void>,
  ) {}

  /** Throws when llama-server is not built or a server does not start. */
  static async start(plan: LaunchPlan): Promise<ComparedServer> {
    if (!existsSync(LLAMA_SERVER)) throw new Error("llama-server is not built: run `bun build.ts bench`");
    const { port, stop } = await launch(plan);
    return new ComparedServer(plan.side, port, stop);
  }

  async post(path: string, body: object): Promise<{ readonly ok: boolean; readonly json: unknown }> {
    const response = await fetch(`http://127.0.0.1:${this.port}${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    return { ok: response.ok, json: await response.json() };
  }

  /** Sends any request and returns the answer unchanged. */
  async fetch(
    path: string,
    method: string,
    body?: object,
  ): Promise<{ readonly status: number; readonly text: string }> {
    const headers = { "Content-Type": "application/json" };
    const sent = body && { body: JSON.stringify(body) };
    const response = await fetch(`http://127.0.0.1:${this.port}${path}`, { method, headers, ...sent });
    return { status: response.status, text: await response.text() };
  }

  async ask(fields: Fields): Promise<Asked> {
    const own = this.side === "svc" ? {} : { cache_prompt: false, chat_template_kwargs: { enable_thinking: false } };
    const { ok, json } = await this.post("/v1/chat/completions", { ...own, ...fields });
    return ok ? { answer: readAnswer(json as Completion) } : { refused: JSON.stringify(json) };
  }
}

interface WireToken {
  readonly bytes: readonly number[];
  readonly logprob: number;
}

interface Completion {
  readonly choices: readonly [
    {
      readonly message: {
        readonly content?: string | null;
        readonly reasoning_content?: string;
        readonly tool_calls?: readonly { readonly function: { readonly name: string; readonly arguments: string } }[];
      };
      readonly logprobs?: {
        readonly content?: readonly (WireToken & { readonly top_logprobs: readonly WireToken[] })[];
      } | null;
      readonly finish_reason: string;
    },
  ];
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number };
}

function readAnswer({ choices: [choice], usage }: Completion): Answer {
  const { content, reasoning_content: reasoning, tool_calls: calls } = choice.message;
  const entries = choice.logprobs?.content ?? [];
  // llama-server also lists the token that ended the turn, which has no text.
  const last = entries.findLastIndex(({ bytes }) => bytes.length > 0);
  const token = ({ bytes, logprob }: WireToken) => ({ text: Buffer.from(bytes).toString("latin1"), logprob });
  return {
    said: JSON.stringify([content || "", reasoning || "", (calls ?? []).map(({ function: called }) => called)]),
    tokens: entries.slice(0, last + 1).map((entry) => ({ ...token(entry), top: entry.top_logprobs.map(token) })),
    finish: choice.finish_reason,
    promptTokens: usage.prompt_tokens,
    completionTokens: usage.completion_tokens,
  };
}
