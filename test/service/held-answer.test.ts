// The memory of answers that are put together before their clients get them.

import { expect, test } from "bun:test";
import { ByteBudget } from "../../src/domain/byte-budget.ts";
import type { SvcError } from "../../src/domain/errors.ts";
import type { GenerateEvent } from "../../src/domain/generate.ts";
import { fewerPages, HeldAnswer } from "../../src/service/held-answer.ts";
import { token } from "../contract/scripts.ts";

const MB = 2 ** 20;
const said = (bytes: number, choice?: number): GenerateEvent => ({
  type: "text",
  text: "x".repeat(bytes / 2),
  ...(choice !== undefined && { choice }),
});
const codeOf = (action: () => void) => {
  try {
    action();
  } catch (error) {
    return (error as SvcError).code;
  }
  return "fits";
};

test("an answer that finds no room beside others is refused as busy, and fits once they are over", () => {
  const budget = new ByteBudget(10 * MB, "answers");
  const [one, other] = [new HeldAnswer(budget), new HeldAnswer(budget)];
  one.add(said(8 * MB));
  expect(codeOf(() => other.add(said(5 * MB)))).toBe("server_busy");
  other.close();
  one.close();
  expect(codeOf(() => new HeldAnswer(budget).add(said(8 * MB)))).toBe("fits");
});

test("an answer that can never fit is refused with the limit, and no client tries again", () => {
  const held = new HeldAnswer(new ByteBudget(10 * MB, "answers"));
  held.add(said(6 * MB, 0));
  expect(() => held.add(said(6 * MB, 1))).toThrow(
    expect.objectContaining({ code: "invalid_value", message: expect.stringContaining("at most 10 MiB") }),
  );
});

test("log probabilities count with their alternatives", () => {
  const budget = new ByteBudget(10 * MB, "answers");
  const alternatives = Array.from({ length: 20 }, () => token("b", -2));
  const logprobs = Array.from({ length: 1000 }, () => ({ ...token("a", -1), top: alternatives }));
  const held = new HeldAnswer(budget);
  const add = () => held.add({ type: "text", text: "a", logprobs });
  expect([codeOf(add), codeOf(add), codeOf(add)]).toEqual(["fits", "fits", "invalid_value"]);
});

test("an answer that restarts gives back what it took, and other answers of the request do not", () => {
  const budget = new ByteBudget(10 * MB, "answers");
  const held = new HeldAnswer(budget);
  held.add(said(4 * MB, 0));
  held.add(said(4 * MB, 1));
  held.add({ type: "restarted", choice: 1 });
  expect(codeOf(() => held.add(said(5 * MB, 1)))).toBe("fits");
  expect(codeOf(() => held.add(said(5 * MB, 1)))).toBe("invalid_value");
});

test("pages count with the length of their text and codes, and the cells of their tables", () => {
  const box = { x: 0, y: 0, width: 1, height: 1 };
  const long = { text: "a".repeat(MB / 2), confidence: 1, box, block: 0, words: [] };
  const rows = Array.from({ length: 200 }, () => []);
  const table = {
    box,
    rows,
    columnCount: 200,
    headers: [],
    rowObjects: [],
    mergedCells: [],
    averageConfidence: 1,
    csv: "",
  };
  const page = {
    number: 1,
    width: 1,
    height: 1,
    source: "text",
    lines: [],
    tables: [],
    barcodes: [],
    notes: [],
  } as const;
  for (const full of [
    { ...page, lines: [long] },
    { ...page, tables: [table] },
    { ...page, barcodes: [{ type: "QR", payload: long.text, box }] },
  ]) {
    const held = new HeldAnswer(new ByteBudget(10 * MB, "answers"), fewerPages);
    held.addPage(full);
    expect(() => [1, 2, 3].forEach(() => held.addPage(full))).toThrow(
      expect.objectContaining({ code: "unprocessable_media" }),
    );
  }
});

test("pages count with their words and pictures, and too many are refused by the field that names fewer", () => {
  const box = { x: 0, y: 0, width: 1, height: 1 };
  const word = { text: "a", confidence: 1, box };
  const line = { ...word, block: 0, words: Array.from({ length: 4096 }, () => word) };
  const page = {
    number: 1,
    width: 1,
    height: 1,
    source: "text",
    lines: [line],
    tables: [],
    barcodes: [],
    notes: [],
  } as const;
  const held = new HeldAnswer(new ByteBudget(10 * MB, "answers"), fewerPages);
  held.addPage(page);
  held.addPage({ ...page, lines: [], picture: new Uint8Array(MB) });
  held.addPage(page);
  expect(() => held.addPage(page)).toThrow(
    expect.objectContaining({ code: "unprocessable_media", details: { param: "pages" } }),
  );
});
