// The examples of llama-server's README as a part of the Markdown page: a table, then the differences with reasons.

import { paddedTable } from "../support/markdown.ts";
import type { ExampleResult } from "./examples.ts";
import type { Report } from "./report.ts";

const INTRODUCTION = `## Examples

Requests of llama-server's README and one for each of its routes that svc has. Answers are alike when every field of
llama-server's is in svc's, of the same type; svc's may have more.
`;

/** `passed` counts examples that are equal or differ for a stated reason. */
export function exampleReport(results: readonly ExampleResult[]): Report {
  if (results.length === 0) return { markdown: "", passed: 0, failed: 0 };
  const isOdd = ({ differences }: ExampleResult) => differences.some(({ reason }) => reason === undefined);
  const verdict = (result: ExampleResult) =>
    result.differences.length === 0 ? "alike" : isOdd(result) ? "**different**" : "on purpose";
  const lines = results.map((result) => [`\`${result.name}\``, String(result.fields), verdict(result)]);
  const reasons = new Map<string, Set<string>>();
  for (const { text, reason } of results.flatMap(({ differences }) => differences)) {
    const why = reason === undefined ? "**Different.**" : `On purpose: ${reason}.`;
    reasons.set(why, (reasons.get(why) ?? new Set()).add(text));
  }
  const differing = [...reasons].map(([why, texts]) => `- ${why}\n  - ${[...texts].join(", ")}`);
  const table = paddedTable(["example", "fields", "verdict"], lines, { numbers: true });
  const failed = results.filter(isOdd).length;
  const markdown = [INTRODUCTION, ...table, "", ...differing].join("\n");
  return { markdown: `\n${markdown.trimEnd()}\n`, passed: results.length - failed, failed };
}
