import { TypeCompiler } from "@sinclair/typebox/compiler";
import { expect, test } from "bun:test";
import { ChatCompletionRequest } from "../../src/contract/chat.ts";
import { checker, oneOf, opt, t } from "../../src/contract/schema.ts";
import { SvcError } from "../../src/domain/errors.ts";

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

test("a list that is too long is named before its wrong items", () => {
  expect(() => check({ messages: messages(5001).with(0, {}) })).toThrow("'messages' must be an array of at most 5000");
});

test.each([0, 4000, 23_999])(
  "in a long list of an optional field or inside an item, the wrong item is named: %d",
  (at) => {
    const checkChat = checker(ChatCompletionRequest);
    const content = Array.from({ length: 24_000 }, () => ({ type: "text", text: "Hello" }) as object);
    const chat = (wrong: object) => ({
      messages: [
        { role: "user", content },
        { role: "user", content: wrong },
      ],
    });
    expect(() => checkChat(chat(content.with(at, { type: "text", text: 1 })))).toThrow(
      `'messages.1.content.${at}.text' must be a string; got 1`,
    );
    const tool_calls = Array.from({ length: 24_000 }, () => ({ id: "1", function: { name: "f" } }) as object);
    expect(() => checkChat({ messages: [{ role: "user", tool_calls: tool_calls.with(at, { id: "1" }) }] })).toThrow(
      `'messages.0.tool_calls.${at}.function' is required`,
    );
  },
);

test("of two wrong values anywhere in a body, the one that TypeBox finds first is named", () => {
  const body = {
    n: 1,
    stop: ["a", "b"],
    logit_bias: [[1, 1]],
    tools: [{ type: "function", function: { name: "f", parameters: { type: "object" } } }],
    messages: [
      { role: "system", content: "a" },
      {
        role: "user",
        content: [
          { type: "text", text: "a" },
          { type: "image_url", image_url: { url: "a" } },
        ],
      },
      { role: "assistant", tool_calls: [{ id: "1", function: { name: "f", arguments: "{}" } }] },
    ],
  };
  const typeBox = TypeCompiler.Compile(ChatCompletionRequest);
  const checkChat = checker(ChatCompletionRequest);
  expect(() => checkChat(body)).not.toThrow();
  const places = placesIn(body);
  let wrong = 0;
  for (const value of [true, null, undefined, [], {}]) {
    for (const first of places) {
      for (const second of places) {
        const changed = JSON.parse(JSON.stringify(changedAt(changedAt(body, first, true), second, value)));
        const error = typeBox.Errors(changed).First();
        if (!error) continue;
        wrong++;
        const found = errorOf(() => checkChat(changed));
        // That of a union has the place of the union; svc names what is wrong inside.
        expect(`/${found.details.param?.replaceAll(".", "/")}/`).toStartWith(`${error.path}/`);
      }
    }
  }
  expect(wrong).toBeGreaterThan(1000);
});

type Place = readonly (string | number)[];

/** Returns where the values inside of a value are, at any depth. */
function placesIn(value: unknown, at: Place = []): Place[] {
  if (typeof value !== "object" || value === null) return [];
  const names = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  return names.flatMap((name) => [
    [...at, name],
    ...placesIn((value as Record<Place[0], unknown>)[name], [...at, name]),
  ]);
}

/** Returns a copy with another value at a place, if the place exists. */
function changedAt<T>(value: T, place: Place, other: unknown): T {
  const copy = structuredClone(value);
  let inner: unknown = copy;
  for (const name of place.slice(0, -1)) inner = (inner as Record<Place[0], unknown> | undefined)?.[name];
  if (typeof inner === "object" && inner !== null) Object.assign(inner, { [place.at(-1) ?? ""]: other });
  return copy;
}

function errorOf(work: () => unknown): SvcError {
  try {
    work();
  } catch (error) {
    if (error instanceof SvcError) return error;
  }
  throw new Error("no SvcError");
}
