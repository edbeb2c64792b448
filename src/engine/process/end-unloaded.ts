/** How long the parent may take to read why. */
const PATIENCE_MS = 10_000;

/**
 * Ends a process that could not load its model, after it has told why: the parent ends it when it has read that. What is
 * sent right before an exit may be lost with it.
 */
export async function endUnloaded(): Promise<never> {
  process.once("SIGTERM", () => process.exit(1));
  await Bun.sleep(PATIENCE_MS);
  return process.exit(1);
}
