// The events of one generation → the chunks of a chat completion's stream.

import type { ProfileDetail } from "../../contract/chat.ts";
import { errorObject } from "../../contract/errors.ts";
import type { FinishEvent, GenerateEvent, OutputEvent } from "../../domain/generate.ts";
import type { Profile } from "../../domain/profile.ts";
import { usageOf } from "../../domain/usage.ts";
import { chunkHead, type AnswerOrigin } from "../fields/answer-origin.ts";
import { encodeReadInputs } from "../fields/read-inputs.ts";
import type { Put, StreamedRequest, StreamWriter } from "../stream/streamed.ts";
import { encodeLogprobs } from "./encode.ts";
import { encodeProfile } from "./profile.ts";
import type { Reporter } from "./running-reports.ts";
import { encodeUsage, timingsMember } from "./usage.ts";

interface ChatStreamOptions extends Pick<StreamedRequest, "requestId" | "readInputs"> {
  /** Answers that the events belong to. */
  readonly choices: number;
  readonly includeUsage: boolean;
  /** Absent: chunks report nothing of the answer so far. */
  readonly report?: Reporter | undefined;
  /** A profile follows the usage. */
  readonly profile?: ProfileDetail | undefined;
}

/**
 * Puts for each choice a role chunk, delta chunks and a finish chunk, then a usage chunk and a profile if requested; the timings
 * are in the usage chunk, else in the finish chunks. The first chunk reports what was read for the model. A failure becomes an error-marked chunk.
 */
export function chatWriter(
  put: Put<string>,
  origin: AnswerOrigin,
  options: ChatStreamOptions,
): StreamWriter<GenerateEvent> {
  const { choices, includeUsage, report, profile: detail, requestId } = options;
  // All but the delta is the same in every chunk and prepared once.
  const head = chunkHead(origin, "chat.completion.chunk");
  const opened: string[] = [];
  const open = (choice = 0) => (opened[choice] ??= `${head},"choices":[{"index":${choice},"delta":`);
  const unfinished = `,"finish_reason":null}]`;
  const finishes: FinishEvent[] = [];
  let profile: Profile | undefined;
  return {
    begin() {
      const told = Object.entries(encodeReadInputs(options))
        .map(([field, inputs]) => `,"${field}":${JSON.stringify(inputs)}`)
        .join("");
      for (let choice = 0; choice < choices; choice++) {
        put(`${open(choice)}{"role":"assistant","content":""},"finish_reason":null}]${choice === 0 ? told : ""}}`);
      }
    },
    event(event) {
      if (event.type === "accepted") return;
      if (event.type !== "finish") {
        const reports = report?.(event) ?? "";
        // Where the prompt's progress is not wanted, it is no chunk.
        if (event.type === "progress" && reports === "") return;
        return put(`${open(event.choice)}${delta(event)}${unfinished}${reports}}`);
      }
      const timings = includeUsage ? "" : timingsMember(event.usage);
      put(`${open(event.choice)}{},"finish_reason":"${event.reason}"}]${timings}}`);
      finishes[event.choice ?? 0] = event;
      profile = event.profile ?? profile;
    },
    end() {
      if (finishes.some(({ reason }) => reason === "cancelled")) return;
      const usage = usageOf(finishes, choices);
      if (includeUsage) {
        put(`${head},"choices":[],"usage":${JSON.stringify(encodeUsage(usage))}${timingsMember(usage)}}`);
      }
      if (detail) put(JSON.stringify(encodeProfile(detail, usage, profile)));
    },
    failure(error) {
      // For clients that know nothing of `error`, people at least read what happened.
      const content = JSON.stringify(`\n\n[error] ${error.message}`);
      const marker = JSON.stringify(errorObject(error, requestId));
      put(`${open()}{"content":${content}},"finish_reason":"error"}],"error":${marker}}`);
    },
  };
}

/** The delta, and what stands beside it. A key without a value is absent: strict clients reject a null. */
function delta(event: OutputEvent): string {
  switch (event.type) {
    case "progress":
      return "{}";
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
