import { describe, expect, test } from "bun:test";
import { jsonArguments } from "../../src/dialect/fields/json-object.ts";

const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);

describe("arguments for templates", () => {
  test("what is JSON goes in as it is, nothing as no arguments", () => {
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
    ["a million levels of objects deep", '{"a":'.repeat(1e6) + "1" + "}".repeat(1e6)],
  ])("what is %s goes in as one string", (_, text) => {
    expect(JSON.parse(jsonArguments(text))).toBe(text);
  });

  test.each([
    ["pairs stay", '["\\ud83d\\ude00 \\\\ud83d \\u00e9 \\n"]', '["\\ud83d\\ude00 \\\\ud83d \\u00e9 \\n"]'],
    ["a first half alone is replaced", '{"\\uD83D": "\\ud83dx"}', '{"\\ufffd": "\\ufffdx"}'],
    ["a second half alone, too", '"\\ude00\\ud83d"', '"\\ufffd\\ufffd"'],
    ["and in what was cut", '{"a": "\ud83d', '"{\\"a\\": \\"\\ufffd"'],
  ])("%s", (_, text, expected) => {
    expect(jsonArguments(text)).toBe(expected);
  });
});
