import { describe, expect, test } from "bun:test";
import { JsonText } from "../../src/http/json-text.ts";

function read(text: string | Uint8Array, step: number): unknown {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  const json = new JsonText();
  for (let at = 0; at < bytes.length; at += step) json.push(bytes.subarray(at, at + step));
  return json.parse();
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
    ["a name that is none", `{"${long}":1}`, SyntaxError],
    ["nothing", "", SyntaxError],
    ["no UTF-8", Buffer.concat([Buffer.from(`"${long}`), Buffer.from([0xff]), Buffer.from(`${long}"`)]), TypeError],
    ["half a character", Buffer.from(`"${long}é`).subarray(0, -1), TypeError],
  ])("%s is refused", (_, text, error) => {
    for (const step of [777, 65_536, 1_000_000]) expect(() => read(text, step)).toThrow(error);
  });
});
