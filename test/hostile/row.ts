// The result of an attack, and how files of attacks run.

import { readFileSync, writeFileSync } from "node:fs";
import { exitOnSignals } from "../support/kill-at-exit.ts";
import { promisesPage, resultsOf, resultsText } from "./promises-page.ts";

export interface Row {
  /** The promise, in terms of a user. */
  readonly promise: string;
  /** The attack. */
  readonly attack: string;
  /** What was measured; of each unit, the figure that is limited comes first. */
  readonly figure: string;
  /** The largest allowed values, separated by commas. */
  readonly limit: string;
  readonly ok: boolean;
  /** llama-server's result for the same attack. */
  readonly theirs?: string;
}

type Options = Readonly<Record<string, string>>;
/** A file of attacks; takes `--name value` options from the command line and returns rows. */
export type Attacks = (options: Options) => Promise<readonly Row[]>;

/** A file of attacks and the title of its results on the page. */
export interface AttackFile {
  readonly title: string;
  readonly run: Attacks;
}

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
  console.log(resultsText(rows));
  process.exit(rows.every(({ ok }) => ok) ? 0 : 1);
}

/**
 * Runs the files of attacks, or those of `--only NAME,NAME`, one after another, replaces their results on the page,
 * and exits.
 */
export async function runAll(files: Readonly<Record<string, AttackFile>>, page: string): Promise<never> {
  const options = commandLine();
  const only = options["only"]?.split(",") ?? Object.keys(files);
  const titles = Object.fromEntries(Object.entries(files).map(([name, { title }]) => [name, title]));
  let held = true;
  for (const name of only) {
    const file = files[name];
    if (!file) throw new Error(`there are no attacks named ${name}; only ${Object.keys(files).join(", ")}`);
    const rows = await file.run(options);
    held &&= rows.every(({ ok }) => ok);
    const before = readFileSync(page, "utf8");
    writeFileSync(page, promisesPage(before, titles, resultsOf(before).set(name, rows)));
    console.log(resultsText(rows));
  }
  Bun.spawnSync([process.execPath, "fmt", page]);
  process.exit(held ? 0 : 1);
}
