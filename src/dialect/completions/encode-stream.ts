// Encodes the events of a completion as the chunks of its stream.

import { errorObject } from "../../contract/errors.ts";
import type { FinishEvent, GenerateEvent } from "../../domain/generate.ts";
import { chunkHead, type AnswerOrigin } from "../fields/answer-head.ts";
import type { Reporter } from "../fields/running-reports.ts";
import { encodeUsage, timingsMember } from "../fields/usage.ts";
import type { Put, StreamedRequest, StreamWriter } from "../stream/streamed.ts";
import type { CompletionCall } from "./decode.ts";
import { completionUsage, encodeLogprobs, finishReason } from "./encode.ts";

/**
 * Writes for each answer its echo, text chunks and a finish chunk, then a usage chunk if requested. The timings are in the
 * usage chunk if there is one, otherwise in the finish chunks. A failure becomes a chunk with a top-level `error`.
 */
export function completionWriter(
  put: Put<string>,
  origin: AnswerOrigin,
  call: CompletionCall,
  { requestId }: Pick<StreamedRequest, "requestId">,
  report?: Reporter,
): StreamWriter<GenerateEvent> {
  const head = chunkHead(origin, "text_completion");
  const chunk = (index: number, text: string, reason: string | null, logprobs: unknown = null, reports = "") =>
    `${head},"choices":[${JSON.stringify({ text, index, logprobs, finish_reason: reason })}]${reports}}`;
  /** Writes the prompt before an answer. Not for all answers at once: they may be a hundred, of many megabytes each. */
  const echo = (index: number) => {
    if (begun.has(index)) return;
    begun.add(index);
    const prompt = call.echoes[Math.floor(index / call.made)] ?? "";
    if (prompt !== "") put(chunk(index, prompt, null));
  };
  const begun = new Set<number>();
  const written: number[] = [];
  const finishes: FinishEvent[] = [];
  return {
    event(event) {
      if (event.type === "accepted" || event.type === "restarted") return;
      const index = event.choice ?? 0;
      echo(index);
      if (event.type === "finish") {
        finishes[index] = event;
        const timings = call.includeUsage ? "" : timingsMember(completionUsage([event], call));
        put(chunk(index, "", call.echoAlone ? "length" : finishReason(event), null, timings));
        return;
      }
      const reports = report?.(event) ?? "";
      if (event.type === "progress" && reports !== "") put(chunk(index, "", null, null, reports));
      if (event.type === "text" && !call.echoAlone) {
        const before = written[index] ?? 0;
        const logprobs = call.withLogprobs && event.logprobs ? encodeLogprobs(event.logprobs, before) : null;
        written[index] = before + event.text.length;
        put(chunk(index, event.text, null, logprobs, reports));
      }
    },
    end() {
      if (!call.includeUsage || finishes.some(({ reason }) => reason === "cancelled")) return;
      const usage = completionUsage(finishes, call);
      put(`${head},"choices":[],"usage":${JSON.stringify(encodeUsage(usage))}${timingsMember(usage)}}`);
    },
    failure(error) {
      const marker = JSON.stringify(errorObject(error, requestId));
      put(`${chunk(0, "", "error").slice(0, -1)},"error":${marker}}`);
    },
  };
}
