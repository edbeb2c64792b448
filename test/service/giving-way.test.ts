// One client cannot keep all places from others, which take no more than their share from it.

import { expect, test } from "bun:test";
import { givingWay } from "../../src/service/giving-way.ts";

/** Returns how many of `most` places each of the clients has once the later ones took from the earlier what they could. */
function shares(most: number, clients: readonly string[]): Record<string, number> {
  const holders: string[] = [];
  for (const client of clients) {
    for (let wanted = 0; wanted < most; wanted++) {
      const [giver] = holders.length < most ? [] : givingWay(holders, client, most);
      if (holders.length === most && giver === undefined) break;
      if (giver !== undefined) holders.splice(holders.indexOf(giver), 1);
      holders.push(client);
    }
  }
  return Object.fromEntries(clients.map((client) => [client, holders.filter((holder) => holder === client).length]));
}

test.each([
  [16, ["a"], { a: 16 }],
  [16, ["a", "b"], { a: 12, b: 4 }],
  [16, ["a", "b", "c", "d", "e"], { a: 4, b: 4, c: 4, d: 4, e: 0 }],
  [1000, ["a", "b"], { a: 750, b: 250 }],
  [2, ["a", "b", "c"], { a: 1, b: 1, c: 0 }],
  [1, ["a", "b"], { a: 1, b: 0 }],
  [3, ["a", "b", "c"], { a: 1, b: 1, c: 1 }],
])("of %i places, %j have %j", (most, clients, expected) => {
  expect(shares(most, clients)).toEqual(expected);
});
