import { describe, expect, test } from "bun:test";
import { SvcError } from "../../src/domain/errors.ts";
import { CallArguments, jsonArguments } from "../../src/dialect/fields/json-object.ts";

const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);

describe("arguments for templates", () => {
  test("that are JSON are used unchanged, and empty text means no arguments", () => {
    for (const text of ['{"a": 1}', "[]", '"x"', nested(128), JSON.stringify({ a: nested(1000) })]) {
      expect(jsonArguments(text)).toBe(text);
    }
    expect(jsonArguments("")).toBe("{}");
  });

  test.each([
    ["cut", '{"city": "Zü'],
    ["no JSON", "city: Rome"],
    ["a level too deep", nested(129)],
    ["a million levels deep", nested(1e6)],
    ["too many values", `[${"1,".repeat(1e6)}1]`],
    ["a million levels of objects deep", '{"a":'.repeat(1e6) + "1" + "}".repeat(1e6)],
  ])("that are %s are passed as one string", (_, text) => {
    expect(JSON.parse(jsonArguments(text))).toBe(text);
  });

  test("have a limit on the number of values in all calls of a conversation, even after an unclosed one", () => {
    const texts = new CallArguments("messages");
    const half = `[${"1,".repeat(600_000)}1]`;
    expect(texts.json(half)).toBe(half);
    expect(texts.json('["')).toBe('"[\\""');
    expect(texts.json(half)).toBe(JSON.stringify(half));
  });

  test("have a limit on the total length of all calls", () => {
    const texts = new CallArguments("messages");
    texts.json(`"${"x".repeat(3_000_000)}"`);
    expect(() => texts.json(`"${"x".repeat(1_000_000)}"`)).toThrow(SvcError);
    expect(() => texts.json("[]")).toThrow("at most 4000000 characters; got at least 4000006");
  });

  test.each([
    ["pairs stay", '["\\ud83d\\ude00 \\\\ud83d \\u00e9 \\n"]', '["\\ud83d\\ude00 \\\\ud83d \\u00e9 \\n"]'],
    ["a first half alone is replaced", '{"\\uD83D": "\\ud83dx"}', '{"\\ufffd": "\\ufffdx"}'],
    ["a second half alone, too", '"\\ude00\\ud83d"', '"\\ufffd\\ufffd"'],
    ["two second halves are no pair", '"\\udc00\\ude00\\ud83d\\ud83d\\ude00"', '"\\ufffd\\ufffd\\ufffd\\ud83d\\ude00"'],
    ["text that looks like a first half is none", '"\\\\ud83d\\ude00 \\\\\\ud83d"', '"\\\\ud83d\\ufffd \\\\\\ufffd"'],
    ["and in what was cut", '{"a": "\ud83d', '"{\\"a\\": \\"\\ufffd"'],
  ])("%s", (_, text, expected) => {
    expect(jsonArguments(text)).toBe(expected);
  });
});
