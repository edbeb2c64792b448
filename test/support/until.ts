/** Waits until `condition` holds; throws after `patienceMs`, which a loaded machine needs. */
export async function until(condition: () => boolean | Promise<boolean>, patienceMs = 20_000): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`not within ${patienceMs} ms: ${condition}`);
    await Bun.sleep(2);
  }
}
