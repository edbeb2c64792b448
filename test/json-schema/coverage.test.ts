// The official JSON Schema test suite (draft 2020-12) against the rewritten schemas. What must always hold: a schema
// reported as fully enforced accepts no invalid instance. COVERAGE.md says how much is refused or not enforced;
// UPDATE_GOLDENS=1 rewrites it. No npm package contains this draft: suite-2020-12.jsonl is the suite from the source
// archive of jsonschema 4.26.0 on PyPI, one file per line.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import type { NativeLlama } from "../../ffi/llama/binding.ts";
import { SvcError } from "../../src/domain/errors.ts";
import { prepareSchema } from "../../src/json-schema/prepare.ts";
import { library, load } from "../native/harness.ts";

interface Group {
  readonly description: string;
  readonly schema: unknown;
  readonly tests: readonly { readonly description: string; readonly data: unknown; readonly valid: boolean }[];
}

interface Row {
  enforced: number;
  approximated: number;
  refused: number;
  /** Valid instances that the grammar cannot produce. */
  narrowed: number;
  instances: number;
}

let llama: NativeLlama;
beforeAll(async () => {
  llama = library();
  await load(llama, { warmup: false });
});
afterAll(() => llama.unload());

const table = `${import.meta.dir}/COVERAGE.md`;

function measure(groups: readonly Group[], unsound: string[]): Row {
  const row: Row = { enforced: 0, approximated: 0, refused: 0, narrowed: 0, instances: 0 };
  for (const { description, schema, tests } of groups) {
    let prepared;
    try {
      prepared = prepareSchema(schema, "schema");
    } catch (error) {
      expect(error).toBeInstanceOf(SvcError);
      row.refused++;
      continue;
    }
    const whole = prepared.inexpressible.length === 0;
    if (whole) row.enforced++;
    else row.approximated++;
    const grammar = llama.schemaGrammar(prepared.schema);
    for (const { description: what, data, valid } of tests) {
      const accepted = llama.grammarAccepts(grammar, JSON.stringify(data));
      if (whole && accepted && !valid) unsound.push(`${description}: ${what}`);
      if (!valid) continue;
      row.instances++;
      if (!accepted) row.narrowed++;
    }
  }
  return row;
}

function markdown(rows: readonly (readonly [file: string, row: Row])[]): string {
  const line = (cells: readonly unknown[]) => `| ${cells.join(" | ")} |`;
  const total = { enforced: 0, approximated: 0, refused: 0, narrowed: 0, instances: 0 };
  for (const [, row] of rows) for (const key of Object.keys(total) as (keyof Row)[]) total[key] += row[key];
  const cells = (name: string, row: Row) =>
    line([name, row.enforced, row.approximated, row.refused, `${row.narrowed} of ${row.instances}`]);
  return [
    "# What of JSON Schema is enforced",
    "",
    "Written by `coverage.test.ts` from the official test suite, draft 2020-12; `UPDATE_GOLDENS=1` writes it anew.",
    "Of each file of the suite, the number of its schemas that are",
    "",
    "- **enforced**: everything that is written under them is valid, without exception,",
    "- **approximated**: enforced but for the keywords that are reported; with `strict` the header",
    "  `X-Grammar-Constraints: downgraded` tells of it,",
    "- **refused**: 400, because they refer to other documents, or no value satisfies them, or are no schemas.",
    "",
    "The last column: valid instances of the suite that a model cannot write under these schemas. Most have properties that",
    "the schema does not name, or strings and numbers written in an unusual way.",
    "",
    line(["keyword", "enforced", "approximated", "refused", "not written"]),
    line(["---", "---", "---", "---", "---"]),
    ...rows.map(([file, row]) => cells(file, row)),
    cells("**all**", total),
    "",
  ].join("\n");
}

const unpadded = (text: string) => text.replaceAll(/ +/g, " ").replaceAll(/-+/g, "-");

test("schemas reported as enforced are enforced, and the table has the current counts", async () => {
  const lines = (await Bun.file(join(import.meta.dir, "suite-2020-12.jsonl")).text()).trim().split("\n");
  const unsound: string[] = [];
  const rows = lines.map((line) => {
    const { file, groups } = JSON.parse(line) as { file: string; groups: Group[] };
    return [file, measure(groups, unsound)] as const;
  });
  expect(unsound).toEqual([]);
  const text = markdown(rows);
  if (process.env["UPDATE_GOLDENS"] === "1") await Bun.write(table, text);
  expect(unpadded(await Bun.file(table).text())).toBe(unpadded(text));
}, 60_000);
