/** Waits until `condition` holds; throws after `patienceMs`. */
export async function until(condition: () => boolean | Promise<boolean>, patienceMs = 2000): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error("condition did not come true");
    await Bun.sleep(2);
  }
}
