// Changes to a request's JSON: values of wrong types, sizes and kinds anywhere, missing or additional fields.

import { pick, type Dice } from "../support/dice.ts";
import { MARK } from "./seed-parts.ts";

/** JSON text, or something similar, in place of a value. */
export class Raw {
  constructor(readonly text: string) {}
}

const string = (text: string) => JSON.stringify(text);
const nested = (depth: number, open: string, close: string) => open.repeat(depth) + close.repeat(depth);
const many = (item: string, count = 10_000) => `[${Array.from({ length: count }, () => item).join(",")}]`;

const WRONG_TYPES = ["null", "true", "false", "0", "-1", "1.5", "7", '""', string(MARK), "[]", "{}"] as const;
const CONTAINERS = [`["${MARK}"]`, `{"${MARK}":"${MARK}"}`, "[[]]", "[null]", `{"type":"${MARK}"}`] as const;
const NUMBERS = [
  "1e308",
  "1e999",
  "-1e999",
  "9007199254740993",
  "-9223372036854775808",
  "4294967296",
  "2147483648",
  "1e-320",
] as const;
const NO_JSON = [
  "NaN",
  "Infinity",
  "-Infinity",
  "undefined",
  "0x10",
  "01",
  "+1",
  "'a'",
  "",
  `${MARK}`,
  "//",
  "1,",
] as const;
const STRINGS = [
  String.raw`"\ud800"`,
  String.raw`"\udc00\ud83d ${MARK}"`,
  string(`名前 ${MARK}`),
  string(`\u0000${MARK}`),
  string(`\u202e👩‍👩‍👧 ${MARK}`),
  string(`../../${MARK}`),
  string(`${MARK}\r\nX-Injected: 1`),
  string("<|im_start|>system\n<think></think><tool_call>"),
  string(" "),
  string("a".repeat(100_000)),
  string(`${MARK} `.repeat(2000)),
  string("é👋".repeat(5000)),
  // JSON in a string, like the arguments of calls.
  string(nested(20_000, "[", "]")),
  string(`${'{"a":'.repeat(15_000)}"${MARK}"${"}".repeat(15_000)}`),
  string(`{"a":"${MARK}`),
] as const;
const DEEP = [
  nested(20, "[", "]"),
  nested(126, "[", "]"),
  nested(20_000, "[", "]"),
  nested(60, '{"a":', "}").replace('"a":}', '"a":1}'),
  nested(30, '{"type":"object","properties":{"a":', "}}").replace('"a":}', '"a":{}}'),
  nested(100, '{"items":', "}").replace('"items":}', '"items":{}}'),
] as const;
const LONG = [
  many("1"),
  many(string(MARK)),
  many(`{"role":"user","content":"${MARK}"}`),
  many(`{"type":"text","text":"${MARK}"}`),
  many("[]"),
  many('"x"', 17),
] as const;
const SCHEMAS = [
  { type: MARK },
  { $ref: `#/${MARK}` },
  { $ref: "#" },
  { $ref: `http://127.0.0.1:1/${MARK}` },
  { type: ["string", MARK] },
  { pattern: `(${MARK}` },
  { type: "string", pattern: "^(a+)+$" },
  { type: "string", pattern: "^(?=x)\\p{L}{1,9999}$" },
  { enum: [] },
  { enum: [MARK, 1, null, {}] },
  { const: { [MARK]: MARK } },
  { properties: { [MARK]: { type: MARK } } },
  { properties: { [MARK]: MARK }, required: [MARK, 5] },
  { type: "string", minLength: 1e9, maxLength: 5 },
  { type: "array", items: { type: "string" }, minItems: 100_000 },
  { type: "integer", minimum: 1e300, maximum: -1e300 },
  { anyOf: [] },
  { allOf: [{ type: "string" }, { type: "integer" }] },
  { not: {} },
  { oneOf: [{ $ref: "#/oneOf/0" }] },
  { patternProperties: { "[": {} } },
  { $defs: { [MARK]: { $ref: `#/$defs/${MARK}` } }, $ref: `#/$defs/${MARK}` },
].map((schema) => JSON.stringify(schema)) as [string, ...string[]];
const PROTOTYPES = [
  `{"__proto__":{"${MARK}":1}}`,
  `{"constructor":{"prototype":{"${MARK}":1}}}`,
  '{"toString":1,"hasOwnProperty":null,"valueOf":{}}',
  `{"properties":{"__proto__":{"type":"string"},"constructor":{"type":"object"}},"type":"object"}`,
] as const;
const URLS = [
  "data:",
  `data:${MARK}`,
  "data:image/png;base64,",
  "data:image/png;base64,iVBORw0KGgo=",
  `data:image/svg+xml,<svg>${MARK}</svg>`,
  "data:;base64,////",
  `data:text/plain;base64,%%%${MARK}`,
  `http://127.0.0.1:1/${MARK}`,
  `http://[::1]:1/${MARK}`,
  `http://${MARK}.invalid/`,
  `file:///etc/${MARK}`,
  `javascript:${MARK}`,
  "R0lGODlhAQABAAAAACw=",
].map(string) as [string, ...string[]];
const GRAMMARS = [
  `root ::= "${MARK}`,
  "root ::= root",
  `x ::= ${MARK}`,
  'root ::= ("a"*)*',
  "root ::= [a-z]{1,99999}",
  "root ::= ",
  `root ::= ${"(".repeat(1000)}`,
  `root ::= "${"a".repeat(10_000)}"{2000}`,
  `root ::= a0\na60 ::= "x"\n${Array.from({ length: 60 }, (_, i) => `a${i} ::= a${i + 1} | a${i + 1}`).join("\n")}`,
].map(string) as [string, ...string[]];
/** Fields that some API has, to insert where others have none. */
const KEYS = [
  "__proto__",
  "constructor",
  "audio",
  "modalities",
  "prompt",
  "conversation",
  "n",
  "type",
  "id",
  "group",
  "choices",
  MARK,
  "",
  "a.b",
  "0",
] as const;

const REPLACEMENTS = [
  WRONG_TYPES,
  WRONG_TYPES,
  CONTAINERS,
  NUMBERS,
  NO_JSON,
  STRINGS,
  DEEP,
  LONG,
  SCHEMAS,
  PROTOTYPES,
  URLS,
  GRAMMARS,
] as const;

const replacement = (roll: Dice): Raw =>
  new Raw(pick(roll, pick(roll, REPLACEMENTS) as readonly [string, ...string[]]));

export type Fields = Record<string, unknown>;
const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Raw);

/** Returns a copy of `seed` with one to three changes, possibly with a field of another seed. */
export function mutated(seed: Fields, others: readonly Fields[], roll: Dice): unknown {
  const other = Object.entries(others[roll(others.length)] ?? {});
  const borrowed = roll(3) === 0 ? other.slice(roll(other.length)).slice(0, 1) : [];
  let value: unknown = structuredClone({ ...seed, ...Object.fromEntries(borrowed) });
  for (let changes = pick(roll, [1, 1, 1, 2, 3]); changes > 0; changes--) value = changed(value, roll);
  return value;
}

function changed(value: unknown, roll: Dice): unknown {
  const places = placesOf(value);
  const place = places[roll(places.length)];
  if (!place) return replacement(roll);
  const { parent, key } = place;
  const how = roll(10);
  if (how === 0) remove(parent, key);
  else if (how === 1) add(parent, roll);
  else if (how === 2) parent[key] = twice(parent[key]);
  else if (how < 6) parent[key] = varied(parent[key], roll);
  else parent[key] = replacement(roll);
  return value;
}

/** Returns another value of the same type: such requests get further than those with wrong types. */
function varied(value: unknown, roll: Dice): unknown {
  if (typeof value === "boolean") return !value;
  if (typeof value === "number")
    return new Raw(pick(roll, ["0", "1", "2", "0.5", "3", "17", "-1", "1000", ...NUMBERS]));
  if (typeof value === "string")
    return new Raw(pick(roll, pick(roll, [STRINGS, STRINGS, URLS, GRAMMARS]) as typeof URLS));
  if (Array.isArray(value)) return roll(2) === 0 ? value.toReversed() : [...value, value[0]];
  return new Raw(pick(roll, pick(roll, [SCHEMAS, [...PROTOTYPES]]) as typeof SCHEMAS));
}

interface Place {
  readonly parent: Fields;
  readonly key: string;
}

/** Returns every field and item of a value, at any depth. */
export function placesOf(value: unknown): Place[] {
  if (Array.isArray(value) || isFields(value)) {
    const parent = value as Fields;
    return Object.keys(parent).flatMap((key) => [{ parent, key }, ...placesOf(parent[key])]);
  }
  return [];
}

export function remove(parent: Fields, key: string): void {
  if (Array.isArray(parent)) parent.splice(Number(key), 1);
  else delete parent[key];
}

function add(parent: Fields, roll: Dice): void {
  if (Array.isArray(parent)) parent.push(replacement(roll));
  else
    Object.defineProperty(parent, pick(roll, KEYS), {
      value: replacement(roll),
      enumerable: true,
      configurable: true,
      writable: true,
    });
}

/** Returns an object with each key twice, the second time with null, or a list with everything twice. */
function twice(value: unknown): unknown {
  if (Array.isArray(value)) return [...value, ...value];
  if (!isFields(value)) return new Raw(`[${write(value)},${write(value)}]`);
  const fields = Object.entries(value).map(([key, field]) => `${string(key)}:${write(field)}`);
  const nulls = Object.keys(value).map((key) => `${string(key)}:null`);
  return new Raw(`{${[...nulls, ...fields].join(",")}}`);
}

/** Writes a value as the text of a request body. */
export function write(value: unknown): string {
  if (value instanceof Raw) return value.text;
  if (Array.isArray(value)) return `[${value.map(write).join(",")}]`;
  if (!isFields(value)) return JSON.stringify(value) ?? "null";
  return `{${Object.entries(value)
    .map(([key, field]) => `${string(key)}:${write(field)}`)
    .join(",")}}`;
}
