// Feeds random texts to the native parser and ParsedAnswer, and checks what must hold for each of them.

import { isDeepStrictEqual } from "node:util";
import type { ChatPrompt, PromptResult } from "../../../ffi/llama/api.ts";
import type { NativeLlama } from "../../../ffi/llama/binding.ts";
import type { OutputEvent } from "../../../src/domain/generate.ts";
import { ParsedAnswer, type ParsedAnswerOptions } from "../../../src/engine/text/child/answer.ts";
import { parsed } from "../../support/parsed.ts";
import { chat } from "../harness.ts";
import type { Family } from "./family.ts";
import { randomNumbers } from "../../support/dice.ts";
import { RandomTexts, randomTools, type RandomText } from "./random.ts";
import { prompts } from "./reading.ts";

/** What a client has received when an answer is complete. */
export interface Told {
  reasoning: string;
  content: string;
  calls: { name: string; arguments: string }[];
}

/** How many prompts are created at a time. */
const BATCH = 15;

const NAMES = new Set(["note", "note_list", "add", "configure", "ping"]);

/** Possible violations of a text. */
export const VIOLATIONS = [
  "exception",
  "unknown tool",
  "call is also text",
  "text is lost",
  "not exact",
  "stream differs",
  "not JSON",
] as const;

export interface Violation {
  readonly what: (typeof VIOLATIONS)[number];
  readonly kind: string;
  readonly text: string;
}

/** Violations caused by llama.cpp's parsers that code after them cannot fix, some for one kind of text only. */
const KNOWN: Readonly<Record<string, readonly string[] | undefined>> = {
  // Withdraws a call when its arguments turn out not to be JSON; a second call is text when only one is allowed.
  "Ling 3": ["stream differs", "not exact: calls, one allowed"],
  // Passes on lists and objects without validating them.
  "Kimi K3": ["not JSON"],
  // A call without its [ARGS] extends to the end of the text.
  "Mistral with call ids": ["text is lost"],
};

/** The results for the texts of one family. */
export interface Tally {
  texts: number;
  /** How many texts contained calls. */
  called: number;
  /** How many texts were well-formed. */
  wellFormed: number;
  readonly violations: Violation[];
}

/** Returns the violations that are not known. */
export function unknownViolations({ name }: Family, { violations }: Tally): Violation[] {
  const known = KNOWN[name] ?? [];
  return violations.filter(({ what, kind }) => !known.includes(what) && !known.includes(`${what}: ${kind}`));
}

/** Feeds a text to ParsedAnswer piece by piece. `whole`: the model ended the text itself. */
export function tell(
  llama: NativeLlama,
  request: ChatPrompt,
  result: PromptResult,
  pieces: readonly Uint8Array[],
  whole: boolean,
): Told {
  if ("error" in result) throw new Error(result.error);
  const answer = answerOf(llama, request, result);
  const told: Told = { reasoning: "", content: "", calls: [] };
  for (const piece of pieces) if (!answer.complete) add(told, answer.push(piece, false));
  add(told, answer.end(whole));
  return told;
}

/** Returns the answer to a prompt, created as the engine does. */
export function answerOf(
  llama: NativeLlama,
  { parallelToolCalls, tools }: ChatPrompt,
  result: PromptResult,
  changes: Partial<ParsedAnswerOptions> = {},
): ParsedAnswer {
  if (!("sampler" in result) || result.sampler === undefined) throw new Error("no sampler was made");
  const { sampler } = result;
  const parser = {
    push: (bytes: Uint8Array) => llama.pushAnswer(sampler, bytes),
    read: (final: boolean) => llama.readAnswer(sampler, final),
  };
  // With a clock that stands still, reading takes no time, so every piece is read.
  return new ParsedAnswer(parser, {
    stops: [],
    tools: (tools as readonly { readonly function: { readonly name: string } }[]).map((tool) => tool.function.name),
    thinkingEnds: result.format.thinkingEnds,
    parallelToolCalls,
    now: () => 0,
    readers: () => 1,
    ...changes,
  });
}

/** Adds the content of events. */
export function add(told: Told, events: readonly OutputEvent[]): void {
  for (const event of events) {
    if (event.type === "reasoning") told.reasoning += event.text;
    else if (event.type === "text") told.content += event.text;
    else if (event.type === "tool_call") told.calls[event.index] = { name: event.name, arguments: "" };
    else if (event.type === "tool_arguments") {
      const call = told.calls[event.index];
      if (!call) throw new Error("arguments of a call that was not announced");
      call.arguments += event.text;
    }
  }
}

/** Reads `count` random texts of a family with the loaded template. */
export function readRandomTexts(llama: NativeLlama, family: Family, seed: number, count: number): Tally {
  const texts = new RandomTexts(family, randomNumbers(seed));
  const tally: Tally = { texts: 0, called: 0, wellFormed: 0, violations: [] };
  while (tally.texts < count) {
    const runs = Array.from({ length: Math.min(BATCH, count - tally.texts) }, () => runOf(texts, family));
    const requests = runs.flatMap(({ request, cut }) => (cut ? [request, request, request] : [request, request]));
    const results = prompts(llama, requests);
    for (const run of runs) {
      const found = new Set<Violation["what"]>();
      const told = (pieces: readonly Uint8Array[], whole: boolean): Told | undefined => {
        const next = results.next();
        try {
          return next.done ? undefined : tell(llama, run.request, next.value, pieces, whole);
        } catch {
          found.add("exception");
          return undefined;
        }
      };
      const whole = told([run.bytes], true);
      const stream = told(run.pieces, true);
      const cut = run.cut ? told(run.pieces, false) : undefined;
      if (whole && stream) check(run.text, whole, stream, found);
      // At a token limit the last call stays open; the calls before it are complete.
      if (cut?.calls.slice(0, -1).some((call) => parsed(call.arguments) === undefined)) found.add("not JSON");
      tally.texts++;
      if (run.text.exact) tally.wellFormed++;
      if (stream && stream.calls.length > 0) tally.called++;
      for (const what of found) tally.violations.push({ what, kind: run.text.kind, text: run.text.text });
    }
    // Frees the last sampler.
    results.next();
  }
  return tally;
}

function runOf(texts: RandomTexts, family: Family) {
  const text = texts.next();
  const bytes = Buffer.from(text.text);
  const request = chat([{ role: "user", content: "Hi" }], {
    tools: randomTools(family),
    parallelToolCalls: text.parallel,
    // Nothing is generated, so no grammar is needed.
    constrain: false,
    enableThinking: text.thinking,
    kwargs: text.thinking ? (family.thinkingArguments ?? {}) : {},
  });
  return { text, bytes, pieces: texts.pieces(bytes), request, cut: text.kind.startsWith("cut") };
}

function check(text: RandomText, whole: Told, stream: Told, found: Set<Violation["what"]>): void {
  if (!isDeepStrictEqual(stream, whole)) found.add("stream differs");
  for (const told of [whole, stream]) {
    if (told.calls.some((call) => parsed(call.arguments) === undefined)) found.add("not JSON");
    if (!told.calls.every((call) => NAMES.has(call.name))) found.add("unknown tool");
    const isLost = (mark: string) => text.text.includes(mark) && !told.content.includes(mark);
    if (told.calls.length === 0 && text.marks.some(isLost)) found.add("text is lost");
    const called = text.marks.filter((mark) => told.calls.some((call) => call.arguments.includes(mark)));
    if (called.some((mark) => told.content.includes(mark) || told.reasoning.includes(mark)))
      found.add("call is also text");
  }
  if (!text.exact) return;
  const calls = stream.calls.map((call) => ({ name: call.name, arguments: parsed(call.arguments) }));
  const told = { reasoning: stream.reasoning.trim(), content: stream.content.trim(), calls };
  if (!isDeepStrictEqual(told, text.exact)) found.add("not exact");
}
