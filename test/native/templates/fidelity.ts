// Tests which parts of a conversation each template renders, and whether the answers of its models are parsed
// correctly.

import { isDeepStrictEqual } from "node:util";
import type { ChatPrompt } from "../../../ffi/llama/api.ts";
import type { NativeLlama } from "../../../ffi/llama/binding.ts";
import { parsed } from "../../support/parsed.ts";
import { chat } from "../harness.ts";
import { ANSWER, THOUGHT, WEATHER_CALL, ZONE_CALL, type Call, type Family } from "./family.ts";
import { randomNumbers } from "../../support/dice.ts";
import { prompts, readAnswer, type Reading } from "./reading.ts";
import { CALENDAR_TOOLS, TOOLS, TYPED_CALL, TYPED_TOOL } from "./tools.ts";

export const COLUMNS = [
  "user",
  "system",
  "history",
  "tools",
  "schemas",
  "call",
  "2 calls",
  "thought",
  "→ text",
  "→ call",
  "→ 2 calls",
  "→ types",
  "→ thought",
  "→ thought, call",
  "split",
] as const;
export type Column = (typeof COLUMNS)[number];

/** `trimmed`: equal except for white space at the edges. `none`: the models have nothing of the kind. */
export type Result = "pass" | "trimmed" | "fail" | "none";

interface Case {
  readonly column: Column;
  readonly text: string;
  readonly request: ChatPrompt;
  readonly reasoning: string;
  readonly content: string;
  readonly calls: readonly Call[];
}

const USER = { role: "user", content: "Is it raining?" };

/** Tests the loaded template. `thorough`: splits answers into single bytes. */
export function checkTemplate(llama: NativeLlama, family: Family, thorough: boolean): Readonly<Record<Column, Result>> {
  const results = Object.fromEntries(COLUMNS.map((column) => [column, "none"])) as Record<Column, Result>;
  const note = (column: Column, result: Result) => {
    const worst = (["fail", "trimmed", "pass", "none"] as const).find(
      (one) => one === result || one === results[column],
    );
    results[column] = worst ?? result;
  };
  const list = conversations(family);
  for (const { column, shows, result } of joined(llama, list)) {
    const text = "error" in result ? "" : textOf(llama, result.tokens);
    note(column, shows.every((part) => text.includes(part)) ? "pass" : "fail");
  }
  const pieces = ({ text }: Case) => [[Buffer.from(text)], splitUp(Buffer.from(text), thorough)];
  const readings = cases(family).flatMap((one) => pieces(one).map((split) => ({ ...one, split })));
  let whole: Reading | undefined;
  for (const { result, split, ...one } of joined(llama, readings)) {
    const reading = "error" in result ? undefined : readAnswer(llama, result, split);
    if (split.length === 1) {
      whole = reading;
      note(one.column, reading ? compare(reading, one) : "fail");
    } else if (whole && !whole.failed) {
      // For a rejected text, the result depends on what was read before; see robustness.ts.
      note("split", isDeepStrictEqual(reading, whole) ? "pass" : "fail");
    }
  }
  return results;
}

/** Yields each item with the result of its prompt. */
function* joined<T extends { readonly request: ChatPrompt }>(llama: NativeLlama, items: readonly T[]) {
  const requests = items.map(({ request }) => request);
  let index = 0;
  for (const result of prompts(llama, requests)) yield { ...(items[index++] as T), result };
}

function textOf(llama: NativeLlama, tokens: Int32Array): string {
  return Buffer.concat([...tokens].map((token) => llama.piece(token, true))).toString("utf8");
}

/** Returns conversations, and the texts that each must contain when rendered. */
function conversations(family: Family): { column: Column; request: ChatPrompt; shows: readonly string[] }[] {
  const list: { column: Column; request: ChatPrompt; shows: readonly string[] }[] = [];
  const add = (column: Column, request: ChatPrompt, ...shows: string[]) => list.push({ column, request, shows });
  const thinking = { enableThinking: true, kwargs: family.thinkingArguments ?? {} };
  const system = { role: "system", content: "Answer in verse." };
  const answer = { role: "assistant", content: "It is dry.", reasoning_content: "Look outside first." };
  const [first, second] = ["abcdefgh1", "abcdefgh2"];
  const sunny = { role: "tool", tool_call_id: first, content: "Sunny, 21 degrees" };
  const snow = { role: "tool", tool_call_id: second, content: "Snow" };
  add("user", chat([USER]), USER.content);
  add("system", chat([system, USER]), system.content, USER.content);
  add("history", chat([USER, answer, { role: "user", content: "And now?" }]), USER.content, "It is dry.", "And now?");
  if (family.calls) {
    add("tools", chat([USER], { tools: TOOLS }), "get_weather", "get_time", "city");
    add("schemas", chat([USER], { tools: CALENDAR_TOOLS }), "add_event", "guests", "list_events");
    const one = chat([USER, assistant(call(first, "Paris")), sunny], { tools: TOOLS });
    add("call", one, "get_weather", "Paris", "Sunny, 21 degrees");
  }
  if (family.calls?.parallel) {
    const calls = assistant(call(first, "Paris"), call(second, "Oslo"));
    add("2 calls", chat([USER, calls, sunny, snow], { tools: TOOLS }), "Paris", "Oslo", "Sunny, 21 degrees", "Snow");
  }
  // Reasoning of the turn in progress; templates drop that of earlier turns deliberately.
  const messages = family.calls
    ? [USER, { ...assistant(call(first, "Paris")), reasoning_content: "Look outside first." }, sunny]
    : [USER, answer, USER];
  const tools = family.calls ? TOOLS : [];
  if (family.thought) add("thought", chat(messages, { tools, ...thinking }), "Look outside first.");
  return list;
}

const assistant = (...calls: object[]) => ({ role: "assistant", content: "", tool_calls: calls });

const call = (id: string, city: string) => ({
  id,
  type: "function",
  function: { name: "get_weather", arguments: JSON.stringify({ city, days: 3 }) },
});

/** Returns the answers of the table in the family's format. */
export function cases({ calls, start = "", text = ["", ""], ...family }: Family): Case[] {
  const answer = text[0] + ANSWER + text[1];
  const begins = family.thoughtBegins ?? "";
  const plain = chat([USER]);
  const tools = chat([USER], { tools: TOOLS, constrain: false });
  const thinking = { enableThinking: true, kwargs: family.thinkingArguments ?? {} };
  const list: Case[] = [];
  const add = (column: Column, request: ChatPrompt, raw: string, reasoning: string, content: string, told: Call[]) =>
    list.push({ column, request, text: raw, reasoning: begins.trim() + reasoning, content, calls: told });
  add("→ text", plain, start + answer, "", ANSWER, []);
  if (calls) {
    add("→ text", tools, start + answer, "", ANSWER, []);
    add("→ call", tools, start + calls.single, "", "", [WEATHER_CALL]);
    if (calls.parallel) add("→ 2 calls", tools, start + calls.parallel, "", "", [WEATHER_CALL, ZONE_CALL]);
    const typed = chat([USER], { tools: [TYPED_TOOL], constrain: false });
    add("→ types", typed, start + calls.write([TYPED_CALL]), "", "", [TYPED_CALL]);
  }
  if (!family.thought) return list;
  const thought = family.thought[0] + THOUGHT + family.thought[1];
  const said = begins === "" ? THOUGHT : `\n${THOUGHT}`;
  const [before, after] = family.textAfterThought ?? text;
  const full = thought + before + ANSWER + after;
  add("→ thought", { ...plain, ...thinking }, full, said, ANSWER, []);
  if (calls) {
    add("→ thought", { ...tools, ...thinking }, full, said, ANSWER, []);
    add("→ thought, call", { ...tools, ...thinking }, thought + calls.single, said, "", [WEATHER_CALL]);
  }
  return list;
}

function compare(reading: Reading, one: Case): Result {
  const told = reading.calls.map(({ name, arguments: text }) => ({ name, arguments: parsed(text) }));
  if (reading.failed || !isDeepStrictEqual(told, one.calls)) return "fail";
  if (reading.reasoning === one.reasoning && reading.content === one.content) return "pass";
  return reading.reasoning.trim() === one.reasoning && reading.content.trim() === one.content ? "trimmed" : "fail";
}

/** Splits into single bytes, or into pieces of random length. */
function splitUp(bytes: Uint8Array, thorough: boolean): Uint8Array[] {
  const random = randomNumbers(bytes.length);
  const pieces: Uint8Array[] = [];
  for (let at = 0, end = 0; at < bytes.length; at = end) {
    end = at + 1 + (thorough ? 0 : Math.floor(random() * 16));
    pieces.push(bytes.subarray(at, end));
  }
  return pieces;
}
