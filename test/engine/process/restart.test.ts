import { expect, test } from "bun:test";
import { systemClock } from "../../../src/domain/clock.ts";
import { RestartPolicy } from "../../../src/engine/process/restart.ts";

test("a process is restarted at once after its first death, and after growing delays when it keeps dying", () => {
  let now = 1_000_000;
  const policy = new RestartPolicy({ ...systemClock, now: () => now });
  const delays: number[] = [];
  for (let death = 0; death < 9; death++) {
    delays.push(policy.schedule(() => {}));
    policy.cancel();
    now += policy.remainingMs + 100;
  }
  expect(delays).toEqual([0, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
  // A process counts as healthy after a minute in which it was ready, not after a minute of loading.
  now += 120_000;
  expect(policy.schedule(() => {})).toBe(60_000);
  policy.ready();
  now += 59_000;
  expect(policy.schedule(() => {})).toBe(60_000);
  policy.ready();
  now += 61_000;
  expect(policy.schedule(() => {})).toBe(0);
  policy.cancel();
});

test("a process that finished a job is restarted at once, and the next one only if it has finished a job too", () => {
  const policy = new RestartPolicy({ ...systemClock, now: () => 0 });
  const die = () => {
    policy.ready();
    const delay = policy.schedule(() => {});
    policy.cancel();
    return delay;
  };
  expect([die(), die()]).toEqual([0, 1000]);
  policy.worked();
  expect([die(), die(), die()]).toEqual([0, 1000, 2000]);
});
