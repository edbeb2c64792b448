// The comparisons as a Markdown page: a table, then every difference.

import { paddedTable } from "../support/markdown.ts";
import type { Comparison } from "./compare.ts";
import type { Row } from "./matrix.ts";

export interface RowResult {
  readonly row: Row;
  readonly outcomes: readonly { readonly input: string; readonly comparison: Comparison }[];
}

export interface Report {
  readonly markdown: string;
  /** Answers that are equal or differ for a stated reason. */
  readonly passed: number;
  readonly failed: number;
}

const INTRODUCTION = `# Sampling, vectors, scores and examples: svc against llama-server

Written by \`bun test/parity/main.ts --write\`. Both servers run the same llama.cpp libraries on svc-mini with one thread,
one request at a time and equal flags; every row is asked with several prompts and seeds and 64 tokens at most. Before
that, both are seen to render and tokenize every conversation alike. Answers are the same when all their tokens, the text,
the finish reason and the counts are equal and log probabilities are at most 0.01 apart; a tie is a first difference at
a place where the two most probable tokens are within 0.02. Rows that say so compare answers only.
`;

export function report(results: readonly RowResult[]): Report {
  const count = (result: RowResult, verdict: Comparison["verdict"]) =>
    result.outcomes.filter(({ comparison }) => comparison.verdict === verdict).length;
  let failed = 0;
  let total = 0;
  const lines = results.map((result) => {
    const { row, outcomes } = result;
    const different = count(result, "different");
    total += outcomes.length;
    if (!row.onPurpose) failed += different;
    const gap = Math.max(...outcomes.map(({ comparison }) => comparison.logprobGap));
    const verdict = different === 0 ? "same" : row.onPurpose ? "on purpose" : "**different**";
    const counts = [outcomes.length, count(result, "same"), count(result, "tie"), different].map(String);
    return [row.name, ...counts, row.textOnly ? "–" : gap.toExponential(0), verdict];
  });
  const table = paddedTable(
    ["setting", "answers", "same", "ties", "different", "largest logprob gap", "verdict"],
    lines,
    { numbers: true },
  );
  const markdown = [INTRODUCTION, ...table, "", ...differences(results)].join("\n");
  return { markdown: `${markdown.trimEnd()}\n`, passed: total - failed, failed };
}

function differences(results: readonly RowResult[]): string[] {
  const lines = results.flatMap(({ row, outcomes }) => {
    const differing = outcomes.flatMap(({ input, comparison }) =>
      comparison.verdict === "same" ? [] : [`${input}: ${comparison.verdict}, ${comparison.where}`],
    );
    if (differing.length === 0 && !row.textOnly) return [];
    const reason =
      (row.textOnly ? ` Answers only: ${row.textOnly}.` : "") + (row.onPurpose ? ` On purpose: ${row.onPurpose}.` : "");
    return [`- **${row.name}**.${reason}`, ...differing.map((line) => `  - ${line}`)];
  });
  return lines.length === 0 ? [] : ["## Differences and reasons", "", ...lines];
}
