// The output format of a family of models: the types of the tables in *-families.ts, and the answer used for all of
// them.

/** A tool call as the client sees it. */
export interface Call {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** The format of tool calls. */
export interface CallFormat {
  /** One call of get_weather with WEATHER, written manually from the template and llama.cpp's own tests. */
  readonly single: string;
  /** That call and one of get_time with ZONE; absent when the model has no parallel calls. */
  readonly parallel?: string;
  /** Writes any calls in the same format, for random texts; verified with the two texts above. */
  write(calls: readonly Call[]): string;
}

/** Templates whose models answer in the same way. */
export interface Family {
  readonly name: string;
  /** File names in llama.cpp's models/templates, without extension. */
  readonly templates: readonly string[];
  /** Absent when the model has no tools. */
  readonly calls?: CallFormat;
  /** The start of a turn without reasoning, when the prompt has already opened the reasoning. */
  readonly start?: string;
  /** The markup around the text of an answer. */
  readonly text?: readonly [before: string, after: string];
  /** The markup around text after reasoning, when it differs. */
  readonly textAfterThought?: readonly [before: string, after: string];
  /** The markup around reasoning, up to the following text or call; absent when the model does not reason. */
  readonly thought?: readonly [before: string, after: string];
  /** The last line of the prompt, which is part of the reasoning. */
  readonly thoughtBegins?: string;
  /** Template arguments that enable reasoning, in addition to enable_thinking. */
  readonly thinkingArguments?: Readonly<Record<string, unknown>>;
  /** Whether a tool with a list parameter cannot be rendered. */
  readonly withoutLists?: true;
  /** Whether rendering a prompt takes 15 ms or more. */
  readonly slow?: true;
}

export const WEATHER = `{"city": "Zürich", "days": 3}`;
export const ZONE = `{"zone": "Europe/Oslo"}`;
export const ANSWER = `Grüezi! 1 < 2, "quoted" — 🌧`;
export const THOUGHT = "Which city?\nZürich, I think 🤔";

export const WEATHER_CALL: Call = { name: "get_weather", arguments: { city: "Zürich", days: 3 } };
export const ZONE_CALL: Call = { name: "get_time", arguments: { zone: "Europe/Oslo" } };

/** Writes JSON as Python does, and therefore most models. */
export function json(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(json).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}: ${json(member)}`);
  return `{${members.join(", ")}}`;
}

/** Returns a value between tags: strings unchanged, everything else as JSON. */
export const tagged = (value: unknown): string => (typeof value === "string" ? value : json(value));

/** Joins the arguments of a call, each written by `one`. */
export function each(call: Call, one: (key: string, value: unknown) => string, separator = ""): string {
  return Object.entries(call.arguments)
    .map(([key, value]) => one(key, value))
    .join(separator);
}
