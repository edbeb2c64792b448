// Encodes the events of a completion as the chunks of llama.cpp's stream.

import { errorObject } from "../../contract/errors.ts";
import type { GenerateEvent } from "../../domain/generate.ts";
import type { Usage } from "../../domain/usage.ts";
import { encodeProgress } from "../fields/running-reports.ts";
import { encodeTimings } from "../fields/usage.ts";
import { AnswerSoFar } from "../stream/answer-so-far.ts";
import type { Put, StreamedRequest, StreamWriter } from "../stream/streamed.ts";
import { chosen, encodeProbability, ending, type LlamaContext } from "./encode.ts";

/** Writes a chunk per piece and one to end each answer; a failure becomes a chunk with `error`. `now`: milliseconds. */
export function llamaWriter(
  put: Put<string>,
  context: LlamaContext,
  { requestId, promptTokens }: Pick<StreamedRequest, "requestId" | "promptTokens">,
  now: () => number,
): StreamWriter<GenerateEvent> {
  const acceptedAt = now();
  const evaluated = Math.round(promptTokens / context.prompts.length);
  const answers: { readonly soFar: AnswerSoFar; hasNewLine: boolean }[] = [];
  const written = (choice: number) =>
    (answers[choice] ??= { soFar: new AnswerSoFar(evaluated, acceptedAt), hasNewLine: false });
  const piece = (index: number, { completionTokens, promptTokens: total }: Usage) => ({
    index,
    content: "",
    tokens: [] as number[],
    stop: false,
    id_slot: context.slot,
    tokens_predicted: completionTokens,
    tokens_evaluated: total,
  });
  return {
    event(event) {
      if (event.type === "accepted") return;
      const index = event.choice ?? 0;
      const one = written(index);
      if (event.type === "finish") {
        put(JSON.stringify(chosen(ending(event, { index, hasNewLine: one.hasNewLine }, context), context)));
      } else if (event.type === "progress") {
        one.soFar.add(event, now());
        if (!context.running.progress) return;
        put(JSON.stringify({ ...piece(index, one.soFar.usage), prompt_progress: encodeProgress(event) }));
      } else if (event.type === "text" && !context.promptAlone) {
        one.soFar.add(event, now());
        one.hasNewLine ||= event.text.includes("\n");
        const { usage } = one.soFar;
        put(
          JSON.stringify({
            ...piece(index, usage),
            content: event.text,
            tokens: event.tokens ?? [],
            ...(context.running.timings && { timings: encodeTimings(usage) }),
            ...(event.logprobs && { completion_probabilities: event.logprobs.map(encodeProbability) }),
          }),
        );
      }
    },
    failure: (error) => put(JSON.stringify({ error: errorObject(error, requestId) })),
  };
}
