// A chat completion request body → a request to the generation service. Pure, apart from drawing a random seed.

import { ChatCompletionRequest } from "../../contract/chat.ts";
import { checker } from "../../contract/schema.ts";
import type { Generation } from "../../domain/generate.ts";
import { decodeAdapters } from "../fields/adapters.ts";
import { fieldNames } from "../fields/field-names.ts";
import { decodeIdSlot, decodeLogprobs, decodeMaxTokens, decodeModel, decodeStop, limitOf } from "../fields/limits.ts";
import { decodeSampling } from "../fields/sampling.ts";
import type { GenerationSettings } from "../fields/settings.ts";
import { CHAT_FOREIGN, CHAT_PEER_UNSUPPORTED, decodeForeign } from "../fields/peer-fields.ts";
import { STRUCTURE_UNSUPPORTED, structureNames } from "../fields/structured.ts";
import { schemaInstruction, withInstruction } from "../../domain/instruction.ts";
import { always, refuseUnsupported } from "../fields/unsupported.ts";
import { withTools } from "../fields/tools.ts";
import { decodeConstraint } from "./constraint.ts";
import { decodeMessages } from "./messages.ts";
import { decodeReasoning } from "./reasoning.ts";
import { decodeRunning, runningFields, type RunningReports } from "./running-reports.ts";
import { decodeTools } from "./tools.ts";
import { decodeTurn } from "./turn.ts";

export type ChatSettings = Omit<GenerationSettings, "contextShift">;

interface ChatCall {
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

/** Throws SvcError with a code of the 400 family, naming the field. */
export function decodeChat(body: unknown, settings: ChatSettings): ChatCall {
  const chat = check(body);
  refuseUnsupported(body, UNSUPPORTED);
  const topLogprobs = decodeLogprobs(chat, settings.maxLogprobs);
  const tools = decodeTools(chat);
  const { constraint, asked, param } = decodeConstraint(chat, tools, settings.guidedJson);
  const [limit, limitParam] = limitOf(chat, settings.maxTokens);
  const reasoning = decodeReasoning(chat, settings, constraint !== undefined);
  const messages = decodeMessages(chat.messages);
  const includeUsage = chat.stream_options?.include_usage ?? settings.streamUsage !== "requested";
  const running = decodeRunning(chat, includeUsage);
  return {
    request: {
      ...decodeModel(chat.model),
      messages: asked && !settings.constrain ? withInstruction(messages, schemaInstruction(asked)) : messages,
      ...withTools(tools, chat.parallel_tool_calls ?? true, constraint),
      ...reasoning,
      ...fieldNames({
        max_tokens: limitParam,
        thinking_token_budget: reasoning.budgetField,
        ...structureNames(param ?? (tools.tools.length > 0 ? "tools" : undefined)),
      }),
      sampling: decodeSampling(chat, ChatCompletionRequest),
      ...decodeForeign(body, CHAT_FOREIGN),
      ...decodeAdapters(chat, settings),
      stop: decodeStop(chat.stop ?? [], settings.stop),
      ...decodeTurn(chat),
      ...decodeMaxTokens(limit, limitParam),
      ...(topLogprobs !== undefined && { topLogprobs }),
      ...(chat.cache_prompt === false && { fresh: true }),
      ...decodeIdSlot(chat),
      ...(chat.t_max_predict_ms && { maxPredictMs: chat.t_max_predict_ms }),
      ...runningFields(running),
      choices: chat.n ?? 1,
    },
    stream: chat.stream ?? false,
    includeUsage,
    running,
  };
}
