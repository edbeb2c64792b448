// A minimal test harness whose output is the same in two languages: one line per check, then the two counts.

import { metricValue } from "../support/metrics-text.ts";

export const counts = { passed: 0, failed: 0 };
/** Checks that were skipped, each with the reason. */
export const skipped: string[] = [];

/** Runs one check and prints its result; a failure does not stop the others. */
export async function check(name: string, body: () => Promise<void>): Promise<void> {
  try {
    await body();
    counts.passed++;
    console.log(`ok    ${name}`);
  } catch (error) {
    counts.failed++;
    console.log(`FAIL  ${name}\n      ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Prints why a check is skipped with this version. */
export function skip(name: string, reason: string): void {
  skipped.push(`${name}: ${reason}`);
  console.log(`skip  ${name}: ${reason}`);
}

export function ok(condition: unknown, message: string): void {
  if (!condition) throw new Error(message);
}

export function equal(actual: unknown, expected: unknown): void {
  if (actual !== expected) throw new Error(`${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`);
}

/** Asserts deep equality. */
export function same(actual: unknown, expected: unknown): void {
  if (!Bun.deepEquals(actual, expected)) {
    throw new Error(`${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`);
  }
}

/** Waits until the server with endless answers, or the named one, is idle; throws after five seconds. */
export async function untilIdle(server = "ENDLESS_URL"): Promise<void> {
  const deadline = Date.now() + 5000;
  for (;;) {
    const metrics = await (await fetch(`${process.env[server]}/metrics`)).text();
    if (metricValue(metrics, "svc_num_requests_running") === 0) return;
    if (Date.now() > deadline) throw new Error("still running after 5 s");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Prints the last line, which `runChecks` parses. */
export function summary(): void {
  console.log(`${counts.passed} passed, ${counts.failed} failed`);
}
