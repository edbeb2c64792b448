// The table of a scenario: medians over the runs, their spread, and the ratio in svc's favour.

import type { Figure } from "./scenarios.ts";
import type { Side } from "./server-under-test.ts";
import { median, spread } from "./stats.ts";

/** Prints one line a figure. `samples` holds, for each side, the figures of each run. */
export function printTable(samples: Readonly<Record<Side, readonly (readonly Figure[])[]>>): void {
  console.log("| | svc | llama-server | ratio (over 1: svc better) | spread svc / llama-server |");
  console.log("|---|---|---|---|---|");
  const figures = new Map(samples.svc.flat().map((figure) => [figure.label, figure]));
  for (const { label, unit, better } of figures.values()) {
    const values = (side: Side) =>
      samples[side].flat().flatMap((figure) => (figure.label === label ? [figure.value] : []));
    const [ours, theirs] = [values("svc"), values("llama-server")];
    const ratio = better === "higher" ? median(ours) / median(theirs) : median(theirs) / median(ours);
    const cells = [
      label,
      format(median(ours), unit),
      theirs.length > 0 ? format(median(theirs), unit) : "–",
      theirs.length > 0 ? ratio.toFixed(2) : "–",
      ours.length > 1 ? `${percent(spread(ours))} / ${percent(spread(theirs))}` : "–",
    ];
    console.log(`| ${cells.join(" | ")} |`);
  }
}

const format = (value: number, unit: Figure["unit"]): string =>
  `${value.toFixed(value < 10 ? 2 : value < 1000 ? 1 : 0)} ${unit}`;

const percent = (share: number): string => `${Math.round(share * 100)} %`;
