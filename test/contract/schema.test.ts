import { expect, test } from "bun:test";
import { checker, oneOf, opt, t } from "../../src/contract/schema.ts";

const check = checker(
  t.Object({
    messages: t.Array(t.Object({ role: oneOf("system", "user"), content: opt(t.Union([t.String(), t.Number()])) }), {
      maxItems: 5000,
    }),
    n: opt(t.Integer()),
  }),
);
const messages = (count: number) => Array.from({ length: count }, () => ({ role: "user", content: "Hello" }) as object);

test.each([0, 1, 1000, 2047, 2048, 2049, 4998, 4999])("of a long list, the first wrong item is named: %d", (index) => {
  const list = messages(5000).with(4999, {}).with(index, { role: "user", content: true });
  expect(() => check({ messages: list })).toThrow(
    `'messages.${index}.content' must be a string or a number; got a bool`,
  );
  expect(() => check({ messages: list, n: "1" })).toThrow(`'messages.${index}.content'`);
  list[index] = {};
  expect(() => check({ messages: list })).toThrow(`'messages.${index}.role' is required`);
});

test("beside a long list, other errors are found", () => {
  expect(() => check({ messages: messages(5000), n: "1" })).toThrow("'n' must be an integer; got a string");
  expect(() => check({ messages: messages(5001) })).toThrow("'messages' must be an array of at most 5000 items");
  expect(check({ messages: messages(5000) }).messages).toHaveLength(5000);
});
