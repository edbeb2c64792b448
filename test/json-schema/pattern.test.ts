import { describe, expect, test } from "bun:test";
import { formatPattern } from "../../src/json-schema/formats.ts";
import { patternTranslator, type Lengths } from "../../src/json-schema/pattern.ts";
import { finds } from "../../src/json-schema/regex.ts";
import { isRegex, parseRegex } from "../../src/json-schema/regex-parser.ts";
import { randomNumbers } from "../support/dice.ts";

const ANY_LENGTH: Lengths = { min: 0, max: Infinity };
const grammarPattern = (source: string, lengths: Lengths) => patternTranslator(source, () => {})(lengths);

function translated(source: string, lengths: Lengths = ANY_LENGTH): string {
  const result = grammarPattern(source, lengths);
  if (result === undefined || result === "anything") throw new Error(`${source} is ${result}`);
  expect(result.lengths).toBe(true);
  return result.pattern;
}

/**
 * Returns whether a translated pattern matches a text as JSON spells it. The converter's dialect is almost that of
 * JavaScript.
 */
function matches(pattern: string, text: string): boolean {
  const spelled = JSON.stringify(text).slice(1, -1);
  return new RegExp(pattern.replaceAll(/\\U([0-9A-F]{8})/g, "\\u{$1}"), "u").test(spelled);
}

const TEXTS = [
  "", "a", "b", "c", "ab", "abc", "aab", "abab", "foo", "foobar", "xfoo", "123-4567", "Z9_", "a b", "é", "日本", "\u{1F600}",
  'say "hi"', '"', "\\", "a\\b", "\n", "a\nb", "\t", "\u0001", "\u007f", "\u2028", "a.b", "-", "]", "^", "$", "a@b.cc", "  ",
]; // prettier-ignore

describe("translation", () => {
  test.each([
    "^a+$",
    "abc",
    "^a",
    "b$",
    "",
    "^$",
    "^(a|b)*$",
    "^(?:a|ab)(?:c|bcd)?$",
    "(a|b)+?c",
    "^(?<name>a)b?$",
    "a|^b$",
    "(^|x)foo",
    "^[a-c]{2,}$",
    "^[^a-c]+$",
    "^[\\w.]+@\\w+\\.\\w{2,}$",
    "^\\d{3}-\\d{4}$",
    "\\s",
    "^\\S+$",
    "^\\D*$",
    "^.$",
    "^[\\s\\S]$",
    '"',
    '^[^"]*$',
    "\\\\",
    "^[\\]\\\\^-]$",
    "\\n",
    "^\\x41?\\u00e9$",
    "^\\u{1F600}$",
    "^\\ud83d\\ude00$",
    "[\\b\\cA]",
    "^[+--]$",
    "^[\\d-z]+$",
    "^a{2}$",
    "^a{,2}$",
    "^(?:)$",
    "^(a*)*b$",
    "^(?:a?b?)*$",
    "^((a|)c)*$",
    "$^",
    "a^b|c",
    "\\/",
    "\\-",
    "^(?:a|b|)$",
    "^[^]$",
    "^(a{0}b)+$",
    "[]|a",
  ])("%s", (source) => {
    const regex = new RegExp(source, isUnicode(source) ? "u" : "");
    const result = grammarPattern(source, ANY_LENGTH);
    if (result === undefined) throw new Error("not expressible");
    const accepted = TEXTS.filter((text) => result === "anything" || matches(result.pattern, text));
    const wanted = TEXTS.filter((text) => regex.test(text));
    // Large classes leave out rare control characters.
    expect(accepted).toEqual(wanted.filter((text) => accepted.includes(text) || ![...text].some((char) => char < " ")));
  });

  test.each([
    "(?=a)b",
    "(?!a)",
    "(?<=a)b",
    "(a)\\1",
    "\\bfoo",
    "\\p{L}",
    "(?<x>a)\\k<x>",
    "a(b^)c",
    "^a{3000}$",
    "[]",
    "^\\ud800$",
    "\\h+",
    "\\Qa.b\\E",
    "[\\A]",
  ])("%s cannot be translated", (source) => {
    expect(isRegex(source)).toBe(true);
    expect(grammarPattern(source, ANY_LENGTH)).toBeUndefined();
  });

  test("the anchors of Python, Rust and Ruby are those of a whole text", () => {
    for (const source of ["\\Aab?\\z", "\\Aab?\\Z", "^ab?\\Z"]) expect(translated(source)).toBe(translated("^ab?$"));
  });

  test("a pattern that matches any text is not a constraint", () => {
    for (const source of ["", ".*", "^[\\s\\S]*$", "a?", "(a*)*", "^|a"])
      expect(grammarPattern(source, ANY_LENGTH)).toBe("anything");
  });

  test("nested repetitions are limited in number", () => {
    expect(grammarPattern("^(?:a{1,500}b{1,500}){1,500}$", ANY_LENGTH)).toBeUndefined();
    expect(grammarPattern(`^${"(".repeat(40)}a${")".repeat(40)}$`, ANY_LENGTH)).toBeUndefined();
    expect(grammarPattern(`^(${"a?".repeat(500)})*$`, ANY_LENGTH)).toBeUndefined();
  });
});

describe("lengths", () => {
  test.each([
    ["^[a-z]+$", 2, 4, "^[a-z]{2,4}$"],
    ["^[a-z]+$", 0, 4, "^[a-z]{1,4}$"],
    ["^[a-z]{2,9}$", 3, 5, "^[a-z]{3,5}$"],
    ["^ab$", 1, 2, "^ab$"],
    ["^(?:a|bcd)$", 2, 9, "^bcd$"],
    ["^x[a-z]*[0-9]{2}$", 4, 8, "^x[a-z]{1,5}[0-9]{2}$"],
    ["^(?:[a-f][0-9])*$", 3, 7, "^(?:[a-f][0-9]){2,3}$"],
  ])("of %s from %i to %i", (source, min, max, pattern) => expect(translated(source, { min, max })).toBe(pattern));

  test.each([
    ["^(?:a|bb)+$", 0, 5],
    ["^a+$", 0, 5000],
    ["^[A-Z]+-\\d+$", 8, 40],
    ["^\\S+@\\S+\\.\\S+$", 0, 50],
    ["^(?:a|bb)[0-9]*$", 2, 4],
    ["o", 2, 4],
  ])("that %s cannot include, from %p to %p, are reported, and the pattern stays as it is", (source, min, max) => {
    expect(grammarPattern(source, { min, max })).toMatchObject({ lengths: false, pattern: translated(source) });
  });
});

test("searching with the syntax tree gives the same result as the regular expression engine", () => {
  const random = randomNumbers(5);
  const pieces = ["a", "b", "(a|b)", "[ab]", "[^a]", ".", "a*", "b+", "(ab)?", "(a|bc){1,2}", "^", "$", "(?:a*b)*"];
  for (let round = 0; round < 400; round++) {
    const source = Array.from(
      { length: 1 + Math.floor(random() * 4) },
      () => pieces[Math.floor(random() * pieces.length)],
    ).join("");
    const regex = parseRegex(source);
    if (!regex) throw new Error(source);
    for (const text of TEXTS)
      expect([source, text, finds(regex, text, { left: 1e6 })]).toEqual([
        source,
        text,
        new RegExp(source, "u").test(text),
      ]);
  }
  const slow = parseRegex("^(a+)+$");
  if (slow) expect(finds(slow, "a".repeat(5000), { left: 5_000 })).toBeUndefined();
});

describe("formats", () => {
  const accepts = (format: string, text: string) => matches(translated(String(formatPattern(format))), text);

  test.each([
    [
      "date",
      ["2024-02-29", "2000-02-29", "1999-12-31"],
      ["2023-02-29", "1900-02-29", "2024-04-31", "2024-13-01", "24-01-01"],
    ],
    ["time", ["00:00:00Z", "23:59:59.123+05:30"], ["24:00:00Z", "12:00:00", "12:60:00Z"]],
    ["date-time", ["2024-02-29T00:00:00Z"], ["2024-02-29 00:00:00Z", "2024-02-30T00:00:00Z"]],
    ["duration", ["P1Y2M3DT4H5M6S", "P3W", "PT1M"], ["P", "PT", "P1YT", "P1Y2W", "1Y"]],
    [
      "email",
      [
        "joe.bloggs@example.com",
        "a_b+c@x.co",
        "john.q.public+news@X.com",
        "o'hara@mail.cs.dept.uni.edu",
        "info@internationalization.com",
      ],
      ["a@b", ".a@x.co", "a..b@x.co", "a@-x.co", "a b@x.co"],
    ],
    [
      "hostname",
      [
        "localhost",
        "www.example.com",
        "a-b.c",
        `${"x".repeat(63)}.Co`,
        "b.s3.eu-central-1.amazonaws.com",
        "xn--mnchen-3ya.de",
      ],
      ["-a", "a-", "a..b", "a_b", "x".repeat(64)],
    ],
    ["ipv4", ["0.0.0.0", "255.10.1.99"], ["256.0.0.1", "1.2.3", "01.2.3.4"]],
    [
      "ipv6",
      ["::", "::1", "1::", "2001:db8::8a2e:370:7334", "1:2:3:4:5:6:7:8", "a:b::c"],
      ["1:2:3", "1::2::3", "12345::", "1:2:3:4:5:6:7:8:9", "::1:2:3:4:5:6:7:8"],
    ],
    [
      "uri",
      [
        "https://example.com/a?b=c#d",
        "mailto:a@x.co",
        "urn:isbn:0451",
        "https://raw.githubusercontent.com/a/b/main/c.md",
        "http://localhost:11434/api/tags",
        "https://my-app-git-main-me.vercel.app",
        "https://me:pw@x.y:8080/?q=%c3%a9",
        "file:///tmp/a.ts",
        "s3://bucket/key",
        "ssh://git@github.com/a/b.git",
        "http://[::1]:3000/",
        "data:text/plain,a",
      ],
      ["//x", "https://", "http://a b", "x", "http://[1::2::3]/", "http://a:b:c/", "1a:b"],
    ],
    ["uri-reference", ["/a/b", "?q", "#f", "https://x.y", "a/b.png", "../a", "//x.y/z", ""], ["a b", "\\", "1:2"]],
    ["iri", ["https://ja.wikipedia.org/wiki/日本", "http://münchen.de"], ["http://a b", "日本"]],
    ["uri-template", ["https://x.y/{id}/a{?page,size*}", "{+path:3}"], ["{", "{a", "{a b}", "a b"]],
    ["uuid", ["123e4567-e89b-12d3-a456-426614174000"], ["123e4567e89b12d3a456426614174000"]],
    ["json-pointer", ["", "/a~0/b~1", "/"], ["a", "/~", "/~2"]],
    ["relative-json-pointer", ["0#", "12/a"], ["01", "/a", "-1"]],
  ])("%s", (format, valid, invalid) => {
    expect(valid.filter((text) => !accepts(format, text))).toEqual([]);
    expect(invalid.filter((text) => accepts(format, text))).toEqual([]);
  });
});

function isUnicode(source: string): boolean {
  try {
    return new RegExp(source, "u") instanceof RegExp;
  } catch {
    return false;
  }
}
