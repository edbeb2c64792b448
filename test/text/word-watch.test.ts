import { describe, expect, test } from "bun:test";
import { WordWatch } from "../../src/text/word-watch.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

describe("a watched word", () => {
  test("is found in the piece that completes it, however the text is split", () => {
    for (const size of [1, 2, 3, 7, 20]) {
      const text = bytes("so we reach the été END, and on");
      const watch = new WordWatch(["été END"], 0);
      let end = 0;
      let seen = false;
      while (!seen && end < text.length) seen = watch.push(text.subarray(end, (end += size)));
      const complete = bytes("so we reach the été END").length;
      expect([seen, end]).toEqual([true, Math.ceil(complete / size) * size]);
    }
  });

  test("counts for some more bytes, and no longer", () => {
    const watch = new WordWatch(["longer word", "END"], 4);
    const seen = [..."a longer word, more, and still more"].map((one) => watch.push(bytes(one)));
    expect(seen.indexOf(true)).toBe("a longer word".length - 1);
    expect(seen.filter(Boolean).length).toBe(1 + 4);
  });

  test("may be one of several, and an empty list finds nothing", () => {
    expect(new WordWatch(["x", "b"], 0).push(bytes("abc"))).toBe(true);
    expect(new WordWatch(["x", "y"], 0).push(bytes("abc"))).toBe(false);
    expect(new WordWatch([], 100).push(bytes("abc"))).toBe(false);
  });
});
