// How much of an agent's next prompt repeats the one before, token by token, with the chat templates of other models:
// the part that a server can keep cached. The conversations are those of the agents with the scripted model.

import { join } from "node:path";
import type { GenerateRequest } from "../../src/domain/generate.ts";
import { check, ok } from "../clients/checks.ts";
import { TEMPLATES } from "../native/templates/sources.ts";
import { withServer } from "../support/server.ts";

/** The prompts of one turn, and the first prompt of the next. */
export interface Conversation {
  readonly agent: string;
  readonly prompts: readonly GenerateRequest[];
}

/** One template of each family that people use with agents. */
const MODELS = [
  "Qwen-Qwen3-0.6B",
  "Qwen3.5-4B",
  "Qwen3-Coder",
  "openai-gpt-oss-120b",
  "meta-llama-Llama-3.1-8B-Instruct",
  "Mistral-Small-3.2-24B-Instruct-2506",
  "google-gemma-4-31B-it",
  "GLM-4.6",
  "deepseek-ai-DeepSeek-V3.1",
  "MiniMax-M2",
];

/** Templates that place the tools before the user's last message, so that they move with the next one. */
const MOVE_TOOLS = ["Mistral-Small-3.2-24B-Instruct-2506"];

/** Tokens at the end of a prompt where the template starts the answer; later prompts may spell them differently. */
const BEGINNING = 16;

/** Prints one line per check. */
export async function templateChecks(conversations: readonly Conversation[]): Promise<void> {
  for (const model of [undefined, ...MODELS]) {
    const template = model === undefined ? [] : ["--chat-template", join(TEMPLATES, `${model}.jinja`)];
    const flags = ["--threads", "1", "--no-warmup", "--ctx", "2048", ...template];
    await withServer(flags, async ({ url }) => {
      for (const { agent, prompts } of conversations) {
        await check(`${agent}, template of ${model ?? "svc-mini"}: a prompt goes on from the one before`, async () => {
          const tokens = await Promise.all(prompts.map((prompt) => tokensOf(url, prompt)));
          checkTokens(prompts, tokens, MOVE_TOOLS.includes(model ?? ""));
        });
      }
    });
  }
}

/** Throws when a prompt does not continue the one before. */
function checkTokens(
  prompts: readonly GenerateRequest[],
  tokens: readonly (readonly number[])[],
  moves: boolean,
): void {
  ok(tokens.length > 1, "there is only one prompt");
  /** Length of the prompt at the start of the user's turn. */
  let begun = tokens[0]?.length ?? 0;
  for (const [index, before] of tokens.slice(0, -1).entries()) {
    const after = tokens[index + 1] ?? [];
    const place = before.findIndex((token, at) => token !== after[at]);
    const same = place < 0 ? before.length : place;
    // With a new user message, many templates deliberately drop the reasoning since the last one.
    const speaks = userTurns(prompts[index + 1]) > userTurns(prompts[index]);
    const wanted = !speaks ? before.length : moves ? 0 : begun;
    ok(same >= wanted - BEGINNING, `${same} of the first ${wanted} tokens of prompt ${index} stay`);
    if (speaks) begun = after.length;
  }
}

const userTurns = (prompt: GenerateRequest | undefined): number =>
  prompt?.messages.filter(({ role }) => role === "user").length ?? 0;

async function tokensOf(url: string, request: GenerateRequest): Promise<readonly number[]> {
  const post = async (path: string, body: object) =>
    (await fetch(url + path, { method: "POST", body: JSON.stringify(body) })).json();
  const { prompt } = (await post("/apply-template", chatBody(request))) as { prompt?: string };
  if (prompt === undefined) throw new Error("the template refuses the conversation");
  const { tokens } = (await post("/tokenize", { content: prompt })) as { tokens: readonly number[] };
  return tokens;
}

/** Returns the same request for the Chat Completions API, which is the form that /apply-template takes. */
const chatBody = ({ messages, tools, thinking }: GenerateRequest) => ({
  messages: messages.map(({ role, content, reasoning, toolCalls, toolCallId }) => ({
    role,
    content,
    ...(reasoning !== undefined && { reasoning_content: reasoning }),
    ...(toolCallId !== undefined && { tool_call_id: toolCallId }),
    ...(toolCalls && {
      tool_calls: toolCalls.map(({ id, name, arguments: text }) => ({
        id,
        type: "function",
        function: { name, arguments: text },
      })),
    }),
  })),
  tools: tools
    .filter(({ described }) => !described)
    .map(({ name, description, parameters }) => ({ type: "function", function: { name, description, parameters } })),
  ...(thinking && { reasoning_effort: "high" }),
});
