import { expect, test } from "bun:test";
import { vectorsOf } from "../../src/domain/embedding.ts";

test("other work gets turns between the vectors of a large result, which stay in order", async () => {
  const values = new Float32Array(2 ** 20).map((_, at) => Math.floor(at / 1024));
  let turns = 0;
  const count = () => {
    turns++;
    turn = setImmediate(count);
  };
  let turn = setImmediate(count);
  const firsts: number[] = [];
  for await (const vector of vectorsOf({ values, dimensions: 1024, tokens: 0, truncated: 0 })) {
    expect(vector).toHaveLength(1024);
    firsts.push(vector[0] ?? -1);
  }
  clearImmediate(turn);
  expect(firsts).toEqual(Array.from({ length: 1024 }, (_, at) => at));
  expect(turns).toBeGreaterThanOrEqual(7);
});
