// Tests a thousand random texts of every family and prints the results: `bun test/native/templates/thousand.ts
// [texts] [seed]`. Takes ten minutes.

import { library } from "../harness.ts";
import { readRandomTexts, unknownViolations, VIOLATIONS } from "./robustness.ts";
import { families, loadTemplate, missing } from "./sources.ts";

const [count = "1000", seed = "1"] = process.argv.slice(2);
if (missing !== undefined) throw new Error(missing);

const llama = library();
const header = ["Family", "texts", "called", "well-formed", ...VIOLATIONS, "ms/text"];
console.log(`| ${header.join(" | ")} |\n|${" --- |".repeat(header.length)}`);
const totals = VIOLATIONS.map(() => 0);
for (const family of families) {
  const [template] = family.templates;
  if (!family.calls || template === undefined) continue;
  await loadTemplate(llama, template);
  const started = performance.now();
  const tally = readRandomTexts(llama, family, Number(seed), Number(count));
  const each = (performance.now() - started) / tally.texts;
  llama.unload();
  const found = VIOLATIONS.map((what) => tally.violations.filter((violation) => violation.what === what));
  found.forEach(({ length }, index) => (totals[index] = (totals[index] ?? 0) + length));
  const counts = found.map((list) => list.length || "");
  console.log(
    `| ${[family.name, tally.texts, tally.called, tally.wellFormed, ...counts, each.toFixed(1)].join(" | ")} |`,
  );
  const examples = new Map(unknownViolations(family, tally).map((one) => [`${one.what}, ${one.kind}`, one.text]));
  for (const [label, text] of examples) console.error(`${family.name}: ${label}: ${JSON.stringify(text)}`);
}
console.log(`| all | | | | ${totals.join(" | ")} | |`);
