import { describe, expect, test } from "bun:test";
import { JsonPieces, parseJson } from "../../src/domain/json-pieces.ts";
import { dice, pick, type Dice } from "../support/dice.ts";

function read(text: string | Uint8Array, step: number): unknown {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  const json = new JsonPieces();
  for (let at = 0; at < bytes.length; at += step) json.push(bytes.subarray(at, at + step));
  return json.end();
}

const long = "x".repeat(100_000);

describe("JSON in pieces", () => {
  test.each([
    ["one value", 7],
    ["short strings", { a: ["b", 'c"d', "\\", "\\\\"], "e\\": null }],
    ["a long string", long],
    ["several, between others", { a: long, b: [1, `${long}!`, "", { c: `?${long}` }], d: true }],
    ["escapes", `\\"\n\t\\\\"\u0000${'"\\'.repeat(50_000)}`],
    ["backslashes", "\\".repeat(100_000)],
    ["characters of two to four bytes", `é中😀"${"é中😀\\".repeat(20_000)}`],
    ["what looks like structure", `${"[{,:]}\\".repeat(20_000)}`],
    ["a member that every object has", JSON.parse(`{"__proto__":"${long}"}`)],
    ["a long name", { [long]: [{ [`"${long}`]: long }] }],
  ])("%s", (_, value) => {
    const text = JSON.stringify(value);
    for (const step of [777, 65_536, text.length * 4]) expect(JSON.stringify(read(text, step))).toBe(text);
    const escaped = text.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
    for (const step of [777, 65_536, escaped.length]) expect(JSON.stringify(read(escaped, step))).toBe(text);
  });

  test.each([
    ["a string without an end", `"${long}`, SyntaxError],
    ["a line end in a string", `"${long}\n${long}"`, SyntaxError],
    ["an escape that is none", `"${long}\\x${long}"`, SyntaxError],
    ["half an escape", `"${long}\\u12"`, SyntaxError],
    ["something behind the end", `"${long}" "${long}"`, SyntaxError],
    ["nothing", "", SyntaxError],
    ["a string behind the end that has none", `[] "${long}`, SyntaxError],
    ["a quote behind the end", `["${long}"]"`, SyntaxError],
    ["a number that would take long", "1".repeat(100_000), SyntaxError],
    ["a name without a value", `{"${long}"}`, SyntaxError],
    ["a comma before an end", `["${long}",]`, SyntaxError],
    ["the end of another", `["${long}"}`, SyntaxError],
    ["no UTF-8", Buffer.concat([Buffer.from(`"${long}`), Buffer.from([0xff]), Buffer.from(`${long}"`)]), TypeError],
    ["half a character", Buffer.from(`"${long}é`).subarray(0, -1), TypeError],
  ])("%s is refused", (_, text, error) => {
    for (const step of [777, 65_536, 1_000_000]) expect(() => read(text, step)).toThrow(error);
  });
});

const PARTS = [
  "a",
  "1",
  "é",
  "中",
  "😀",
  "{",
  "]",
  ",",
  ":",
  " ",
  "\ufeff",
  '\\"',
  "\\\\",
  "\\n",
  "\\u0041",
  "\\ud83d",
] as const;
const NAMES = ['"a"', '"\\u0061"', '"1"', '"__proto__"', '"constructor"'] as const;
const ATOMS = ["0", "-0", "1e400", "1e-400", "123456789012345678901234567890", "true", "null", "01", "tru"] as const;

function someString(roll: Dice): string {
  const length = roll(8) === 0 ? roll(12_000) : roll(10);
  const only = roll(3) === 0 ? pick(roll, PARTS) : undefined;
  return `"${Array.from({ length }, () => only ?? pick(roll, PARTS)).join("")}"`;
}

function someText(roll: Dice, depth: number): string {
  const space = () => pick(roll, ["", "", "", " ", "\r\n\t"]);
  const several = (item: () => string) => Array.from({ length: roll(5) }, () => space() + item() + space()).join();
  const name = () => (roll(2) === 0 ? pick(roll, NAMES) : someString(roll));
  const value = () => someText(roll, depth - 1);
  const kind = depth > 0 ? roll(5) : roll(3);
  if (kind === 4) return `{${several(() => `${name()}${space()}:${value()}`)}}`;
  if (kind === 3) return `[${several(value)}]`;
  return kind === 2 ? pick(roll, ATOMS) : someString(roll);
}

/** Returns all of a value, including what JSON cannot express. */
const shown = (value: unknown): string => Bun.inspect(value, { depth: 200 });

test("any text yields the same value as JSON.parse, however it is split", () => {
  const roll = dice(1);
  const outcome = (work: () => unknown): string => {
    try {
      return shown(work());
    } catch {
      return "refused";
    }
  };
  const decode = (bytes: Uint8Array): unknown => JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  for (let round = 0; round < 800; round++) {
    const whole = new TextEncoder().encode((roll(20) === 0 ? "\ufeff" : "") + someText(roll, 4));
    const bytes = roll(10) === 0 ? whole.subarray(0, roll(whole.length)) : whole;
    const expected = outcome(() => decode(bytes));
    for (const step of [1 + roll(5), 8190 + roll(5), 8192 * (1 + roll(3))]) {
      expect(outcome(() => read(bytes, step))).toBe(expected);
    }
  }
});

test("a large text does not block the event loop while it is parsed, and a small one is parsed without waiting", async () => {
  let turns = 0;
  const turn = async () => void turns++;
  const text = JSON.stringify({ a: "é\n".repeat(1_000_000), b: [1, 2] });
  expect(await parseJson([Buffer.from(text)], turn)).toEqual(JSON.parse(text));
  expect(turns).toBeGreaterThan(10);
  expect(await parseJson([Buffer.from('{"a":'), Buffer.from("1}")], () => Promise.reject(new Error("waits")))).toEqual({
    a: 1,
  });
  await expect(parseJson([Buffer.from('{"a":')])).rejects.toThrow(SyntaxError);
  await expect(parseJson([Buffer.from([0x22, 0xff, 0x22])])).rejects.toThrow(TypeError);
});
