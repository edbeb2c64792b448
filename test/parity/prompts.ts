// A check before the comparison: both servers must render and tokenize each conversation identically.

import { PROMPTS } from "./matrix.ts";
import type { ComparedServer } from "./servers.ts";

/** Throws at the first conversation that becomes a different prompt. */
export async function checkPrompts(svc: ComparedServer, other: ComparedServer): Promise<void> {
  for (const [name, messages] of Object.entries(PROMPTS)) {
    const fields = { messages, max_tokens: 1, temperature: 0 };
    const kwargs = { chat_template_kwargs: { enable_thinking: false } };
    const { prompt } = (await other.post("/apply-template", { messages, ...kwargs })).json as { prompt: string };
    const content = { content: prompt, add_special: true, parse_special: true };
    const { tokens } = (await other.post("/tokenize", content)).json as { tokens: readonly number[] };
    const ours = (await svc.ask(fields)).answer?.promptTokens;
    const theirs = (await other.ask(fields)).answer?.promptTokens;
    if (ours !== tokens.length || theirs !== tokens.length) {
      throw new Error(`prompt "${name}": ${ours} tokens in svc, ${theirs} in llama-server, rendered ${tokens.length}`);
    }
  }
}
