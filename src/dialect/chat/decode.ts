// Decodes a chat completion request into a request to the generation service. Pure, except that it draws random seeds.

import { ChatCompletionRequest } from "../../contract/chat.ts";
import { checker } from "../../contract/schema.ts";
import { fieldError } from "../../domain/errors.ts";
import type { GenerateRequest, Generation } from "../../domain/generate.ts";
import { hintsOf } from "../../domain/hints.ts";
import { withInstruction } from "../../domain/instruction.ts";
import { type Reasoning, type ReasoningSettings, resolveReasoning } from "../../domain/reasoning.ts";
import { decodeControls } from "../fields/controls.ts";
import { fieldNames } from "../fields/field-names.ts";
import { decodeLogprobs, decodeMaxTokens, limitOf } from "../fields/limits.ts";
import { CHAT_FOREIGN, CHAT_PEER_UNSUPPORTED, decodeForeign } from "../fields/peer-fields.ts";
import { decodeKwargs } from "../fields/reasoning.ts";
import { decodeRunning, type RunningReports } from "../fields/running-reports.ts";
import type { GenerationSettings } from "../fields/settings.ts";
import { decodeConstraint, STRUCTURE_UNSUPPORTED, structureNames } from "../fields/structured.ts";
import { withTools } from "../fields/tools.ts";
import { always, refuseUnsupported } from "../fields/unsupported.ts";
import { decodeMessages } from "./messages.ts";
import { decodeTools } from "./tools.ts";

export interface ChatCall {
  readonly request: Generation;
  readonly stream: boolean;
  /** Whether a stream ends with a usage chunk. */
  readonly includeUsage: boolean;
  readonly running: RunningReports;
}

const check = checker(ChatCompletionRequest);
const UNSUPPORTED = {
  audio: always,
  modalities: (value: unknown) => !Array.isArray(value) || value.some((modality) => modality !== "text"),
  web_search_options: always,
  moderation: always,
  ...STRUCTURE_UNSUPPORTED,
  ...CHAT_PEER_UNSUPPORTED,
};

/** Decodes a request body. Throws SvcError with a code of the 400 family, naming the field. */
export function decodeChat(body: unknown, settings: GenerationSettings): ChatCall {
  const chat = check(body);
  refuseUnsupported(body, UNSUPPORTED);
  const topLogprobs = decodeLogprobs(chat, settings.maxLogprobs);
  const tools = decodeTools(chat, settings.preparedSchemas);
  const { constraint, schema, param } = decodeConstraint(chat, tools, settings.guidedJson);
  const [limit, limitParam] = limitOf(chat, ["max_tokens", "max_completion_tokens", "n_predict"], settings.maxTokens);
  const reasoning = decodeReasoning(chat, settings, constraint !== undefined);
  const messages = decodeMessages(chat.messages);
  const includeUsage = chat.stream_options?.include_usage ?? settings.streamUsage !== "requested";
  const running = decodeRunning(chat, includeUsage);
  return {
    request: {
      messages: settings.constrain ? messages : withInstruction(messages, schema, tools.toolChoice),
      ...withTools(tools, chat.parallel_tool_calls ?? true, constraint),
      ...reasoning,
      ...fieldNames({
        max_tokens: limitParam,
        thinking_token_budget: reasoning.budgetField,
        ...structureNames(param ?? (tools.tools.length > 0 ? "tools" : undefined)),
      }),
      ...decodeControls(chat, ChatCompletionRequest, settings, running),
      ...decodeForeign(body, CHAT_FOREIGN),
      ...hintsOf(chat),
      ...decodeTurn(chat),
      ...decodeMaxTokens(limit, limitParam),
      ...(topLogprobs !== undefined && { topLogprobs }),
      choices: chat.n ?? 1,
    },
    stream: chat.stream ?? false,
    includeUsage,
    running,
  };
}

type Turn = Pick<GenerateRequest, "continueLast" | "generationPrompt">;

/** Throws SvcError `invalid_value` when the fields contradict each other or the conversation. */
function decodeTurn(chat: ChatCompletionRequest): Turn {
  const { continue_final_message: continues, add_generation_prompt: prompts } = chat;
  const last = chat.messages.at(-1);
  const isBegun = last?.role === "assistant" && !last.tool_calls?.length && last.function_call == null;
  const refuse = (rule: string) => fieldError("invalid_value", "continue_final_message", rule);
  if (continues === true && prompts === true) throw refuse("and 'add_generation_prompt' cannot both be true");
  if (continues === true && !isBegun) throw refuse("needs a last message of the role assistant, without calls");
  if (continues === true || (prompts === false && continues == null && isBegun)) return { continueLast: true };
  return prompts === false ? { generationPrompt: false } : {};
}

/** `constrained`: the answer must have a given form. Throws SvcError when `enable_thinking` is not a boolean. */
function decodeReasoning(chat: ChatCompletionRequest, settings: ReasoningSettings, constrained: boolean): Reasoning {
  const effort = chat.reasoning_effort ?? chat.reasoning?.effort;
  const enabled = effort == null ? chat.reasoning?.enabled : undefined;
  const budgetField = chat.reasoning_budget_tokens != null ? "reasoning_budget_tokens" : "thinking_token_budget";
  const budget = chat[budgetField];
  return resolveReasoning(
    {
      usual: constrained ? false : undefined,
      ...(enabled != null && { enabled }),
      ...decodeKwargs(chat.chat_template_kwargs),
      ...(effort != null && { effort }),
      ...(budget != null && { budget, budgetField }),
    },
    settings,
  );
}
