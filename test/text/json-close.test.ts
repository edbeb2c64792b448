import { describe, expect, test } from "bun:test";
import { closeJson } from "../../src/text/json-close.ts";

describe("closing JSON", () => {
  test.each([
    ['{"a": 1}', ""],
    ["", "null"],
    ["{", "}"],
    ['{"a', '":null}'],
    ['{"a"', ":null}"],
    ['{"a":', "null}"],
    ['{"a": "x', '"}'],
    ['{"a": "x\\', '\\"}'],
    ['{"a": "\\u00e', '0"}'],
    ['{"a": "x\\n', '"}'],
    ['{"a": [1, {"b": tr', "ue}]}"],
    ['{"a": -', "0}"],
    ['{"a": 1.', "0}"],
    ['{"a": [1', "]}"],
    ['{"a": "}]', '"}'],
    ['{"a": "😀', '"}'],
  ])("%s", (text, ending) => {
    expect(closeJson(text)).toBe(ending);
    expect(() => JSON.parse(text + ending)).not.toThrow();
  });

  test("text that no ending can repair stays unchanged", () => {
    expect(closeJson("}")).toBeUndefined();
    expect(closeJson('{"a" 1')).toBeUndefined();
  });

  test("the work does not grow with the square of the text", () => {
    expect(closeJson(`${"a".repeat(4_000_000)}1`)).toBeUndefined();
  });

  test("every beginning of a JSON text can be closed, unless it ends with a comma", () => {
    const whole = JSON.stringify({ a: [1, -2.5e3, true, null, 'x"\\ü😀\n'], b: { c: {}, d: [] }, "e\\": "" });
    for (let end = 1; end <= whole.length; end++) {
      const text = whole.slice(0, end);
      if (text.endsWith(",")) continue;
      const ending = closeJson(text);
      expect([text, ending]).not.toEqual([text, undefined]);
      expect(() => JSON.parse(text + ending)).not.toThrow();
    }
  });
});
