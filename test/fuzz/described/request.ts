// One request for an operation: what its description allows, often with changes.

import { pick, type Dice } from "../../support/dice.ts";
import { damaged } from "../bytes.ts";
import { mutated, Raw, write, type Fields } from "../mutate.ts";
import { MARK, PIXEL } from "../seed-parts.ts";
import { seeds } from "../seeds.ts";
import { targets, type TargetName } from "../targets.ts";
import type { Operation } from "./operation.ts";
import { PICTURE_URL, SOUND_URL } from "./media.ts";
import type { Supply } from "./supply.ts";
import { valueOf } from "./values.ts";

type Part = readonly [name: string, value: string | Uint8Array<ArrayBuffer>];

export interface Asked {
  readonly operation: Operation;
  /** Path and query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  /** What a JSON body is written from. */
  readonly value?: unknown;
  readonly form?: readonly Part[];
  readonly bytes?: Uint8Array<ArrayBuffer>;
}

const ODD = [
  "",
  "-1",
  "0",
  "1e999",
  "1.5",
  "null",
  " ",
  "é",
  "%00",
  "../x",
  MARK,
  "a".repeat(300),
  "99999999999999999999",
] as const;
const TYPES = ["text/plain", "application/xml", "multipart/form-data; boundary=x", "application/json; a=b"] as const;

/** Deadlines of requests that compute long, in milliseconds, by path: most end before much is computed. */
const DEADLINES: readonly (readonly [path: RegExp, most: number])[] = [
  [/images\/(?:generations|edits|upscale)|2img|speech/, 2],
  [/transcriptions|translations|ocr|embed|rerank/, 60],
];
/** The deadline of one in so many of them. */
const [LONG_MS, RARE] = [20_000, 100];

/** Valid bodies, by path, that are no examples in the description. */
const SEEDS = new Map<string, readonly Fields[]>([
  ...Object.keys(targets).map((name) => [targets[name as TargetName].path, seeds[name as TargetName]] as const),
  // Without the one for 64 answers.
  [targets.multiplex.path, seeds.multiplex.slice(0, 2)],
  ["/v1/audio/transcriptions", [{ data: SOUND_URL }]],
  ["/v1/audio/translations", [{ data: SOUND_URL }]],
  ["/v1/vision/ocr", [{ data: PIXEL }, { image_url: PICTURE_URL, mode: "saliency" }]],
  ["/v1/ocr", [{ document: { type: "image_url", image_url: PICTURE_URL } }]],
  ["/sdapi/v1/txt2img", [{ prompt: MARK, steps: 1, width: 64, height: 64 }]],
  ["/sdapi/v1/img2img", [{ prompt: MARK, init_images: [PIXEL], steps: 1 }]],
]);

/** Returns the next request that these dice give; only ids in it depend on earlier answers. */
export function requestOf(operation: Operation, roll: Dice, supply: Supply): Asked {
  const target = pathOf(operation, roll, supply) + queryOf(operation, roll, supply);
  const headers = headersOf(operation, roll, supply);
  const types = Object.keys(operation.bodies);
  const type = types[roll(Math.max(types.length, 1))];
  // Some bodies are optional.
  if (type === undefined || roll(50) === 0) return { operation, target, headers };
  if (type === "multipart/form-data") return { operation, target, headers, form: formOf(operation, roll, supply) };
  const typed = { ...headers, "content-type": roll(40) === 0 ? pick(roll, TYPES) : type };
  if (type !== "application/json") return { operation, target, headers: typed, bytes: fileOf(operation, roll, supply) };
  return { operation, target, headers: typed, value: jsonOf(operation, roll, supply) };
}

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function pathOf({ method, path }: Operation, roll: Dice, supply: Supply): string {
  const item = supply.for("conversations/items", roll);
  if (path.endsWith("/{item}") && roll(2) === 0) return `/v1/conversations/${String(item)}`;
  return path.replaceAll(/(images\/files|[^/]+)\/\{\w+\}/g, (_, before: string) => {
    // An empty one would be another path.
    const odd = pick(roll, ODD) || "x";
    const value = supply.for(before, roll);
    // Few are deleted, because other requests need them.
    const isOdd = method === "DELETE" ? roll(10) > 0 : roll(4) === 0;
    return `${before}/${encodeURIComponent(isOdd ? odd : String(value))}`;
  });
}

function queryOf({ parameters }: Operation, roll: Dice, supply: Supply): string {
  const query = new URLSearchParams();
  for (const { name, in: place, required, schema } of parameters) {
    if (place !== "query") continue;
    if (required ? roll(20) === 0 : roll(3) === 1) continue;
    query.append(name, roll(4) === 0 ? pick(roll, ODD) : String(valueOf(schema, roll, supply, name)));
  }
  if (roll(15) === 0) query.append(MARK, "1");
  return query.size > 0 ? `?${query.toString()}` : "";
}

function headersOf({ path, parameters }: Operation, roll: Dice, supply: Supply): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const { name, in: place, schema } of parameters) {
    if (place !== "header" || roll(6) > 0) continue;
    const value = roll(4) === 0 ? pick(roll, ODD) : String(valueOf(schema, roll, supply, name));
    headers[name] = value.replaceAll(/[^ -ÿ]/gu, "?");
  }
  const [, most] = DEADLINES.find(([pattern]) => pattern.test(path)) ?? [];
  if (most !== undefined) headers["X-Svc-Deadline-Ms"] = String(roll(RARE) > 0 ? 1 + roll(most) : LONG_MS);
  return headers;
}

function jsonOf({ path, bodies }: Operation, roll: Dice, supply: Supply): unknown {
  const { schema = {}, example } = bodies["application/json"] ?? {};
  // Its numbers of tokens and pixels are for users.
  const smaller = ([name, value]: readonly [string, unknown]) =>
    [name, (typeof value === "number" && supply.for(name, roll)) || value] as const;
  const examples = isFields(example) ? [Object.fromEntries(Object.entries(example).map(smaller))] : [];
  const known = [...(SEEDS.get(path) ?? []), ...examples];
  const made = valueOf(schema, roll, supply);
  const from = known[roll(known.length)];
  const both = isFields(made) && from ? pick(roll, [from, { ...made, ...from }, { ...from, ...made }]) : undefined;
  const value = roll(4) > 0 ? (both ?? made) : made;
  if (roll(40) === 0) return new Raw(write(value).slice(0, roll(200)));
  return roll(2) === 0 ? value : mutated(isFields(value) ? value : {}, known, roll);
}

function fileOf({ path }: Operation, roll: Dice, { media }: Supply): Uint8Array<ArrayBuffer> {
  const file = media.file(path, roll);
  return roll(3) === 0 ? damaged(file, roll) : file;
}

function formOf(operation: Operation, roll: Dice, supply: Supply): Part[] {
  const { schema = {} } = operation.bodies["multipart/form-data"] ?? {};
  const made = valueOf(schema, roll, supply) as Fields;
  const isFile = (name: string) => JSON.stringify(schema.properties?.[name] ?? {}).includes('"binary"');
  const texts = Object.fromEntries(Object.entries(made).filter(([name]) => !isFile(name)));
  const changed = roll(3) === 0 ? mutated(texts, [], roll) : texts;
  const parts = Object.entries(isFields(changed) ? changed : {}).flatMap(([name, value]) => asParts(name, value));
  const names = Object.keys(schema.properties ?? {}).filter(isFile);
  const files = names.filter((name, at) => name in made || (at === 0 && roll(10) > 0));
  if (roll(20) === 0) files.pop();
  if (roll(20) === 0) files.push(pick(roll, ["file", "mask", MARK]));
  return [...parts, ...files.map((name): Part => [name, roll(30) === 0 ? MARK : fileOf(operation, roll, supply)])];
}

/** Returns the parts of a form for a field: one for each item of a list. */
function asParts(name: string, value: unknown): Part[] {
  if (Array.isArray(value)) return value.flatMap((item) => asParts(`${name}[]`, item));
  return value === null ? [] : [[name, typeof value === "string" ? value : write(value)]];
}
