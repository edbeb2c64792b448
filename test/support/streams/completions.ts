// The state machine of a completion stream: for each choice pieces of text and one finish; then the usage; then the
// end marker.

import { strict as assert } from "node:assert";
import { Completion } from "../../../src/contract/completions.ts";
import { checker } from "../../../src/contract/schema.ts";
import { byIndex, readChunks, type Assembled } from "./events.ts";

type Chunk = ReturnType<typeof checkChunk>;
type Choice = Chunk["choices"][number];
export type CompletionBody = Pick<Chunk, "choices" | "usage" | "timings">;

const checkChunk = checker(Completion);

/** Assembles a stream into its answer. Throws where the stream breaks a rule of its API. */
export function assembleCompletion(text: string): Assembled<CompletionBody> {
  const { chunks, error } = readChunks(text, checkChunk);
  if (error) return { error };
  const usage = chunks.filter((chunk) => chunk.usage);
  assert(usage.length <= 1 && (usage.length === 0 || chunks.at(-1) === usage[0]), "one usage, at the end");
  const pieces = chunks.flatMap(({ choices }) => choices);
  const choices = byIndex(pieces).map((own, index) => assembleChoice(index, own));
  return {
    body: {
      choices,
      ...(usage[0]?.usage && { usage: usage[0].usage, ...(usage[0].timings && { timings: usage[0].timings }) }),
    },
  };
}

function assembleChoice(index: number, pieces: readonly Choice[]): Choice {
  const last = pieces.at(-1);
  assert(last?.finish_reason && last.finish_reason !== "error", "a choice ends with its finish");
  assert(
    pieces.slice(0, -1).every(({ finish_reason }) => finish_reason === null),
    "a choice finishes once",
  );
  const logprobs = pieces.flatMap((piece) => (piece.logprobs ? [piece.logprobs] : []));
  return {
    text: pieces.map(({ text }) => text).join(""),
    index,
    logprobs:
      logprobs.length === 0
        ? null
        : {
            tokens: logprobs.flatMap((piece) => piece.tokens),
            token_logprobs: logprobs.flatMap((piece) => piece.token_logprobs),
            top_logprobs: logprobs.flatMap((piece) => piece.top_logprobs),
            text_offset: logprobs.flatMap((piece) => piece.text_offset),
          },
    finish_reason: last.finish_reason,
  };
}
