import { describe, expect, test } from "bun:test";
import { JsonBounds, LONGEST_NUMBER, MOST_JSON_NAMES, MOST_JSON_VALUES } from "../../src/domain/json-bounds.ts";

const DEEP = "nests deeper than 128 levels";
const VALUES = `has more than ${MOST_JSON_VALUES} JSON values`;
const NUMBER = `has a number of more than ${LONGEST_NUMBER} characters`;
const NAMES = `has more than ${MOST_JSON_NAMES} names of members`;

/** Returns the first limit that is exceeded, reading the text in pieces of `step` bytes. */
function excess(text: string, step: number): string | undefined {
  const bytes = new TextEncoder().encode(text);
  const bounds = new JsonBounds();
  for (let at = 0; at < bytes.length; at += step) {
    const found = bounds.push(bytes.subarray(at, at + step));
    if (found) return found;
  }
  return undefined;
}

const numbers = (count: number) => `[${"1,".repeat(count - 2)}1]`;
const names = (count: number) => `{${Array.from({ length: count }, (_, n) => `"${n}":1`).join()}}`;
const nested = (depth: number, inside = "") => "[".repeat(depth) + inside + "]".repeat(depth);
const text = (content: string) => JSON.stringify(content);
const digits = (more: number) => "1".repeat(LONGEST_NUMBER + more);
const structure = "[{,:]}";

describe("the limits of JSON", () => {
  test.each([
    ["nothing", "", undefined],
    ["as deep as may be", nested(128), undefined],
    ["one level more", nested(129), DEEP],
    ["deep, and not closed", "[".repeat(129), DEEP],
    ["objects and lists", `${'{"a":['.repeat(65)}${"]}".repeat(65)}`, DEEP],
    ["many beside each other", `[${"[[]],".repeat(100_000)}[]]`, undefined],
    ["as many values as may be", numbers(MOST_JSON_VALUES), undefined],
    ["one more", numbers(MOST_JSON_VALUES + 1), VALUES],
    ["empty lists", `[${"[],".repeat(500_000)}[]]`, VALUES],
    ["objects in strings and between them", `["${structure}",${"{},".repeat(500_000)}"${structure}"]`, VALUES],
    ["as many names as may be", names(MOST_JSON_NAMES), undefined],
    ["one name more", names(MOST_JSON_NAMES + 1), NAMES],
    ["numbers as long as may be", `[${digits(0)}, ${digits(0)}\n,${digits(0)}]`, undefined],
    ["one digit more", `{"a": ${digits(1)}}`, NUMBER],
    ["one digit more, and nothing behind it", digits(1), NUMBER],
    ["a long word that is no number", "a".repeat(2 * LONGEST_NUMBER), undefined],
    ["digits in a string", text(digits(1)), undefined],
    ["strings", text(structure.repeat(200_000)), undefined],
    ["short strings", `[${`"${structure}",`.repeat(900_000)}1]`, undefined],
    ["escaped quotes", text(`"${structure}"`.repeat(200_000)), undefined],
    ["escaped quotes, far apart", text(`${structure.repeat(99)}"${structure}\\`.repeat(3000)), undefined],
    ["backslashes before the end", `[${text("\\".repeat(100_001))},${nested(128)}]`, DEEP],
    ["an escaped quote before the end", `[${text(`${"x".repeat(100)}\\"`)},${nested(128)}]`, DEEP],
    ["characters of several bytes", `[${text("é中😀".repeat(50_000))},${nested(128)}]`, DEEP],
    ["brackets of more bytes than one", text("［｛".repeat(200_000)), undefined],
  ])("%s", (_, json, expected) => {
    for (const step of [1000, 65_536, 1e8]) expect(excess(json, step)).toBe(expected);
    if (json.length < 100_000) expect(excess(json, 1)).toBe(expected);
  });

  test("count the values of several texts together, but the depth of each separately", () => {
    const bounds = new JsonBounds();
    for (const piece of ["[".repeat(100), '"', numbers(600_000)]) {
      bounds.next();
      expect(bounds.push(Buffer.from(piece))).toBeUndefined();
    }
    bounds.next();
    expect(bounds.push(Buffer.from(numbers(600_000)))).toBe(VALUES);
  });
});
