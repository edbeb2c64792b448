// Where the answer begins: behind the conversation, or as the rest of its last message.

import type { ChatCompletionRequest } from "../../contract/chat.ts";
import { fieldError } from "../../domain/errors.ts";
import type { GenerateRequest } from "../../domain/generate.ts";

type Turn = Pick<GenerateRequest, "continueLast" | "generationPrompt">;

/** Throws SvcError `invalid_value` about fields that contradict each other or the conversation. */
export function decodeTurn(chat: ChatCompletionRequest): Turn {
  const { continue_final_message: continues, add_generation_prompt: prompts } = chat;
  const last = chat.messages.at(-1);
  const isBegun = last?.role === "assistant" && !last.tool_calls?.length && last.function_call == null;
  const refuse = (rule: string) => {
    return fieldError("invalid_value", "continue_final_message", rule);
  };
  if (continues === true && prompts === true) throw refuse("and 'add_generation_prompt' cannot both be true");
  if (continues === true && !isBegun) throw refuse("needs a last message of the role assistant, without calls");
  if (continues === true || (prompts === false && continues == null && isBegun)) return { continueLast: true };
  return prompts === false ? { generationPrompt: false } : {};
}
