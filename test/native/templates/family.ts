// What a family of models writes: the shape of the tables in *-families.ts, and the answer that all of them give.

/** A tool call as the client sees it. */
export interface Call {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** How calls are written. */
export interface CallFormat {
  /** One call of get_weather with WEATHER, written by hand after the template and llama.cpp's own tests. */
  readonly single: string;
  /** That call and one of get_time with ZONE; absent where the model has no parallel calls. */
  readonly parallel?: string;
  /** Any calls in the same format, for random texts; checked against the two above. */
  write(calls: readonly Call[]): string;
}

/** Templates whose models answer in the same way. */
export interface Family {
  readonly name: string;
  /** File names in llama.cpp's models/templates, without the ending. */
  readonly templates: readonly string[];
  /** Absent where there are no tools. */
  readonly calls?: CallFormat;
  /** What a turn without reasoning begins with, where the prompt has opened the reasoning already. */
  readonly start?: string;
  /** What stands around the text of an answer. */
  readonly text?: readonly [before: string, after: string];
  /** The same behind reasoning, where it is something else. */
  readonly textAfterThought?: readonly [before: string, after: string];
  /** What stands around reasoning, up to the text or call that follows; absent where the model does not reason. */
  readonly thought?: readonly [before: string, after: string];
  /** The prompt's last line is part of the reasoning. */
  readonly thoughtBegins?: string;
  /** Template arguments that switch reasoning on, besides enable_thinking. */
  readonly thinkingArguments?: Readonly<Record<string, unknown>>;
  /** A tool that takes a list cannot be rendered. */
  readonly withoutLists?: true;
  /** Rendering a prompt takes 15 ms or more. */
  readonly slow?: true;
}

export const WEATHER = `{"city": "Zürich", "days": 3}`;
export const ZONE = `{"zone": "Europe/Oslo"}`;
export const ANSWER = `Grüezi! 1 < 2, "quoted" — 🌧`;
export const THOUGHT = "Which city?\nZürich, I think 🤔";

export const WEATHER_CALL: Call = { name: "get_weather", arguments: { city: "Zürich", days: 3 } };
export const ZONE_CALL: Call = { name: "get_time", arguments: { zone: "Europe/Oslo" } };

/** JSON as Python writes it, and therefore most models. */
export function json(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(json).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}: ${json(member)}`);
  return `{${members.join(", ")}}`;
}

/** A value between tags: strings as they are, everything else as JSON. */
export const tagged = (value: unknown): string => (typeof value === "string" ? value : json(value));

/** The arguments of a call, each written by `one`. */
export function each(call: Call, one: (key: string, value: unknown) => string, separator = ""): string {
  return Object.entries(call.arguments)
    .map(([key, value]) => one(key, value))
    .join(separator);
}
