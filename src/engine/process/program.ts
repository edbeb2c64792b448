// Runs programs of the host for what svc does not do itself: without a shell, and only while their output is wanted.

import { errorMessage } from "../../domain/error-message.ts";
import { systemErrorCode } from "../../domain/system-error-code.ts";

/** Thrown when a program fails. */
export class ProgramError extends Error {
  override readonly name = "ProgramError";

  /** `output`: what it had written, where that was kept. */
  constructor(
    message: string,
    readonly output: Uint8Array = new Uint8Array(),
  ) {
    super(message);
  }
}

/** Input of a program. */
interface ProgramInput {
  /** Standard input; absent for none. */
  readonly input?: string | Uint8Array;
  /** Environment; absent for an empty one. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface ProgramLimits {
  /** Most bytes of its output. */
  readonly mostBytes: number;
  /** Most milliseconds until it ends. */
  readonly mostMs: number;
}

const HAS_GROUPS = process.platform !== "win32";

/** Returns the path of a program on PATH; undefined if it is not there. */
export const findProgram = (name: string): string | undefined => Bun.which(name) ?? undefined;

/**
 * Runs a program and yields its standard output as it comes. Leaving the iteration kills the program, and so does the
 * signal. Throws ProgramError when the program fails or cannot be started.
 */
export async function* runProgram(
  command: readonly string[],
  signal?: AbortSignal,
  { input, env = {} }: ProgramInput = {},
): AsyncGenerator<Uint8Array> {
  const stdin = input === undefined ? "ignore" : typeof input === "string" ? new TextEncoder().encode(input) : input;
  const child = spawned(() => Bun.spawn([...command], { stdio: [stdin, "pipe", "ignore"], env, detached: HAS_GROUPS }));
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
 * Attaches a program to the terminal until it ends; returns its exit code, above 128 after a signal. Passes on the
 * signals that request this process to end. Throws ProgramError when the program cannot be started.
 */
export async function runAttached(command: readonly string[], env: Readonly<Record<string, string>>): Promise<number> {
  let child: Bun.Subprocess | undefined;
  const terminate = () => child?.kill("SIGTERM");
  // An interrupt at the terminal reaches both processes; the program decides what it means.
  const ignore = () => {};
  // Before the program starts: a signal just after that would end this process alone.
  process.on("SIGTERM", terminate).on("SIGHUP", terminate).on("SIGINT", ignore);
  try {
    child = spawned(() => Bun.spawn([...command], { stdio: ["inherit", "inherit", "inherit"], env }));
    return await child.exited;
  } finally {
    process.off("SIGTERM", terminate).off("SIGHUP", terminate).off("SIGINT", ignore);
  }
}

/**
 * Runs a program to its end and returns its whole standard output. Throws ProgramError, with that output, as
 * `runProgram` does, and when a limit is exceeded; or the signal's reason.
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
    const reason = late.aborted ? `a program ran for more than ${mostMs / 1000} s` : errorMessage(error);
    throw late.aborted || error instanceof ProgramError ? new ProgramError(reason, Buffer.concat(parts)) : error;
  }
  signal?.throwIfAborted();
  return Buffer.concat(parts);
}

function spawned<T>(spawn: () => T): T {
  try {
    return spawn();
  } catch (error) {
    const reason = systemErrorCode(error) ?? "unknown";
    throw new ProgramError(`a program cannot be started (${reason})`);
  }
}

/** Kills the program together with those that it has started, which are in its process group. */
function end(child: Bun.Subprocess): void {
  try {
    if (HAS_GROUPS) process.kill(-child.pid, "SIGKILL");
  } catch {
    // It has ended.
  }
  child.kill("SIGKILL");
}
