// Plans the strings of a case for the converter.

import type { JsonObject } from "../domain/json.ts";
import { once } from "../domain/once.ts";
import type { Spend } from "./budget.ts";
import { formatPattern, isKnownFormat } from "./formats.ts";
import { MAX_NAME_LENGTH, MAX_REPETITION } from "./limits.ts";
import { lengthRange } from "./merge.ts";
import { lengthPattern, patternTranslator, type Lengths, type Translated } from "./pattern.ts";
import { under, type SchemaNode } from "./schema-node.ts";

export interface StringPlan {
  readonly schema: JsonObject;
  readonly lost: readonly string[];
  /** Most alternatives of the pattern that are open at once. */
  readonly open: number;
  /** Counted repetitions that the grammar will contain. */
  readonly repetitions: number;
}

const ANY_STRING: StringPlan = { schema: { type: "string" }, lost: [], open: 1, repetitions: 0 };

type Translate = (source: string, lengths: Lengths) => Translated;

/** Plans strings; translates each pattern once. */
export class StringPlanner {
  private readonly translator = once((source: string) => patternTranslator(source, this.spend));

  constructor(readonly spend: Spend) {}

  plan(nodes: readonly SchemaNode[]): StringPlan {
    if (nodes.every(({ string }) => string === undefined)) return ANY_STRING;
    this.spend(nodes.length / 8);
    return stringPlan(nodes, (source, lengths) => this.translator(source)(lengths));
  }
}

/** Plans strings of the right lengths that match one pattern or format; further ones are reported as lost. */
function stringPlan(nodes: readonly SchemaNode[], translate: Translate): StringPlan {
  const [min, max] = lengthRange(nodes);
  const formats = firstOfEach(nodes, "format").filter(([format]) => isKnownFormat(format));
  const constraints = [
    ...firstOfEach(nodes, "pattern"),
    ...formats.map(([format, at]) => [formatPattern(format), at] as const),
  ];
  const lost: string[] = [];
  const format = nodes.map(({ string }) => string?.format).find((name) => name !== undefined);
  const notes = format === undefined || format.length > MAX_NAME_LENGTH ? {} : { format };
  for (const [index, [source, at]] of constraints.entries()) {
    const translated = source === undefined ? undefined : translate(source, { min, max });
    if (!translated) {
      lost.push(at);
      continue;
    }
    if (translated === "anything") continue;
    const { pattern, open, repetitions } = translated;
    lost.push(...constraints.slice(index + 1).map(([, other]) => other));
    if (!translated.lengths) lost.push(...lengthPaths(nodes, true, true));
    return { schema: { type: "string", ...notes, pattern }, lost, open, repetitions };
  }
  const plain = plainString(nodes, min, max);
  return { ...plain, schema: { ...plain.schema, ...notes }, lost: [...lost, ...plain.lost] };
}

function plainString(nodes: readonly SchemaNode[], min: number, max: number): StringPlan {
  const isLong = max !== Infinity && max > MAX_REPETITION;
  const lost = lengthPaths(nodes, min > MAX_REPETITION, isLong);
  const least = Math.min(min, MAX_REPETITION);
  const most = isLong ? Infinity : max;
  const repetitions = most === Infinity ? least : most;
  if (least >= 2) {
    const { pattern, open } = lengthPattern({ min: least, max: most });
    return { schema: { type: "string", pattern }, lost, open, repetitions };
  }
  const schema = {
    type: "string",
    ...(least > 0 && { minLength: least }),
    ...(most !== Infinity && { maxLength: most }),
  };
  return { schema, lost, open: 1, repetitions };
}

/** Returns the different values of a keyword with their paths. */
function firstOfEach(nodes: readonly SchemaNode[], keyword: "pattern" | "format"): [value: string, at: string][] {
  const found = new Map<string, string>();
  for (const { string, at } of nodes) {
    const value = string?.[keyword];
    if (value !== undefined && !found.has(value)) found.set(value, under(at, keyword));
  }
  return [...found];
}

const lengthPaths = (nodes: readonly SchemaNode[], min: boolean, max: boolean): string[] =>
  nodes.flatMap(({ string, at }) => [
    ...(min && string?.minLength ? [under(at, "minLength")] : []),
    ...(max && string?.maxLength !== undefined ? [under(at, "maxLength")] : []),
  ]);
