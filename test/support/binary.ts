// Runs the compiled binary as on a bare machine: an empty working directory, no environment, its own cache.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { place } from "../../vendor/run.ts";

const DIST = join(import.meta.dir, "../../dist");
export const BINARY = join(DIST, "svc");
/** The archives that svc-slim downloads. */
export const ARCHIVES = join(DIST, "components");

/** Changes to the folder and starts a program with an empty environment in the same process. */
const NAKED = 'cd "$1" && shift && exec env -i "$@"';

interface CommandOptions {
  readonly binary?: "svc" | "svc-slim";
  readonly cacheDir?: string;
  readonly variables?: readonly string[];
}

export interface Sandbox {
  /** The folder that contains the other two. */
  readonly root: string;
  /** Working directory of the binary. */
  readonly empty: string;
  readonly cacheDir: string;
  /**
   * Returns the program and arguments that start the binary here; more options can follow. `variables` are
   * `NAME=value`.
   */
  command(options?: CommandOptions): readonly string[];
}

/** Runs `test` in a sandbox that is removed afterwards. */
export async function withSandbox(test: (sandbox: Sandbox) => Promise<void>): Promise<void> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "svc-e2e-")));
  const empty = join(root, "empty");
  mkdirSync(empty);
  const cache = join(root, "cache");
  try {
    await test({
      root,
      empty,
      cacheDir: cache,
      command: ({ binary = "svc", cacheDir = cache, variables = [] } = {}) => [
        "/bin/sh",
        "-c",
        NAKED,
        "sh",
        empty,
        ...variables,
        join(DIST, binary),
        `--cache-dir=${cacheDir}`,
      ],
    });
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** Places the binary in this folder and returns its path there. */
export function binaryIn(folder: string): string {
  const path = join(folder, "svc");
  place(BINARY, path);
  return path;
}

/** Lists name, inode, size and time of every file below a folder. Equal lists: nothing was written between. */
export async function inventory(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder, { recursive: true });
  return names.sort().map((name) => {
    const { ino, size, mtimeMs } = statSync(join(folder, name));
    return `${name} ${ino} ${size} ${mtimeMs}`;
  });
}
