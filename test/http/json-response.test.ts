// Small and large JSON responses.

import { expect, test } from "bun:test";
import { nextTurn } from "../../src/domain/next-turn.ts";
import { jsonResponse } from "../../src/http/json-response.ts";

const deep = { a: { b: [{ c: [{ d: [{ e: { f: [1, "ü\ud83d\ude00", null] } }] }] }] } };

test("a JSON response equals that of Response.json, whatever its content", async () => {
  const values = [
    null,
    "text",
    5,
    [],
    {},
    [[], [{}], [undefined], [1, { a: 2 }], [{ a: undefined, b: null }, 3, undefined, "x"]],
    { a: undefined, b: [undefined, { c: "\ud800" }], d: new Date(0), 'quo"te': [1.5, true] },
    deep,
    { data: Array.from({ length: 3000 }, (_, index) => ({ index, text: "é\ud83d\ude00".repeat(40), deep })) },
  ];
  for (const value of values) {
    const init = { status: 201, headers: { "X-Own": "1" } };
    const [made, expected] = [await jsonResponse(value, init), Response.json(value, init)];
    expect([made.status, made.headers.get("x-own")]).toEqual([201, "1"]);
    expect(made.headers.get("content-type")).toBe(expected.headers.get("content-type"));
    expect(await made.text()).toBe(await expected.text());
  }
});

const large = { data: Array.from({ length: 20_000 }, (_, index) => ({ index, text: "x".repeat(500) })) };

test("writing a large response does not block the event loop", async () => {
  let [turns, isOver] = [0, false];
  const others = (async () => {
    for (; !isOver; turns++) await nextTurn();
  })();
  expect(await jsonResponse(large).json()).toEqual(large);
  isOver = true;
  await others;
  expect(turns).toBeGreaterThan(20);
});

test("a large response is written only as fast as it is read, and its end is told once it is read or left", async () => {
  let writes = 0;
  const watched = {
    data: large.data.map((one) => ({
      ...one,
      get seen() {
        return ++writes;
      },
    })),
  };
  let ended = 0;
  const reader = jsonResponse(watched, {}, () => ended++).body?.getReader();
  await reader?.read();
  await Bun.sleep(20);
  expect(writes).toBeLessThan(10_000);
  expect(ended).toBe(0);
  await reader?.cancel();
  expect(ended).toBe(1);
  const read = jsonResponse(large, {}, () => ended++);
  expect(ended).toBe(1);
  await read.arrayBuffer();
  expect(ended).toBe(2);
  jsonResponse({ small: true }, {}, () => ended++);
  expect(ended).toBe(3);
});
