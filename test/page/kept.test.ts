import { afterEach, expect, test } from "bun:test";
import { Api } from "../../src/page/state/api.ts";
import { Kept } from "../../src/page/state/kept.ts";
import { Session } from "../../src/page/state/session.ts";

const before = Object.getOwnPropertyDescriptor(globalThis, "localStorage");
afterEach(() => {
  if (before) Object.defineProperty(globalThis, "localStorage", before);
  else Reflect.deleteProperty(globalThis, "localStorage");
});

const refuse = (): never => {
  throw new DOMException("refused", "SecurityError");
};

/** Storages that refuse: entirely, as with blocked site data, or to store more. */
const REFUSING: readonly (readonly [string, PropertyDescriptor])[] = [
  ["blocked site data", { get: refuse }],
  ["no room", { value: { getItem: () => "old", setItem: refuse } }],
];

test.each(REFUSING)("what the browser does not keep stays in memory: %s", (_, descriptor) => {
  Object.defineProperty(globalThis, "localStorage", { ...descriptor, configurable: true });
  const kept = new Kept("localStorage");
  expect(() => kept.get("a")).not.toThrow();
  kept.set("a", "new");
  expect(kept.get("a")).toBe("new");
});

test.each(REFUSING)("models and settings can be chosen: %s", (_, descriptor) => {
  Object.defineProperty(globalThis, "localStorage", { ...descriptor, configurable: true });
  const session = new Session(new Api());
  session.chooseModel("m");
  session.setSettings({ temperature: 0.5 });
  session.begin();
  expect(session.modelId.value).toBe("m");
  expect(session.conversation.value.settings).toEqual({ temperature: 0.5 });
});
