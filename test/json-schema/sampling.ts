// Texts that follow a schema because nothing else can be written: by the model, and by chance alone.

import { Ajv2020 } from "ajv/dist/2020.js";
import { SAMPLER_DEFAULTS } from "../../ffi/llama/api.ts";
import type { NativeLlama } from "../../ffi/llama/binding.ts";
import { SvcError } from "../../src/domain/errors.ts";
import { prepareSchema } from "../../src/json-schema/prepare.ts";
import { chat, decode, prefill, prompt, textOf } from "../native/harness.ts";
import { randomNumbers } from "../support/dice.ts";
import { GrammarWalk } from "./grammar-walk.ts";
import { SchemaMaker } from "./random-schema.ts";

const MAX_TOKENS = 200;

export interface Counts {
  /** Schemas that are enforced whole. */
  enforced: number;
  approximated: number;
  refused: number;
  /** Texts of the model that came to an end. */
  written: number;
  /** Texts of the model that were too long. */
  cut: number;
  /** Texts found by walking through the grammar. */
  walked: number;
  /** What went wrong, with the seed of the schema. */
  readonly failures: string[];
}

/** Goes on from schema to schema until `wanted` were enforced whole, with `walks` random texts for each. */
export function sampleSchemas(llama: NativeLlama, wanted: number, walks: number, firstSeed = 0): Counts {
  const counts: Counts = { enforced: 0, approximated: 0, refused: 0, written: 0, cut: 0, walked: 0, failures: [] };
  for (let seed = firstSeed; counts.enforced < wanted; seed++) {
    const schema = new SchemaMaker(randomNumbers(seed)).schema();
    const prepared = attempt(schema);
    if (!prepared) counts.refused++;
    else if (prepared.inexpressible.length > 0) counts.approximated++;
    if (!prepared || prepared.inexpressible.length > 0) continue;
    counts.enforced++;
    // Numbers without end and what a format means are other matters.
    const isValid = new Ajv2020({ strict: false, strictNumbers: false, validateFormats: false }).compile(schema);
    const fail = (text: string) => counts.failures.push(`schema ${seed}: ${JSON.stringify(text)}`);
    const walk = new GrammarWalk(llama.schemaGrammar(prepared.schema));
    const random = randomNumbers(seed);
    for (let index = 0; index < walks; index++, counts.walked++) {
      const text = walk.text(random);
      if (!holds(text, isValid)) fail(text);
    }
    const text = write(llama, prepared.schema, seed);
    if (text === undefined) counts.cut++;
    else if (holds(text, isValid)) counts.written++;
    else fail(text);
  }
  return counts;
}

function attempt(schema: unknown): ReturnType<typeof prepareSchema> | undefined {
  try {
    return prepareSchema(schema, "schema");
  } catch (error) {
    if (error instanceof SvcError) return undefined;
    throw error;
  }
}

function holds(text: string, isValid: (value: unknown) => unknown): boolean {
  try {
    return Boolean(isValid(JSON.parse(text)));
  } catch {
    return false;
  }
}

/** What the model writes under a schema, hot enough to try odd ways; undefined when it does not come to an end. */
function write(llama: NativeLlama, schema: unknown, seed: number): string | undefined {
  const sampler = { ...SAMPLER_DEFAULTS, temperature: 1.2, topK: 0, topP: 1, minP: 0, seed };
  const messages = [{ role: "user", content: "Fill in the form." }];
  const { tokens, sampler: slot } = prompt(llama, chat(messages, { schema, sampler }));
  if (slot === undefined) throw new Error("no sampler was made");
  llama.kvClear();
  const out: number[] = [];
  let rows = prefill(tokens, 0, slot);
  for (let end = false; !end && out.length <= MAX_TOKENS;) {
    const [token] = decode(llama, rows) as number[];
    if (token === undefined) throw new Error("nothing was sampled");
    end = llama.isEnd(token);
    if (!end) out.push(token);
    rows = [{ token, position: tokens.length + out.length - 1, sequence: 0, sampler: slot }];
  }
  llama.freeSampler(slot);
  // A fence around JSON is part of the answer's format, not of the answer.
  return out.length > MAX_TOKENS ? undefined : textOf(llama, out).replaceAll(/^\s*```json|```\s*$/g, "");
}
