// No server outlives the program that started it, however that ends.

/** Kills the process when this one exits; the returned function takes that back, for a process that has ended. */
export function killAtExit(child: { kill(signal: "SIGKILL"): void }): () => void {
  const kill = () => child.kill("SIGKILL");
  process.on("exit", kill);
  return () => process.off("exit", kill);
}

/** Lets interrupted programs exit in order, with the usual status, so that what they started is killed. */
export function exitOnSignals(): void {
  process.on("SIGINT", () => process.exit(130));
  process.on("SIGTERM", () => process.exit(143));
}
