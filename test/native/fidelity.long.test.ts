// How the chat templates of other models are rendered, and how their answers are parsed; templates/FIDELITY.md has
// the results.

import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { library } from "./harness.ts";
import { checkTemplate } from "./templates/fidelity.ts";
import { fidelityTable, unexplained, type Row } from "./templates/fidelity-table.ts";
import { families, loadTemplate, missing } from "./templates/sources.ts";

setDefaultTimeout(300_000);

const FIDELITY = join(import.meta.dir, "templates/FIDELITY.md");
const llama = library();

if (missing !== undefined) console.log(`skipped: ${missing}`);

// The nightly run has the sources: without them, a stale table would go unnoticed.
test.skipIf(missing !== undefined && !process.env["CI"])("rendering and parsing match FIDELITY.md", async () => {
  expect(missing).toBeUndefined();
  const rows: Row[] = [];
  for (const family of families) {
    for (const template of family.templates) {
      await loadTemplate(llama, template);
      rows.push({
        template,
        family: family.name,
        results: checkTemplate(llama, family, family.templates[0] === template),
      });
      llama.unload();
    }
  }
  rows.sort((a, b) => (a.template < b.template ? -1 : 1));
  expect(unexplained(rows)).toEqual([]);
  const table = fidelityTable(rows);
  if (process.env["UPDATE_GOLDENS"] === "1") await Bun.write(FIDELITY, table);
  expect(table).toBe(await Bun.file(FIDELITY).text());
});
