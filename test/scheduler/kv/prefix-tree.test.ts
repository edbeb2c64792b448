import { expect, test } from "bun:test";
import { PrefixTree } from "../../../src/scheduler/kv/prefix-tree.ts";
import { dice } from "../../support/dice.ts";

const range = (length: number, from: number) => Int32Array.from({ length }, (_, at) => from + at);

test("branches that are gone leave no nodes behind", () => {
  const tree = new PrefixTree();
  const trunk = range(5000, 0);
  tree.add(1, "");
  tree.extend(1, trunk, 5000);
  for (let length = 100; length < 5000; length += 5) {
    tree.fork(2, 1, length);
    tree.extend(2, Int32Array.from([...trunk.subarray(0, length), ...range(50, 10_000)]), length + 50);
    tree.remove(2);
  }
  expect(tree.cells).toBe(5000);
  let nodes = 0;
  for (let node = tree["entries"].get(1)?.node; node?.parent; node = node.parent) nodes++;
  expect(nodes).toBe(1);
});

test.each([1, 2, 3, 4])("the tree holds what its sequences hold (seed %p)", (seed) => {
  const roll = dice(seed);
  const tree = new PrefixTree();
  const held = new Map<number, number[]>();
  const prefixes = (sequences: readonly number[][]) =>
    new Set(sequences.flatMap((tokens) => tokens.map((_, at) => tokens.slice(0, at + 1).join()))).size;
  const shared = (a: readonly number[], b: readonly number[]) => {
    const at = a.findIndex((token, index) => token !== b[index]);
    return at < 0 ? a.length : at;
  };
  for (let step = 0; step < 400; step++) {
    const id = roll(8);
    const tokens = held.get(id);
    if (!tokens) {
      // As in the caches: a new sequence continues the one that it shares most with, so no token is held twice.
      const wanted = Array.from({ length: 1 + roll(12) }, () => roll(2));
      const { length, holders } = tree.match("", Int32Array.from(wanted), wanted.length);
      expect(length).toBe(Math.max(0, ...[...held.values()].map((other) => shared(wanted, other))));
      if (holders[0]) tree.fork(id, holders[0].id, length);
      else tree.add(id, "");
      tree.extend(id, Int32Array.from(wanted), wanted.length);
      held.set(id, wanted);
    } else if (roll(2) === 0) {
      tree.remove(id);
      held.delete(id);
    } else {
      const length = roll(tokens.length + 1);
      tree.trim(id, length);
      held.set(id, tokens.slice(0, length));
    }
    expect(tree.cells).toBe(prefixes([...held.values()]));
    for (const [one, own] of held) {
      expect([...tree.tokensOf(one)]).toEqual(own);
      const others = [...held].filter(([other]) => other !== one).map(([, all]) => all);
      expect(tree.exclusive(one)).toBe(tree.cells - prefixes(others));
    }
  }
});
