// The events of a completion → the chunks of llama.cpp's stream.

import { errorObject } from "../../contract/errors.ts";
import type { GenerateEvent, ProgressEvent } from "../../domain/generate.ts";
import { noUsage } from "../../domain/usage.ts";
import { encodeTimings } from "../chat/usage.ts";
import type { Put, StreamedRequest, StreamWriter } from "../stream/streamed.ts";
import { chosen, encodeProbabilities, encodeProgress, ending, type LlamaContext } from "./encode.ts";

/** What was written of one answer. */
interface Written {
  tokens: number;
  text: string;
  progress: ProgressEvent | undefined;
  firstAt: number | undefined;
}

/** Puts a chunk for each piece, and one that ends each answer. A failure becomes a chunk with `error`. `now`: milliseconds. */
export function llamaWriter(
  put: Put<string>,
  context: LlamaContext,
  { requestId, promptTokens }: Pick<StreamedRequest, "requestId" | "promptTokens">,
  now: () => number,
): StreamWriter<GenerateEvent> {
  const answers: Written[] = [];
  const begun = now();
  const written = (choice: number): Written =>
    (answers[choice] ??= { tokens: 0, text: "", progress: undefined, firstAt: undefined });
  const evaluated = Math.round(promptTokens / context.prompts.length);
  const piece = (index: number, one: Written) => ({
    index,
    content: "",
    tokens: [] as number[],
    stop: false,
    id_slot: context.slot,
    tokens_predicted: one.tokens,
    tokens_evaluated: one.progress?.total ?? evaluated,
  });
  const timings = ({ tokens, progress, firstAt = now() }: Written) =>
    encodeTimings({
      ...noUsage(progress?.total ?? evaluated),
      cachedTokens: progress?.cached ?? 0,
      completionTokens: tokens,
      promptMs: firstAt - begun,
      completionMs: now() - firstAt,
    });
  return {
    event(event) {
      if (event.type === "accepted") return;
      const index = event.choice ?? 0;
      const one = written(index);
      if (event.type === "finish") {
        put(JSON.stringify(chosen(ending(event, { index, text: one.text }, context), context)));
      } else if (event.type === "progress") {
        one.progress = event;
        if (!context.returnProgress) return;
        put(JSON.stringify({ ...piece(index, one), prompt_progress: encodeProgress(event) }));
      } else if (event.type === "text" && !context.promptAlone) {
        one.firstAt ??= now();
        one.text += event.text;
        one.tokens += event.tokens?.length ?? 1;
        put(
          JSON.stringify({
            ...piece(index, one),
            content: event.text,
            tokens: event.tokens ?? [],
            ...(context.timingsPerToken && { timings: timings(one) }),
            ...(event.logprobs && { completion_probabilities: encodeProbabilities(event.logprobs) }),
          }),
        );
      }
    },
    failure: (error) => put(JSON.stringify({ error: errorObject(error, requestId) })),
  };
}
