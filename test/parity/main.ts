// svc compared with llama-server of the same llama.cpp, on one thread: do equal sampling settings give equal answers of
// svc-mini, equal inputs equal vectors and scores of small random models, and the README's examples answers of the same
// form? `bun test/parity/main.ts [--rows TEXT] [--write]` prints a table of the rows whose name contains TEXT; --write
// puts it into PARITY.md, which must say the same where --rows is not given. Needs `bun build.ts bench` once; takes a
// minute. The last line is `N passed, N failed`: answers pass when they are the same or differ for a stated reason, and
// each line of PARITY.md that is stale fails.

import { join } from "node:path";
import { parseArgs } from "node:util";
import { compare, type Comparison } from "./compare.ts";
import { MATRIX, PROMPTS, promptsOf, seedsOf, type Row } from "./matrix.ts";
import { checkPrompts } from "./prompts.ts";
import { exampleReport } from "./example-report.ts";
import { compareExamples } from "./examples.ts";
import { report, type RowResult } from "./report.ts";
import { ComparedServer, CHAT_PLANS } from "./servers.ts";
import { staleLines } from "./staleness.ts";
import { vectorReport } from "./vector-report.ts";
import { compareVectors } from "./vectors.ts";

const MAX_TOKENS = 64;

async function compareRow(row: Row, svc: ComparedServer, other: ComparedServer): Promise<RowResult> {
  const outcomes: { readonly input: string; readonly comparison: Comparison }[] = [];
  for (const prompt of promptsOf(row)) {
    for (const seed of seedsOf(row)) {
      const common = { messages: PROMPTS[prompt], max_tokens: MAX_TOKENS, seed };
      const logprobs = row.textOnly ? {} : { logprobs: true, top_logprobs: 5 };
      const ours = await svc.ask({ ...common, ...row.fields, ...logprobs });
      const theirs = await other.ask({ ...common, ...(row.theirs ?? row.fields), ...logprobs });
      const plain = await svc.ask({ ...common, ...row.fields });
      outcomes.push({ input: `${prompt}, seed ${seed}`, comparison: judge(ours, theirs, plain) });
    }
  }
  return { row, outcomes };
}

type Asked = Awaited<ReturnType<ComparedServer["ask"]>>;

function judge(ours: Asked, theirs: Asked, plain: Asked): Comparison {
  const different = (where: string): Comparison => ({ verdict: "different", logprobGap: 0, where });
  if (!ours.answer || !plain.answer) return different(`svc refuses: ${ours.refused ?? plain.refused}`);
  if (!theirs.answer) return different(`llama-server refuses: ${theirs.refused}`);
  if (plain.answer.said !== ours.answer.said)
    return different("svc answers otherwise when asked for log probabilities");
  return compare(ours.answer, theirs.answer);
}

async function compareAnswers(rows: readonly Row[]): Promise<RowResult[]> {
  if (rows.length === 0) return [];
  const svc = await ComparedServer.start(CHAT_PLANS.svc);
  const other = await ComparedServer.start(CHAT_PLANS["llama-server"]);
  const results: RowResult[] = [];
  try {
    await checkPrompts(svc, other);
    for (const row of rows) results.push(await compareRow(row, svc, other));
  } finally {
    await Promise.all([svc.stop(), other.stop()]);
  }
  return results;
}

const { values } = parseArgs({ options: { rows: { type: "string" }, write: { type: "boolean" } } });
const wanted = values.rows ?? "";
const answers = report(await compareAnswers(MATRIX.filter(({ name }) => name.includes(wanted))));
const vectors = vectorReport(await compareVectors(wanted));
const examples = exampleReport(await compareExamples(wanted));
const reports = [answers, vectors, examples];
const markdown = reports.map((part) => part.markdown).join("");
const [passed = 0, different = 0] = (["passed", "failed"] as const).map((count) =>
  reports.reduce((sum, part) => sum + part[count], 0),
);
console.log(markdown);
const record = Bun.file(join(import.meta.dir, "PARITY.md"));
if (values.write) await record.write(markdown);
const stale = values.rows === undefined ? staleLines(await record.text(), markdown) : [];
for (const line of stale) console.log(`PARITY.md is stale, --write updates it: ${line}`);
const failed = different + stale.length;
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
