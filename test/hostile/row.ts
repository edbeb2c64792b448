// The result of an attack, as shown in the table of promises.

import { readFileSync, writeFileSync } from "node:fs";
import { exitOnSignals } from "../support/kill-at-exit.ts";

export interface Row {
  /** The promise, in terms of a user. */
  readonly promise: string;
  /** The attack. */
  readonly attack: string;
  /** What was measured. */
  readonly figure: string;
  /** The largest allowed value. */
  readonly limit: string;
  readonly ok: boolean;
  /** llama-server's result for the same attack. */
  readonly theirs?: string;
}

type Options = Readonly<Record<string, string>>;
/** A file of attacks; takes `--name value` options from the command line and returns rows. */
export type Attacks = (options: Options) => Promise<readonly Row[]>;

const HEAD = ["| promise | attack | svc | limit | held | llama-server | by |", "|---|---|---|---|---|---|---|"];

/** Returns a row of the Markdown table. */
const line = ({ promise, attack, figure, limit, ok, theirs = "–" }: Row, file: string): string =>
  `| ${[promise, attack, figure, limit, ok ? "yes" : "**no**", theirs, file].join(" | ")} |`;

/** Returns the name of the file of attacks to which a row of the table belongs. */
const fileOf = (row: string): string => / ([\w-]+) +\|$/.exec(row)?.[1] ?? "";

function commandLine(): Options {
  exitOnSignals();
  const words = process.argv.slice(2);
  return Object.fromEntries(
    words.flatMap((word, at) => (word.startsWith("--") ? [[word.slice(2), words[at + 1] ?? ""]] : [])),
  );
}

/** Runs one file of attacks by itself, prints its rows and exits. */
export async function runAlone(attack: Attacks): Promise<never> {
  const rows = await attack(commandLine());
  console.log([...HEAD, ...rows.map((row) => line(row, "–"))].join("\n"));
  process.exit(rows.every(({ ok }) => ok) ? 0 : 1);
}

/**
 * Runs the files of attacks, or those of `--only NAME,NAME`, one after another, replaces their rows in the table of
 * the page, and exits.
 */
export async function runAll(files: Readonly<Record<string, Attacks>>, page: string): Promise<never> {
  const options = commandLine();
  const only = options["only"]?.split(",") ?? Object.keys(files);
  let held = true;
  for (const name of only) {
    const attack = files[name];
    if (!attack) throw new Error(`there are no attacks named ${name}; only ${Object.keys(files).join(", ")}`);
    const rows = await attack(options);
    held &&= rows.every(({ ok }) => ok);
    const lines = readFileSync(page, "utf8").trimEnd().split("\n");
    const from = lines.findIndex((text) => text.startsWith("| promise "));
    const others = lines.slice(from + HEAD.length).filter((row) => fileOf(row) !== name);
    const all = [...others, ...rows.map((row) => line(row, name))];
    const order = Object.keys(files);
    all.sort((one, other) => order.indexOf(fileOf(one)) - order.indexOf(fileOf(other)));
    writeFileSync(page, `${[...lines.slice(0, from), ...HEAD, ...all].join("\n")}\n`);
    console.log([...HEAD, ...rows.map((row) => line(row, name))].join("\n"));
  }
  Bun.spawnSync([process.execPath, "fmt", page]);
  process.exit(held ? 0 : 1);
}
