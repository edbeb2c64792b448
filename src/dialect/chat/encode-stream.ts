// Encodes the events of one generation as the chunks of a chat completion stream.

import type { ProfileDetail } from "../../contract/chat.ts";
import { errorObject } from "../../contract/errors.ts";
import type { FinishEvent, GenerateEvent, OutputEvent } from "../../domain/generate.ts";
import type { Profile } from "../../domain/profile.ts";
import { usageOf } from "../../domain/usage.ts";
import { chunkHead, type AnswerOrigin } from "../fields/answer-head.ts";
import { encodeReadInputs } from "../fields/read-inputs.ts";
import type { Reporter } from "../fields/running-reports.ts";
import { encodeUsage, timingsMember } from "../fields/usage.ts";
import type { Put, StreamedRequest, StreamWriter } from "../stream/streamed.ts";
import { encodeLogprobs } from "./encode.ts";
import { encodeProfile } from "./profile.ts";

interface ChatStreamOptions extends Pick<StreamedRequest, "requestId" | "readInputs"> {
  /** Number of answers that the events belong to. */
  readonly choices: number;
  readonly includeUsage: boolean;
  /** Absent: chunks report nothing about the answer so far. */
  readonly report?: Reporter | undefined;
  /** Set when a profile follows the usage. */
  readonly profile?: ProfileDetail | undefined;
}

/**
 * Writes for each choice a role chunk, delta chunks and a finish chunk, then a usage chunk and a profile if requested.
 * The timings are in the usage chunk if there is one, otherwise in the finish chunks. The first chunk lists media that
 * were converted to text. A failure becomes a chunk with an `error`.
 */
export function chatWriter(
  put: Put<string>,
  origin: AnswerOrigin,
  options: ChatStreamOptions,
): StreamWriter<GenerateEvent> {
  const { choices, includeUsage, report, profile: detail, requestId } = options;
  // Everything but the delta is the same in every chunk of a choice, so it is prepared once.
  const head = chunkHead(origin, "chat.completion.chunk");
  const opened: string[] = [];
  const open = (choice = 0) => (opened[choice] ??= `${head},"choices":[{"index":${choice},"delta":`);
  const unfinished = `,"finish_reason":null}]`;
  const finishes: FinishEvent[] = [];
  let profile: Profile | undefined;
  return {
    begin() {
      const readInputs = Object.entries(encodeReadInputs(options))
        .map(([field, inputs]) => `,"${field}":${JSON.stringify(inputs)}`)
        .join("");
      for (let choice = 0; choice < choices; choice++) {
        put(
          `${open(choice)}{"role":"assistant","content":""},"finish_reason":null}]${choice === 0 ? readInputs : ""}}`,
        );
      }
    },
    event(event) {
      if (event.type === "accepted" || event.type === "restarted") return;
      if (event.type !== "finish") {
        const reports = report?.(event) ?? "";
        // Progress that the client does not want produces no chunk.
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
      // Clients that ignore `error` at least show this text to their users.
      const content = JSON.stringify(`\n\n[error] ${error.message}`);
      const marker = JSON.stringify(errorObject(error, requestId));
      put(`${open()}{"content":${content}},"finish_reason":"error"}],"error":${marker}}`);
    },
  };
}

/** Returns the delta and its sibling members. A key without a value is absent, because strict clients reject null. */
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
