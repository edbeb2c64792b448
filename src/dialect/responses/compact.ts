// Compacts a conversation: the model summarizes it, and the summary becomes an item that replaces everything before.

import type { CompactedResponse } from "../../contract/responses.ts";
import { fieldError } from "../../domain/errors.ts";
import type { GenerateEvent, Generation } from "../../domain/generate.ts";
import { newItemId } from "../../domain/ids.ts";
import { joinTurns } from "../../domain/turns.ts";
import { objectOf } from "../fields/json-object.ts";
import { asIs, collect, CollectedAnswer } from "../stream/collect.ts";
import { encodeUsage } from "./resource.ts";

const SUM_UP =
  "Sum up this conversation for yourself, so that you can go on without it: what the user wants, what was done and found, " +
  "decisions, names, numbers and paths that matter, and what is open. Answer with the summary alone.";
const BEFORE = "Summary of the conversation so far:\n";
/** Most tokens of a summary, unless the server has a limit of its own. */
const MOST_TOKENS = 2048;

/** Returns the request to summarize the conversation in `prompt`. */
export function compacting(prompt: Generation, maxTokens = MOST_TOKENS): Generation {
  const { constraint: _constraint, reasoningBudget: _budget, budgetField: _field, ...rest } = prompt;
  const messages = joinTurns([...prompt.messages, { role: "user", content: SUM_UP }]);
  return { ...rest, messages, tools: [], toolChoice: "auto", thinking: false, maxTokens };
}

/** Collects the summary. Throws what the generation throws. */
export async function encodeCompacted(
  events: AsyncIterable<GenerateEvent>,
  { id, created }: { readonly id: string; readonly created: number },
): Promise<CompactedResponse> {
  const { text, finish } = await collect(events, new CollectedAnswer(asIs));
  const summary = Buffer.from(JSON.stringify({ summary: text })).toString("base64");
  return {
    id,
    object: "response.compaction",
    created_at: created,
    output: [{ type: "compaction", id: newItemId("cmp"), encrypted_content: summary }],
    usage: encodeUsage(finish.usage),
  };
}

/** Returns what the model reads in place of the conversation. Throws SvcError `invalid_value` about a foreign item. */
export function summaryOf(content: string | null | undefined, param: string): string {
  const { summary } = objectOf(Buffer.from(content ?? "", "base64").toString());
  if (typeof summary === "string") return BEFORE + summary;
  throw fieldError("invalid_value", param, "must be what POST /v1/responses/compact returned");
}
