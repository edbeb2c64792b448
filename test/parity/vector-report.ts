// The comparison of vectors and scores as a part of the Markdown page: a table, then every difference.

import { paddedTable } from "../support/markdown.ts";
import type { Report } from "./report.ts";
import { SCORE_TOLERANCE, TOLERANCE, type VectorResult } from "./vectors.ts";

const INTRODUCTION = `## Vectors and scores

Small random models of every pooling, and rerankers with and without a prompt, one thread on both sides. Flash attention is
off: on a CPU it sums in half precision, and what else is in the same computation then moves numbers by up to 0.001. Answers
are the same when their numbers are at most ${TOLERANCE.toFixed(5)} apart (scores ${SCORE_TOLERANCE.toFixed(4)}: svc computes documents together), documents
come in the same order, the answer has all fields of llama-server's but a vector's encoding_format, and as many tokens are counted.
`;

/** `passed` counts rows that are equal or differ for a stated reason. */
export function vectorReport(results: readonly VectorResult[]): Report {
  if (results.length === 0) return { markdown: "", passed: 0, failed: 0 };
  const failed = results.filter(({ row, difference }) => difference !== undefined && !row.onPurpose).length;
  const lines = results.map(({ row, count, gap, difference }) => [
    row.name,
    String(count),
    gap === undefined ? "–" : gap.toExponential(0),
    difference === undefined ? "same" : row.onPurpose ? "on purpose" : "**different**",
  ]);
  const table = paddedTable(["request", "numbers or vectors", "largest gap", "verdict"], lines, { numbers: true });
  const differing = results.flatMap(({ row, difference }) => {
    if (difference === undefined) return [];
    const reason = row.onPurpose ? ` On purpose: ${row.onPurpose}.` : "";
    return [`- **${row.name}**.${reason}`, `  - ${difference}`];
  });
  const markdown = [INTRODUCTION, ...table, "", ...differing].join("\n");
  return { markdown: `\n${markdown.trimEnd()}\n`, passed: results.length - failed, failed };
}
