// The events of one generation → the JSON answer of a chat completion.

import type { ChatCompletion, ChatLogprobs, ProfileDetail } from "../../contract/chat.ts";
import { SvcError } from "../../domain/errors.ts";
import type { FinishEvent, GenerateEvent } from "../../domain/generate.ts";
import { usageOf, type TokenLogprob } from "../../domain/usage.ts";
import type { AnswerOrigin } from "../fields/answer-origin.ts";
import { encodeProfile } from "./profile.ts";
import { encodeTimings, encodeUsage } from "./usage.ts";

type Choice = ChatCompletion["choices"][number];

/** One answer while its events come in. */
class ChoiceBuilder {
  finish: FinishEvent | undefined;
  private content = "";
  private reasoning = "";
  private readonly calls: { id: string; type: "function"; function: { name: string; arguments: string } }[] = [];
  private readonly logprobs: TokenLogprob[] = [];

  add(event: GenerateEvent): void {
    switch (event.type) {
      case "text":
        this.content += event.text;
        if (event.logprobs) this.logprobs.push(...event.logprobs);
        return;
      case "reasoning":
        this.reasoning += event.text;
        return;
      case "tool_call":
        this.calls[event.index] = { id: event.id, type: "function", function: { name: event.name, arguments: "" } };
        return;
      case "tool_arguments": {
        const call = this.calls[event.index];
        if (call) call.function.arguments += event.text;
        return;
      }
      case "finish":
        this.finish = event;
    }
  }

  build(index: number, { reason }: FinishEvent, withLogprobs: boolean): Choice {
    const called = this.calls.length > 0;
    return {
      index,
      message: {
        role: "assistant",
        // With calls the convention knows no text beside them.
        content: called ? null : this.content,
        refusal: null,
        ...(this.reasoning !== "" && { reasoning_content: this.reasoning }),
        ...(called && { tool_calls: this.calls }),
      },
      logprobs: withLogprobs ? encodeLogprobs(this.logprobs) : null,
      finish_reason: reason,
    };
  }
}

/** Collects the whole answer, of `choices` texts. Throws what the generation throws. */
export async function encodeChat(
  events: AsyncIterable<GenerateEvent>,
  answer: AnswerOrigin,
  options: { readonly choices: number; readonly withLogprobs: boolean; readonly profile?: ProfileDetail | undefined },
): Promise<ChatCompletion> {
  const { choices, withLogprobs, profile } = options;
  const builders = Array.from({ length: choices }, () => new ChoiceBuilder());
  for await (const event of events) {
    if (event.type !== "accepted") builders[event.choice ?? 0]?.add(event);
  }
  const finishes = builders.map(({ finish }) => {
    if (!finish) throw new SvcError("internal_error", "The generation ended without a finish.");
    return finish;
  });
  const usage = usageOf(finishes, choices);
  return {
    id: answer.id,
    object: "chat.completion",
    created: answer.created,
    model: answer.model,
    system_fingerprint: answer.systemFingerprint,
    choices: builders.map((builder, index) => builder.build(index, finishes[index] as FinishEvent, withLogprobs)),
    usage: encodeUsage(usage),
    timings: encodeTimings(usage),
    ...encodeProfile(profile, usage, finishes.findLast((finish) => finish.profile)?.profile),
  };
}

/** Log probabilities of consecutive tokens. */
export const encodeLogprobs = (tokens: readonly TokenLogprob[]): ChatLogprobs => ({
  content: tokens.map(({ token, logprob, bytes, top }) => ({
    token,
    logprob,
    bytes: [...bytes],
    top_logprobs: top.map((other) => ({ ...other, bytes: [...other.bytes] })),
  })),
  refusal: null,
});
