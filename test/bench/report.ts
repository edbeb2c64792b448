// The table of a scenario: medians of the runs, their spread, the ratio in svc's favour, and the target.

import type { Figure, Yardstick } from "./measurement.ts";
import { median, range, spread } from "./stats.ts";

/** For each program the figures of each run, in order. */
export type Samples = ReadonlyMap<"svc" | Yardstick, (readonly Figure[])[]>;

/** Prints a line for each figure and each other program that has it. */
export function printTable(samples: Samples): void {
  console.log("| | svc | beside it | ratio (over 1: svc better) | wanted | spread svc / beside it |");
  console.log("|---|---|---|---|---|---|");
  const of = (side: "svc" | Yardstick) => (samples.get(side) ?? []).flat();
  const yardsticks = [...samples.keys()].filter((side) => side !== "svc");
  for (const figure of new Map(of("svc").map((one) => [one.label, one])).values()) {
    const values = (side: "svc" | Yardstick) =>
      of(side).flatMap(({ label, value }) => (label === figure.label ? [value] : []));
    const ours = values("svc");
    const beside = yardsticks.filter((side) => values(side).length > 0);
    if (beside.length === 0)
      printRow([figure.label, show(ours, figure), "–", "–", ownVerdict(figure, ours), share(ours)]);
    for (const [index, side] of beside.entries()) {
      const theirs = values(side);
      const ratio = ratioOf(figure, median(ours), median(theirs));
      const wanted = [...(index === 0 ? [ownVerdict(figure, ours)] : []), ratioVerdict(figure, side, ours, theirs)];
      const verdicts = wanted.filter((verdict) => verdict !== "–").join(", ") || "–";
      const other = `${show(theirs, figure)}, ${side}`;
      printRow([
        figure.label,
        show(ours, figure),
        other,
        ratio.toFixed(2),
        verdicts,
        `${share(ours)} / ${share(theirs)}`,
      ]);
    }
  }
}

const printRow = (cells: readonly string[]): void => console.log(`| ${cells.join(" | ")} |`);

const ratioOf = ({ better }: Figure, ours: number, theirs: number): number =>
  better === "higher" ? ours / theirs : theirs / ours;

function ownVerdict({ wanted, better, unit }: Figure, ours: readonly number[]): string {
  if (wanted?.value === undefined) return "–";
  const excess = (better === "higher" ? 1 : -1) * (median(ours) - wanted.value);
  return `${better === "higher" ? "≥" : "≤"} ${wanted.value} ${unit}: ${verdict(excess, range(ours))}`;
}

function ratioVerdict(figure: Figure, side: Yardstick, ours: readonly number[], theirs: readonly number[]): string {
  const wanted = figure.wanted?.ratio?.[side];
  if (wanted === undefined) return "–";
  const swing = range(ours.map((value, run) => ratioOf(figure, value, theirs[run] ?? NaN)));
  return `ratio ≥ ${wanted.toFixed(2)}: ${verdict(ratioOf(figure, median(ours), median(theirs)) - wanted, swing)}`;
}

/** A target missed by no more than half of the variation between runs counts as reached. */
function verdict(excess: number, swing: number): string {
  if (excess >= 0) return "yes";
  return excess >= -swing / 2 ? "yes, within half the spread" : "no";
}

function show(values: readonly number[], { unit }: Figure): string {
  const value = median(values);
  const digits = unit === "requests" ? 0 : value < 10 ? 2 : value < 1000 ? 1 : 0;
  return `${value.toFixed(digits)} ${unit}`;
}

const share = (values: readonly number[]): string =>
  values.length > 1 ? `${Math.round(spread(values) * 100)} %` : "–";
