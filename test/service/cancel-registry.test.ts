import { expect, test } from "bun:test";
import { CancelRegistry } from "../../src/service/cancel-registry.ts";

const ignore = () => {};

test("cancelling an id takes its newest request first and skips requests that ended or were taken", () => {
  const registry = new CancelRegistry();
  const [first, second, third] = [
    registry.add({ id: "a" }, ignore),
    registry.add({ id: "a" }, ignore),
    registry.add({ id: "a" }, ignore),
  ];
  const other = registry.add({ id: "b" }, ignore);
  expect(new Set([first, second, third, other].map(({ keys }) => keys[0])).size).toBe(4);
  expect(registry.size).toBe(4);

  registry.remove(third);
  expect(registry.takeNewest("a")).toBe(second);
  registry.remove(second);
  expect(registry.takeNewest("a")).toBe(first);
  expect(registry.takeNewest("a")).toBeUndefined();
  expect(registry.takeAll()).toEqual([other]);
  expect(registry.size).toBe(0);
});

test("the key of a second request with the same id never equals an id that a client can send", () => {
  const registry = new CancelRegistry();
  registry.add({ id: "a" }, ignore);
  expect(registry.add({ id: "a" }, ignore).keys[0]).toMatch(/^a \d+$/);
});

test("an id can be used again as a plain key once its generation has ended", () => {
  const registry = new CancelRegistry();
  registry.remove(registry.add({ id: "a" }, ignore));
  expect(registry.add({ id: "a" }, ignore).keys[0]).toBe("a");
});
