/** Returns the code and field of the SvcError that a function throws. */
export function thrown(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    const { code, details } = error as { code: string; details: { param?: string } };
    return [code, details.param];
  }
  return "no failure";
}
