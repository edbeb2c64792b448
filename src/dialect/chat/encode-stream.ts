// The events of one generation → the data of a chat completion's server-sent events.

import type { ProfileDetail } from "../../contract/chat.ts";
import { errorObject } from "../../contract/errors.ts";
import type { SvcError } from "../../domain/errors.ts";
import type { FinishEvent, GenerateEvent, OutputEvent } from "../../domain/generate.ts";
import type { Profile } from "../../domain/profile.ts";
import { usageOf, type Usage } from "../../domain/usage.ts";
import type { AnswerOrigin } from "../fields/answer-origin.ts";
import type { StreamContext } from "../fields/stream.ts";
import { typedError } from "../fields/typed-error.ts";
import { encodeLogprobs } from "./encode.ts";
import { encodeProfile } from "./profile.ts";
import { encodeTimings, encodeUsage } from "./usage.ts";

/** What the chunks of a stream are made with. */
export interface ChatChunkOptions {
  readonly answer: AnswerOrigin;
  /** Answers that the events belong to. */
  readonly choices: number;
  readonly includeUsage: boolean;
  /** A profile follows the usage. */
  readonly profile?: ProfileDetail | undefined;
}

export type ChatStreamOptions = ChatChunkOptions & Omit<StreamContext, "promptTokens">;

const DONE = "[DONE]";

/**
 * Yields what `encodeChatChunks` does, then `[DONE]`. A failure becomes an error-marked chunk before `[DONE]`; after an abort
 * the stream just ends. Never throws.
 */
export async function* encodeChatStream(
  events: AsyncIterator<GenerateEvent>,
  options: ChatStreamOptions,
): AsyncGenerator<string, void, void> {
  try {
    yield* encodeChatChunks(events, options);
    yield DONE;
  } catch (error) {
    if (options.signal.aborted) return;
    yield chunkWriter(options.answer).failure(typedError(error, options.onUnexpected), options.requestId);
    yield DONE;
  }
}

/**
 * Yields for each choice a role chunk, delta chunks and a finish chunk, then a usage chunk and a profile if asked for. `events`
 * has given `accepted` already. Throws what it throws.
 */
export async function* encodeChatChunks(
  events: AsyncIterator<GenerateEvent>,
  options: ChatChunkOptions,
): AsyncGenerator<string, void, void> {
  const chunk = chunkWriter(options.answer);
  const finishes: FinishEvent[] = [];
  let profile: Profile | undefined;
  try {
    for (let choice = 0; choice < options.choices; choice++) yield chunk.role(choice);
    for (;;) {
      const { value: event, done } = await events.next();
      if (done) break;
      if (event.type === "finish") {
        yield chunk.finish(event);
        finishes[event.choice ?? 0] = event;
        profile = event.profile ?? profile;
      } else if (event.type !== "accepted") yield chunk.output(event);
    }
    if (finishes.length === 0 || finishes.some(({ reason }) => reason === "cancelled")) return;
    const usage = usageOf(finishes, options.choices);
    if (options.includeUsage) yield chunk.usage(usage);
    if (options.profile) yield JSON.stringify(encodeProfile(options.profile, usage, profile));
  } finally {
    await events.return?.();
  }
}

/** Writes chunks as JSON text; all but the delta is the same in every chunk and prepared once. */
function chunkWriter({ id, created, model, systemFingerprint }: AnswerOrigin) {
  const object = "chat.completion.chunk";
  const head = JSON.stringify({ id, object, created, model, system_fingerprint: systemFingerprint }).slice(0, -1);
  const opened: string[] = [];
  const open = (choice = 0) => (opened[choice] ??= `${head},"choices":[{"index":${choice},"delta":`);
  const unfinished = `,"finish_reason":null}]}`;
  return {
    role: (choice: number) => `${open(choice)}{"role":"assistant","content":""}${unfinished}`,
    output: (event: OutputEvent) => `${open(event.choice)}${delta(event)}${unfinished}`,
    finish: ({ reason, choice }: FinishEvent) => `${open(choice)}{},"finish_reason":"${reason}"}]}`,
    usage: (usage: Usage) =>
      `${head},"choices":[],"usage":${JSON.stringify(encodeUsage(usage))},` +
      `"timings":${JSON.stringify(encodeTimings(usage))}}`,
    failure: (error: SvcError, requestId: string) => {
      // For clients that know nothing of `error`, people at least read what happened.
      const content = JSON.stringify(`\n\n[error] ${error.message}`);
      const marker = JSON.stringify(errorObject(error, requestId));
      return `${open()}{"content":${content}},"finish_reason":"error"}],"error":${marker}}`;
    },
  };
}

/** The delta, and what stands beside it. A key that says nothing is absent: strict clients reject a null. */
function delta(event: OutputEvent): string {
  switch (event.type) {
    case "text": {
      const extra = event.logprobs ? `,"logprobs":${JSON.stringify(encodeLogprobs(event.logprobs))}` : "";
      return `{"content":${JSON.stringify(event.text)}}${extra}`;
    }
    case "reasoning":
      return `{"reasoning_content":${JSON.stringify(event.text)}}`;
    case "tool_call": {
      const { index, id, name } = event;
      return `{"tool_calls":${JSON.stringify([{ index, id, type: "function", function: { name, arguments: "" } }])}}`;
    }
    case "tool_arguments":
      return `{"tool_calls":${JSON.stringify([{ index: event.index, function: { arguments: event.text } }])}}`;
  }
}
