// Runs programs until they end.

import { PROGRAM } from "./server.ts";

interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** A number is a descriptor. Default: `ignore`. */
  readonly stdin?: "ignore" | Blob | Uint8Array | number | undefined;
}

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command until it ends. */
export async function runToEnd(
  command: readonly string[],
  { stdin = "ignore", ...options }: RunOptions = {},
): Promise<Ended> {
  const child = Bun.spawn([...command], { ...options, stdin, stdout: "pipe", stderr: "pipe" });
  const [code, out, err] = await Promise.all([child.exited, child.stdout.text(), child.stderr.text()]);
  return { code, out, err };
}

/** Runs svc until it ends. */
export const runSvc = (args: readonly string[], options?: RunOptions): Promise<Ended> =>
  runToEnd([...PROGRAM, ...args], options);
