// Ensures that no server outlives the program that started it, however that program ends.

/** Kills the process when this program exits. The returned function cancels that, when it has already ended. */
export function killAtExit(child: { kill(signal: "SIGKILL"): void }): () => void {
  const kill = () => child.kill("SIGKILL");
  process.on("exit", kill);
  return () => process.off("exit", kill);
}

/** Makes interrupted programs exit normally, with the usual status, so that the processes they started are killed. */
export function exitOnSignals(): void {
  process.on("SIGINT", () => process.exit(130));
  process.on("SIGTERM", () => process.exit(143));
}
