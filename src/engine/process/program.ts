// Programs of the host's, for what svc does not do itself: run without a shell, ended when nobody wants more of them.

/** The program failed. */
export class ProgramError extends Error {
  override readonly name = "ProgramError";
}

/** Path of a program that stands on PATH; undefined: there is none. */
export const findProgram = (name: string): string | undefined => Bun.which(name) ?? undefined;

/**
 * Runs a program and hands out what it writes to its standard output, as it comes. It gets no standard input and an empty
 * environment. Whoever leaves the iteration ends it, and so does the signal. Throws ProgramError when it fails.
 */
export async function* runProgram(command: readonly string[], signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  const child = Bun.spawn([...command], { stdio: ["ignore", "pipe", "ignore"], env: {} });
  const kill = () => child.kill("SIGKILL");
  signal?.addEventListener("abort", kill);
  try {
    for await (const bytes of child.stdout) yield bytes;
    const code = await child.exited;
    if (code !== 0) throw new ProgramError(`a program ended with ${code}`);
  } finally {
    signal?.removeEventListener("abort", kill);
    kill();
    await child.exited;
  }
}
