// Schemas that earlier requests sent are not examined again.

import { describe, expect, test } from "bun:test";
import { SchemaBudget } from "../../src/json-schema/budget.ts";
import { prepareSchema } from "../../src/json-schema/prepare.ts";
import { PreparedSchemas } from "../../src/json-schema/prepared-schemas.ts";

const wide = (description: string) => ({
  type: "object",
  description,
  properties: Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`p${at}`, { type: "string", maxLength: at }])),
  additionalProperties: false,
});

/** A budget in which few steps are left. */
const littleLeft = () => {
  const budget = new SchemaBudget();
  budget.spending(() => expect.unreachable())(99_980);
  return budget;
};

describe("the schema of an earlier request", () => {
  test("is prepared without further work, with the same result", () => {
    const earlier = new PreparedSchemas();
    const first = prepareSchema(wide("a"), "tools.0", new SchemaBudget(), earlier);
    expect(prepareSchema(wide("a"), "tools.7", littleLeft(), earlier)).toEqual(first);
    expect(first).toEqual(prepareSchema(wide("a"), "tools.0"));
    expect(() => prepareSchema(wide("b"), "tools.0", littleLeft(), earlier)).toThrow("too much work");
  });

  test("is refused although a tool without strict had it", () => {
    const earlier = new PreparedSchemas();
    const foreign = { type: "string", pattern: "(?i)a" };
    const prepare = (isLenient: boolean) => prepareSchema(foreign, "tools.0", new SchemaBudget(), earlier, isLenient);
    expect(prepare(true)).toEqual({ schema: { type: "string" }, inexpressible: ["/pattern"] });
    expect(() => prepare(false)).toThrow("ECMA-262");
  });

  test("is not taken for one with other values", () => {
    const earlier = new PreparedSchemas();
    const prepared = (maxLength: number) =>
      prepareSchema({ type: "string", maxLength }, "s", new SchemaBudget(), earlier);
    expect(prepared(5)).not.toEqual(prepared(6));
  });

  test("is kept while it is used, and gives way to later ones otherwise", () => {
    const length = JSON.stringify(wide("0")).length + JSON.stringify(prepareSchema(wide("0"), "s")).length;
    const earlier = new PreparedSchemas(20 * length);
    for (let at = 0; at < 100; at++) {
      prepareSchema(wide(`${at}`), "s", new SchemaBudget(), earlier);
      prepareSchema(wide("0"), "s", littleLeft(), earlier);
    }
    expect(() => prepareSchema(wide("1"), "s", littleLeft(), earlier)).toThrow("too much work");
  });

  test("is not kept when it is so large that it would drive out many others", () => {
    const earlier = new PreparedSchemas(100_000);
    prepareSchema(wide("x".repeat(10_000)), "s", new SchemaBudget(), earlier);
    expect(() => prepareSchema(wide("x".repeat(10_000)), "s", littleLeft(), earlier)).toThrow("too much work");
  });
});
