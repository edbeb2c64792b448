// Readings by the Python package hibari-tts, from which src/speech was written.

import { join } from "node:path";
import { pythonWith } from "../support/python.ts";

export interface Reading {
  readonly normalized?: string;
  readonly phonemes?: string;
  readonly sentences?: readonly string[];
  /** The error that ended it; then all other fields are absent. */
  readonly error?: string;
}

/** Returns the readings of the texts in order. Installs the package first when it is missing. */
export async function originalReadings(texts: readonly string[]): Promise<Reading[]> {
  const programs = await pythonWith(join(import.meta.dir, "requirements-hibari.txt"), "hibari");
  const child = Bun.spawn([join(programs, "python"), join(import.meta.dir, "original.py")], {
    stdin: Buffer.from(JSON.stringify(texts)),
    stdout: "pipe",
    stderr: "inherit",
  });
  const output = await child.stdout.text();
  if ((await child.exited) !== 0) throw new Error("the original ended with an error");
  return JSON.parse(output) as Reading[];
}
