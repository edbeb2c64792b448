// FIDELITY.md: the results of all templates, with the reason for each result that is not a pass.

import { paddedTable } from "../../support/markdown.ts";
import { COLUMNS, type Column, type Result } from "./fidelity.ts";
import { NOTES } from "./notes.ts";

export interface Row {
  readonly template: string;
  readonly family: string;
  readonly results: Readonly<Record<Column, Result>>;
}

const HEAD = `# What chat templates and answer parsers do

Compared by \`fidelity.long.test.ts\`; \`UPDATE_GOLDENS=1\` writes it anew. Each template of llama.cpp's \`models/templates\`
is loaded in place of svc-mini's own. The columns without arrow are rendered: text of the conversation that must be in
the prompt. Those with an arrow are read: what models of the family write, and whether it becomes text, calls and
reasoning again.

- **user**, **system**, **history**: a question, instructions, an earlier answer (given with its reasoning)
- **tools**, **schemas**: two simple tools; lists, objects in objects, choices, \`null\`, no parameters
- **call**, **2 calls**, **thought**: an earlier call with its result, two at once, the reasoning before a call
- **→ text**, **→ call**, **→ 2 calls**, **→ thought**, **→ thought, call**: answers
- **→ types**: arguments of every type, among them texts that look like numbers, are what the schema says
- **split**: each answer again, byte by byte (the first template of a family) or in random pieces, read after every
  piece: the same, nothing taken back

✓ pass · ✓ₛ pass, with white space at an edge of text or reasoning · – the template or model has no such thing ·
✗ llama.cpp fails · numbers: see below
`;

/** Returns the text of the file. */
export function fidelityTable(rows: readonly Row[]): string {
  const table = paddedTable(["Template", "Family", ...COLUMNS], rows.map(cells));
  const notes = NOTES.map((note, index) => `${index + 1}. ${note.reason}`);
  return [HEAD, ...table, "", "## Notes", "", ...notes, "", "## In numbers", "", ...counts(rows), ""].join("\n");
}

/** Returns failures without a note, and notes without a failure. */
export function unexplained(rows: readonly Row[]): string[] {
  const failures = rows.flatMap(({ template, results }) =>
    COLUMNS.flatMap((column) => (results[column] === "fail" ? [`${template}: ${column}`] : [])),
  );
  const explained = NOTES.flatMap(({ templates, columns }) =>
    templates.flatMap((template) => columns.map((column) => `${template}: ${column}`)),
  );
  return [
    ...failures.filter((one) => !explained.includes(one)).map((one) => `${one} fails without a note`),
    ...explained.filter((one) => !failures.includes(one)).map((one) => `${one} passes and has a note`),
  ];
}

function cells({ template, family, results }: Row): string[] {
  return [template, family, ...COLUMNS.map((column) => cell(template, column, results[column]))];
}

function cell(template: string, column: Column, result: Result): string {
  if (result !== "fail") return { pass: "✓", trimmed: "✓ₛ", none: "–" }[result];
  const index = NOTES.findIndex((note) => note.templates.includes(template) && note.columns.includes(column));
  return `${NOTES[index]?.cause === "template" ? "–" : "✗"} ${index + 1}`;
}

function counts(rows: readonly Row[]): string[] {
  const all = rows.flatMap(({ template, results }) => COLUMNS.map((column) => cell(template, column, results[column])));
  const starting = (mark: string) => all.filter((one) => one.startsWith(mark)).length;
  return [
    `- ${rows.length} templates, ${all.length} cells`,
    `- ${starting("✓")} pass, ${all.filter((one) => one === "✓ₛ").length} of them with white space at an edge`,
    `- ${starting("–")} have no such thing`,
    `- ${starting("✗")} fail in llama.cpp`,
  ];
}
