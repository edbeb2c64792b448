import { expect, test } from "bun:test";
import { systemClock } from "../../../src/domain/clock.ts";
import { RestartPolicy } from "../../../src/engine/process/restart.ts";

test("the first death is followed by a restart at once, a series of deaths by longer and longer pauses", () => {
  let now = 1_000_000;
  const policy = new RestartPolicy({ ...systemClock, now: () => now });
  const delays: number[] = [];
  for (let death = 0; death < 9; death++) {
    delays.push(policy.schedule(() => {}));
    policy.cancel();
    now += policy.remainingMs + 100;
  }
  expect(delays).toEqual([0, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
  // A minute of being ready makes a process healthy, not one of loading.
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

test("a process that has finished a job comes back at once, its successor only if it works as well", () => {
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
