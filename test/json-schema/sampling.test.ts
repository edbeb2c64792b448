import { afterAll, beforeAll, expect, test } from "bun:test";
import type { NativeLlama } from "../../ffi/llama/binding.ts";
import { prepareSchema } from "../../src/json-schema/prepare.ts";
import { chat, library, load, prompt } from "../native/harness.ts";
import { randomNumbers } from "../support/dice.ts";
import { sampleSchemas } from "./sampling.ts";

let llama: NativeLlama;

beforeAll(async () => {
  llama = library();
  await load(llama, { warmup: false });
});
afterAll(() => llama.unload());

/** `npm run test:fuzz` tries more. */
const SCHEMAS = Number(process.env["FUZZ_CASES"] ?? 12);

test(`whatever is written under ${SCHEMAS} random schemas validates`, () => {
  const { failures, written, enforced } = sampleSchemas(llama, SCHEMAS, 20);
  expect(failures).toEqual([]);
  expect(enforced).toBe(SCHEMAS);
  expect(written).toBeGreaterThan(SCHEMAS / 2);
}, 600_000);

test("whole numbers are let through within their bounds, digit by digit", () => {
  const random = randomNumbers(3);
  const edge = () => Math.round((random() - 0.5) * 10 ** (1 + Math.floor(random() * 15)));
  for (let round = 0; round < 60; round++) {
    const [minimum, maximum] = [edge(), edge()].sort((a, b) => a - b) as [number, number];
    const shown = [{ minimum, maximum }, { minimum }, { maximum }][round % 3] ?? {};
    const grammar = llama.schemaGrammar(prepareSchema({ type: "integer", ...shown }, "schema").schema);
    const near = [minimum, maximum, 0].flatMap((value) => [
      value - 1,
      value,
      value + 1,
      Math.trunc(value / 10),
      value * 10,
    ]);
    for (const value of near.filter(Number.isSafeInteger)) {
      const fits = value >= (shown.minimum ?? value) && value <= (shown.maximum ?? value);
      expect([shown, value, llama.grammarAccepts(grammar, String(value))]).toEqual([shown, value, fits]);
    }
    for (const text of ["01", "-01", "1.5", "", "-", "1e2", "+1"])
      expect(llama.grammarAccepts(grammar, text)).toBe(false);
  }
});

test("definitions of two tools do not get in each other's way", () => {
  const parameters = (leaf: string) => ({
    type: "object",
    properties: { tree: { $ref: "#/$defs/t" } },
    required: ["tree"],
    $defs: { t: { anyOf: [{ const: leaf }, { type: "array", items: { $ref: "#/$defs/t" }, minItems: 1 }] } },
  });
  const tools = ["oak", "fir"].map((name) => ({
    type: "function",
    function: { name, description: "", parameters: prepareSchema(parameters(name), "tools").schema },
  }));
  const names = tools.map((tool) => Object.keys(tool.function.parameters["$defs"] as object));
  expect(new Set(names.flat()).size).toBe(2);
  const { sampler, format } = prompt(
    llama,
    chat([{ role: "user", content: "Plant." }], { tools, toolChoice: "required" }),
  );
  if (sampler !== undefined) llama.freeSampler(sampler);
  expect(format.constrained).toBe(true);
});

test("large schemas become grammars", () => {
  const record = (count: number, value: (index: number) => object) => ({
    type: "object",
    properties: Object.fromEntries(Array.from({ length: count }, (_, index) => [`property-${index}`, value(index)])),
  });
  const schemas = [
    record(200, () => ({ type: "string", format: "date-time" })),
    record(150, (index) => ({ type: "string", maxLength: 500 + index })),
    record(20, () => record(10, () => ({ type: "array", items: { type: "integer", minimum: 1 }, maxItems: 20 }))),
    record(100, (index) => ({ type: "array", items: {}, minItems: index, maxItems: 600 })),
    { enum: Array.from({ length: 3000 }, (_, index) => `value ${index}`) },
  ];
  for (const schema of schemas) {
    const grammar = llama.schemaGrammar(prepareSchema(schema, "schema").schema);
    expect(llama.grammarAccepts(grammar, "x")).toBe(false);
  }
});
