// The scripts of engine events for the recorded answers of every API.

import { SvcError } from "../../src/domain/errors.ts";
import type { TokenLogprob } from "../../src/domain/usage.ts";
import type { FakeScript } from "../support/fake-text-engine.ts";
import { toolCall } from "../support/tool-call.ts";

export const crash = new SvcError(
  "engine_crashed",
  "The model engine was killed by signal SIGKILL while computing this request.",
);

/** Returns a token with itself and another one as alternatives. */
export function token(text: string, logprob: number): TokenLogprob {
  const bytes = [...Buffer.from(text)];
  return {
    token: text,
    logprob,
    bytes,
    top: [
      { token: text, logprob, bytes },
      { token: "x", logprob: -5.5, bytes: [120] },
    ],
  };
}

/** What the script `text` says: characters that some form of an answer might change. */
export const TEXT = 'Hello "Zürich" 世界 👩‍👩‍👧\n\u2028\u0000end';

export const scripts = {
  text: { steps: [{ text: TEXT.slice(0, 3) }, { text: TEXT.slice(3) }] },
  reasoning: {
    steps: [{ type: "reasoning", text: "Let me " }, { type: "reasoning", text: "see…" }, { text: "42" }],
    usage: { reasoningTokens: 2 },
  },
  "tool-call": {
    steps: [{ text: "I look." }, ...toolCall("weather", ['{"city": "Zü', 'rich"}'])],
    reason: "tool_calls",
  },
  "two-tool-calls": {
    steps: [
      { type: "reasoning", text: "Both." },
      ...toolCall("weather", ["{}"]),
      ...toolCall("weather", ['{"city": "Rome"}'], 1),
    ],
    reason: "tool_calls",
  },
  length: { steps: [{ text: "One two" }], reason: "length" },
  "length-in-call": { steps: toolCall("weather", ['{"city": "Zü']), reason: "length" },
  "context-full": { steps: [{ text: "One two" }], reason: "length", finish: { contextFull: true } },
  stop: { steps: [{ text: "One " }], finish: { stopSequence: "two" } },
  cancelled: { steps: [{ text: "One " }], reason: "cancelled" },
  logprobs: {
    steps: [
      { text: "Hi", logprobs: [token("Hi", -0.25)] },
      { text: " thére", logprobs: [token(" th", -0.5), token("ére", -0.125)] },
    ],
  },
  json: { steps: [{ text: '{"city":' }, { text: '"Rome"}' }] },
  failed: { steps: [{ text: "Hel" }, { fail: crash }] },
  empty: { steps: [] },
} satisfies Readonly<Record<string, FakeScript>>;

export type ScriptName = keyof typeof scripts;
export const scriptNames = Object.keys(scripts) as ScriptName[];
