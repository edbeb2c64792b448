// Reads an answer with the native parser, in one piece or in many.

import type { ChatPrompt, PromptResult } from "../../../ffi/llama/api.ts";
import type { NativeLlama } from "../../../ffi/llama/binding.ts";

/** Everything that the parser reported for one answer. */
export interface Reading {
  reasoning: string;
  content: string;
  calls: { name: string; arguments: string }[];
  /** Whether the text violated the format. */
  failed: boolean;
}

/**
 * Yields the results of many prompts, in order. All are submitted in advance, so that the prompt threads work while
 * answers are read. A sampler is freed when the next result is requested.
 */
export function* prompts(llama: NativeLlama, requests: readonly ChatPrompt[]): Generator<PromptResult, void> {
  const jobs = requests.map((request) => llama.submitPrompt(request));
  const early = new Map<number, PromptResult>();
  for (const job of jobs) {
    let result = early.get(job);
    while (!result) {
      const next = llama.takePrompt(60_000);
      if (!next) throw new Error("no result for this prompt");
      if (next.job === job) result = next;
      else early.set(next.job, next);
    }
    early.delete(job);
    try {
      yield result;
    } finally {
      if ("sampler" in result && result.sampler !== undefined) llama.freeSampler(result.sampler);
    }
  }
}

/** Pushes the pieces, reads after each of them when there are several, and reads once more at the end. */
export function readAnswer(llama: NativeLlama, result: PromptResult, pieces: readonly Uint8Array[]): Reading {
  if ("error" in result) throw new Error(result.error);
  const reading: Reading = { reasoning: "", content: "", calls: [], failed: false };
  const { sampler, format } = result;
  if (!format.parsed || sampler === undefined) return { ...reading, content: Buffer.concat(pieces).toString("utf8") };
  for (const piece of pieces) {
    llama.pushAnswer(sampler, piece);
    if (pieces.length > 1) add(reading, llama.readAnswer(sampler, false));
  }
  add(reading, llama.readAnswer(sampler, true));
  return reading;
}

function add(reading: Reading, news: ReturnType<NativeLlama["readAnswer"]>): void {
  if (!news) return;
  reading.reasoning += news.reasoning ?? "";
  reading.content += news.content ?? "";
  reading.failed ||= news.failed === true;
  for (const { index, name, arguments: text } of news.calls ?? []) {
    if (name !== undefined) {
      if (index !== reading.calls.length) throw new Error(`call ${index} was announced out of turn`);
      reading.calls.push({ name, arguments: "" });
    }
    const call = reading.calls[index];
    if (!call) throw new Error(`call ${index} was never announced`);
    call.arguments += text ?? "";
  }
}
