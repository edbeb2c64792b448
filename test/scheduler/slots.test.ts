// Slots: the conversation of the last request that named a slot can be saved, restored in another engine, and serves
// every request.

import { describe, expect, test } from "bun:test";
import type { Prefix } from "../../src/scheduler/kv/prefix-index.ts";
import { FakeEngine, LIMITS } from "./fake-engine.ts";

/** The content of a slot file. */
interface Saved {
  readonly prefix: Prefix;
  readonly cells: NonNullable<ReturnType<FakeEngine["hostEntries"]["get"]>>;
}

function save(engine: FakeEngine, slot: number): Saved | undefined {
  const saved = engine.scheduler.slots.save(slot, engine.now);
  if (!saved) return undefined;
  engine.step();
  const cells = engine.hostEntries.get(saved.hostId) ?? [];
  engine.hostEntries.delete(saved.hostId);
  expect(cells.map(({ token }) => token)).toEqual([...saved.prefix.ids]);
  return { prefix: saved.prefix, cells };
}

function restore(engine: FakeEngine, slot: number, { prefix, cells }: Saved): boolean {
  const { kv, slots } = engine.scheduler;
  const hostId = kv.host.newId();
  engine.hostEntries.set(hostId, [...cells]);
  if (!kv.adopt(prefix, hostId, engine.now)) return false;
  engine.step();
  slots.hold(slot, prefix);
  return true;
}

/** Runs a request; returns the cached tokens of its prompt, and the model's context at its end. */
function ask(engine: FakeEngine, key: number, prompt: number | readonly number[], slot?: number) {
  engine.add(key, prompt, 5, "", slot === undefined ? {} : { slot });
  engine.run();
  return { cached: engine.cached.get(key), tokens: engine.jobs.get(key)?.tokens ?? [] };
}

describe.each([
  ["unified", LIMITS],
  ["streams", { ...LIMITS, layout: "streams", cells: 2048, sequences: 4 }],
  ["paged", { ...LIMITS, layout: "paged" }],
  ["a host cache beside it", { ...LIMITS, hostBytes: 2000, offloadTokenMs: 0.001 }],
  ["whole conversations only", { ...LIMITS, canTrim: false }],
] as const)("%s", (_, limits) => {
  const saved = () => {
    const engine = new FakeEngine(limits);
    const { tokens } = ask(engine, 1, 100, 2);
    const file = save(engine, 2);
    // The last token was sampled but never computed.
    expect(file?.prefix.ids.length).toBe(104);
    if (!file) throw new Error("nothing was saved");
    return { engine, tokens, file };
  };

  test("a conversation continues in an engine that restores it, in any slot", () => {
    const { tokens, file } = saved();
    const later = new FakeEngine(limits);
    expect(restore(later, 0, file)).toBe(true);
    expect(ask(later, 9, [...tokens, 7, 8, 9], 1).cached).toBe(104);
    // A sequence that cannot be trimmed now belongs to the other conversation.
    expect(save(later, 0)?.prefix.ids.length).toBe(limits.canTrim ? 104 : undefined);
  });

  test("saving removes nothing from the cache, and restoring a cached conversation adds nothing", () => {
    const { engine, tokens, file } = saved();
    const { cells } = engine;
    expect(restore(engine, 3, file)).toBe(true);
    expect(engine.cells).toBe(cells);
    expect(ask(engine, 9, [...tokens, 7, 8, 9]).cached).toBe(104);
  });

  test("a slot holds its last finished request, and nothing before the first", () => {
    const { engine } = saved();
    expect(save(engine, 1)).toBeUndefined();
    const { tokens } = ask(engine, 5, 40, 2);
    expect(save(engine, 2)?.prefix.ids).toEqual(Int32Array.from(tokens.slice(0, -1)));
    // Slot 6 is slot 2, as there are four.
    expect(save(engine, 6)?.prefix.ids.length).toBe(44);
  });

  test("an erased conversation is computed again, except for the part that another slot holds", () => {
    const { engine, tokens, file } = saved();
    restore(engine, 3, file);
    expect(engine.scheduler.slots.erase(3)).toBe(104);
    expect(engine.scheduler.slots.erase(2)).toBe(104);
    expect(engine.scheduler.slots.erase(2)).toBe(0);
    expect(save(engine, 2)).toBeUndefined();
    expect(ask(engine, 9, [...tokens, 7, 8, 9], 2).cached).toBe(0);

    const { tokens: again } = ask(engine, 10, 60, 0);
    ask(engine, 11, [...again, 4, 5, 6], 1);
    engine.scheduler.slots.erase(1);
    expect(ask(engine, 12, [...again, 1]).cached).toBe(limits.canTrim ? 64 : 0);
  });

  test("restoring waits while every sequence runs or no cell is free", () => {
    const { file } = saved();
    const busy = new FakeEngine({
      ...limits,
      sequences: 2,
      parallel: 2,
      cells: limits.layout === "streams" ? 1024 : 200,
    });
    for (const key of [1, 2]) busy.add(key, 40, 10);
    busy.step();
    expect(busy.scheduler.kv.hasPlace).toBe(false);
    expect(restore(busy, 0, file)).toBe(false);
    busy.run();
    expect(restore(busy, 0, file)).toBe(true);
  });

  test("a state that the model cannot restore is never used", () => {
    const { tokens, file } = saved();
    const later = new FakeEngine(limits);
    later.failsRestores = true;
    restore(later, 0, file);
    expect(ask(later, 9, [...tokens, 7, 8, 9]).cached).toBe(0);
  });
});

test("a conversation that another one continues is saved in its original length", () => {
  for (const layout of ["unified", "paged"] as const) {
    const engine = new FakeEngine({ ...LIMITS, layout });
    const { tokens } = ask(engine, 1, 100, 1);
    ask(engine, 2, [...tokens, 7, 8, 9], 0);
    expect(save(engine, 1)?.prefix.ids).toEqual(Int32Array.from(tokens.slice(0, -1)));
  }
});

test("a saved conversation serves only requests with the adapters that computed it", () => {
  const engine = new FakeEngine();
  const adapters = [{ id: 0, scale: 1 }];
  engine.add(1, 100, 5, "", { adapters, slot: 0 });
  engine.run();
  const file = save(engine, 0);
  if (!file) throw new Error("nothing was saved");
  const later = new FakeEngine();
  restore(later, 0, file);
  const prompt = [...(engine.jobs.get(1)?.tokens ?? []), 1];
  expect(ask(later, 2, prompt).cached).toBe(0);
  later.add(3, prompt, 5, "", { adapters });
  later.run();
  expect(later.cached.get(3)).toBe(104);
});
