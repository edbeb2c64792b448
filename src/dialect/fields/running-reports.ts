// What the chunks of a stream report about the answer so far, if the client requests it.

import type { GenerateRequest, OutputEvent, ProgressEvent } from "../../domain/generate.ts";
import { AnswerSoFar } from "../stream/answer-so-far.ts";
import { encodeCounts, timingsMember } from "./usage.ts";

export interface RunningReports {
  readonly usage: boolean;
  readonly timings: boolean;
  readonly progress: boolean;
}

interface ReportFields {
  readonly stream?: boolean | null | undefined;
  readonly stream_options?: { readonly continuous_usage_stats?: boolean | null } | null;
  readonly timings_per_token?: boolean | null;
  readonly return_progress?: boolean | null;
}

/** Decodes what chunks report. `includeUsage`: the stream ends with its usage; otherwise no chunk has any. */
export function decodeRunning(fields: ReportFields, includeUsage: boolean): RunningReports {
  // An answer that is not streamed has all of this at its end.
  if (!fields.stream) return { usage: false, timings: false, progress: false };
  return {
    usage: includeUsage && fields.stream_options?.continuous_usage_stats === true,
    timings: fields.timings_per_token === true,
    progress: fields.return_progress === true,
  };
}

/** Returns the request fields that make the engine send these reports. */
export function reportRequest({
  usage,
  timings,
  progress,
}: RunningReports): Pick<GenerateRequest, "counted" | "returnProgress"> {
  const counted = timings ? "timings" : usage ? "usage" : undefined;
  return { ...(counted && { counted }), ...(progress && { returnProgress: true as const }) };
}

/** Encodes how much of a prompt is computed, in llama.cpp's form. */
export const encodeProgress = ({ total, cached, processed, ms }: ProgressEvent) => ({
  total,
  cache: cached,
  processed,
  time_ms: Math.round(ms),
});

/** Counts an event of a stream. Returns the reporting members of its chunk: JSON, each preceded by a comma. */
export type Reporter = (event: OutputEvent) => string;

/** Returns a reporter for a stream that begins now; undefined without reports. `promptTokens`: of each answer. */
export function reporterOf(
  { usage, timings, progress }: RunningReports,
  promptTokens: number,
  now: () => number,
): Reporter | undefined {
  if (!usage && !timings && !progress) return undefined;
  const acceptedAt = now();
  const answers: AnswerSoFar[] = [];
  return (event) => {
    const answer = (answers[event.choice ?? 0] ??= new AnswerSoFar(promptTokens, acceptedAt));
    answer.add(event, now());
    if (event.type === "progress") return progress ? `,"prompt_progress":${JSON.stringify(encodeProgress(event))}` : "";
    const counts = usage ? `,"usage":${JSON.stringify(encodeCounts(answer.usage))}` : "";
    return timings ? counts + timingsMember(answer.usage) : counts;
  };
}
