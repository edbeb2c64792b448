// What an attack came to, as the table of promises shows it.

import { exitOnSignals } from "../support/kill-at-exit.ts";

export interface Row {
  /** What svc promises, in words of a user. */
  readonly promise: string;
  /** What is done to it. */
  readonly attack: string;
  /** What was measured. */
  readonly figure: string;
  /** What it may be at most. */
  readonly limit: string;
  readonly ok: boolean;
  /** What llama-server makes of the same. */
  readonly theirs?: string;
}

/** Rows as a Markdown table. */
export function table(rows: readonly Row[]): string {
  const lines = rows.map(
    ({ promise, attack, figure, limit, ok, theirs = "–" }) =>
      `| ${promise} | ${attack} | ${figure} | ${limit} | ${ok ? "yes" : "**no**"} | ${theirs} |`,
  );
  return ["| promise | attack | svc | limit | held | llama-server |", "|---|---|---|---|---|---|", ...lines].join("\n");
}

/** Runs one file of attacks by itself, with `--name value` of the command line; prints its rows and ends the process. */
export async function runAlone(attack: (options: Readonly<Record<string, string>>) => Promise<readonly Row[]>) {
  exitOnSignals();
  const words = process.argv.slice(2);
  const options = words.flatMap((word, at) => (word.startsWith("--") ? [[word.slice(2), words[at + 1] ?? ""]] : []));
  const rows = await attack(Object.fromEntries(options));
  console.log(table(rows));
  process.exit(rows.every(({ ok }) => ok) ? 0 : 1);
}
