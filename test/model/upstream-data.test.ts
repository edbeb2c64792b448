// Data copied from the pinned llama.cpp must match its sources: these tests fail when a new version has more.

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import versions from "../../vendor/versions.json";
import { knownArchitectures } from "../../src/model/architectures.ts";
import { tensorTypes } from "../../src/model/tensor-types.ts";
const source = (path: string) =>
  readFileSync(join(import.meta.dir, `../../vendor/.build/llama.cpp-${versions["llama.cpp"]}`, path), "utf8");

/** Returns the text between two marks. */
function between(text: string, start: string, end: string): string {
  const from = text.indexOf(start);
  if (from < 0) throw new Error(`'${start}' is not in llama.cpp's source any more`);
  return text.slice(from, text.indexOf(end, from));
}

test("the list of architectures matches llama.cpp", () => {
  const table = between(source("src/llama-arch.cpp"), "LLM_ARCH_NAMES = {", "\n};");
  const names = [...table.matchAll(/"([^"]+)"/g)].map((match) => String(match[1]));
  expect([...knownArchitectures].sort()).toEqual(names.filter((name) => name !== "(unknown)").sort());
});

test("the table of tensor types matches llama.cpp", () => {
  const python = source("gguf-py/gguf/constants.py");
  const numbers = [...between(python, "class GGMLQuantizationType", "\n\n\n").matchAll(/(\w+)\s*=\s*(\d+)/g)];
  const sizes = [...between(python, "GGML_QUANT_SIZES:", "\n}").matchAll(/Type\.(\w+):\s*\((\d+), (.*)\),/g)];
  expect(sizes.length).toBeGreaterThan(30);
  for (const [, name, elements, formula] of sizes) {
    const number = Number(numbers.find((entry) => entry[1] === name)?.[2]);
    const bytes = sum(String(formula));
    expect(tensorTypes.get(number)).toEqual({ name: String(name), elements: Number(elements), bytes });
  }
  expect(tensorTypes.size).toBe(sizes.length);
});

/** Evaluates formulas such as "2 + 2 + QK_K // 16": sums of products and integer quotients, where QK_K is 256. */
function sum(formula: string): number {
  const terms = formula.replaceAll("QK_K", "256").split("+");
  return terms.reduce((total, term) => {
    const [left, operator, right] = term.trim().split(" ");
    const value = Number(left);
    if (operator === "//") return total + Math.floor(value / Number(right));
    return total + (operator === "*" ? value * Number(right) : value);
  }, 0);
}
