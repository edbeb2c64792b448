// Programs of the host's, for what svc does not do itself: run without a shell, ended when nobody wants more of them.

import { systemErrorCode } from "../../domain/system-error-code.ts";

/** The program failed. */
export class ProgramError extends Error {
  override readonly name = "ProgramError";
}

/** What a program is run with. */
interface ProgramInput {
  /** Its standard input; absent: none. */
  readonly input?: string;
  /** Its environment; absent: an empty one. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface ProgramLimits {
  /** Bytes of its output. */
  readonly mostBytes: number;
  /** Milliseconds until it ends. */
  readonly mostMs: number;
}

const HAS_GROUPS = process.platform !== "win32";

/** Path of a program that stands on PATH; undefined: there is none. */
export const findProgram = (name: string): string | undefined => Bun.which(name) ?? undefined;

/**
 * Runs a program and hands out what it writes to its standard output, as it comes. Whoever leaves the iteration ends it, and so
 * does the signal. Throws ProgramError when it fails or cannot be started.
 */
export async function* runProgram(
  command: readonly string[],
  signal?: AbortSignal,
  { input, env = {} }: ProgramInput = {},
): AsyncGenerator<Uint8Array> {
  const child = start(command, input, env);
  const output = child.stdout.getReader();
  let isOver = false;
  const kill = () => {
    if (isOver) return;
    end(child);
    void output.cancel().catch(() => {});
  };
  signal?.addEventListener("abort", kill);
  if (signal?.aborted) kill();
  try {
    for (let part = await output.read(); !part.done; part = await output.read()) yield part.value;
    const code = await child.exited;
    isOver = true;
    if (code !== 0) throw new ProgramError(`a program ended with ${code}`);
  } finally {
    signal?.removeEventListener("abort", kill);
    kill();
    await child.exited;
  }
}

/**
 * Gives the terminal to a program until it ends; returns its exit code, above 128 after a signal. It gets signals that ask this
 * process to end. Throws ProgramError when it cannot be started.
 */
export async function runAttached(command: readonly string[], env: Readonly<Record<string, string>>): Promise<number> {
  const child = spawned(() => Bun.spawn([...command], { stdio: ["inherit", "inherit", "inherit"], env }));
  const terminate = () => child.kill("SIGTERM");
  // An interrupt at the terminal reaches both: what it means is the program's to say.
  const ignore = () => {};
  process.on("SIGTERM", terminate).on("SIGHUP", terminate).on("SIGINT", ignore);
  try {
    return await child.exited;
  } finally {
    process.off("SIGTERM", terminate).off("SIGHUP", terminate).off("SIGINT", ignore);
  }
}

/**
 * Runs a program to its end and returns all that it writes to its standard output. Throws ProgramError as `runProgram` does, and
 * where a limit is passed; or the signal's reason.
 */
export async function programOutput(
  command: readonly string[],
  { mostBytes, mostMs, ...input }: ProgramInput & ProgramLimits,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const late = AbortSignal.timeout(mostMs);
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    const ends = signal ? AbortSignal.any([signal, late]) : late;
    for await (const bytes of runProgram(command, ends, input)) {
      parts.push(bytes);
      length += bytes.length;
      if (length > mostBytes) throw new ProgramError(`a program wrote more than ${mostBytes} bytes`);
    }
  } catch (error) {
    signal?.throwIfAborted();
    if (late.aborted) throw new ProgramError(`a program ran for more than ${mostMs / 1000} s`);
    throw error;
  }
  signal?.throwIfAborted();
  return Buffer.concat(parts);
}

function start(command: readonly string[], input: string | undefined, env: Readonly<Record<string, string>>) {
  const stdin = input === undefined ? "ignore" : new TextEncoder().encode(input);
  return spawned(() => Bun.spawn([...command], { stdio: [stdin, "pipe", "ignore"], env, detached: HAS_GROUPS }));
}

function spawned<T>(spawn: () => T): T {
  try {
    return spawn();
  } catch (error) {
    const reason = systemErrorCode(error) ?? "unknown";
    throw new ProgramError(`a program cannot be started (${reason})`);
  }
}

/** With the programs that it has started itself, which are of its group. */
function end(child: Bun.Subprocess): void {
  try {
    if (HAS_GROUPS) process.kill(-child.pid, "SIGKILL");
  } catch {
    // It has ended.
  }
  child.kill("SIGKILL");
}
