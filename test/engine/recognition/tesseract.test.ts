// Text in pictures, read by the real Tesseract.

import { describe, expect, setDefaultTimeout, spyOn, test } from "bun:test";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { Tesseract, type TesseractOptions } from "../../../src/engine/recognition/child/tesseract.ts";
import { UnusableData } from "../../../src/engine/recognition/child/unusable-data.ts";
import { limitMemory } from "../../../src/engine/recognition/child/wasm-memory.ts";
import { wordsOf } from "../../../src/engine/recognition/child/tsv.ts";
import { linesOf } from "../../../src/recognition/lines.ts";
import { drawn } from "../../support/pages.ts";
import { sharedFolder } from "../../support/folders.ts";
import { english, NO_ENGLISH, NO_LIBRARY, tesseractLibrary } from "../../support/tessdata.ts";

setDefaultTimeout(120_000);

const load = (options: Partial<TesseractOptions> = {}) => Tesseract.load({ progress() {}, warn: throwIt, ...options });
const throwIt = (warning: string) => {
  throw new Error(warning);
};
const folder = sharedFolder();
const task = english ?? { languages: [], level: "accurate", correction: true };

describe.skipIf(!english)(`Tesseract as WebAssembly (${NO_ENGLISH})`, () => tests({}));
describe.skipIf(!english || !tesseractLibrary)(`Tesseract as a native library (${NO_LIBRARY})`, () => {
  tests(tesseractLibrary === undefined ? {} : { library: tesseractLibrary });
});

function tests(options: Pick<TesseractOptions, "library">): void {
  test("reads lines with their positions, and continues to work after it was stopped midway", async () => {
    const lines = ["The first line of a page", "and 2 more, (in brackets).", "A last one."];
    const picture = await drawn({ lines, size: 16 });
    const stop = new Error("nobody waits");
    let left = Number.POSITIVE_INFINITY;
    const progress = () => {
      if (left-- === 0) throw stop;
    };
    const tesseract = await load({ ...options, progress });
    const words = await tesseract.words(picture, 150, task);
    const read = linesOf(words);
    expect(read.map(({ text }) => text)).toEqual(lines);
    expect(Math.min(...words.map(({ confidence }) => confidence))).toBeGreaterThan(0.8);
    // At 150 dots per inch, 60 points are 125 pixels.
    for (const [at, { box }] of read.entries()) {
      expect(Math.abs(box.x - 125)).toBeLessThan(8);
      expect(Math.abs(box.y - (128 + at * 46.7))).toBeLessThan(12);
    }
    left = 1;
    expect(await tesseract.words(picture, 150, task).catch((error: unknown) => error)).toBe(stop);
    left = Number.POSITIVE_INFINITY;
    expect(linesOf(await tesseract.words(picture, 150, task)).map(({ text }) => text)).toEqual(lines);
  });

  test("finds words in a picture that is not a page, and none in one without words", async () => {
    const tesseract = await load(options);
    const sign = await drawn({ lines: ["EXIT"], size: 30, paper: [200, 150] });
    expect((await tesseract.words(sign, 150, task)).map(({ text }) => text)).toEqual(["EXIT"]);
    const blank = await drawn({ lines: [], paper: [200, 150] });
    expect(await tesseract.words(blank, 150, task)).toEqual([]);
  });

  test("reports damaged data of a language", async () => {
    const tesseract = await load(options);
    const damaged = { ...task, languages: [{ name: "xyz", path: import.meta.path }] };
    const picture = await drawn({ lines: ["a"], paper: [100, 50] });
    const failure = await tesseract.words(picture, 150, damaged).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(UnusableData);
    expect(String(failure)).toContain(import.meta.path);
  });

  test("reads parts of a picture, without dictionaries, with data of several folders, named as they may be", async () => {
    const other = join(folder, "other.traineddata");
    const [{ path } = { path: "" }] = task.languages;
    copyFileSync(path, other);
    const languages = [
      { name: "eng", path: relative(process.cwd(), path) },
      { name: "other", path: other },
    ];
    const picture = await drawn({ lines: ["First line", "Second line"], size: 16, paper: [200, 150] });
    const parts = [
      { x: 100, y: 125, width: 300, height: 45 },
      { x: 100, y: 172, width: 300, height: 45 },
    ];
    const tesseract = await load(options);
    const read = await tesseract.blocks(picture, 150, { ...task, languages, correction: false }, parts);
    expect(read.map((words) => words.map(({ text }) => text).join(" "))).toEqual(["First line", "Second line"]);
  });

  test("survives damage by which Tesseract ends its process", async () => {
    const content = readFileSync(task.languages[0]?.path ?? "");
    // The first of the parts that the header lists, the network, begins at byte 196.
    content.fill(0xff, 196, 216);
    const path = join(folder, "xyz.traineddata");
    writeFileSync(path, content);
    const tesseract = await load(options);
    const picture = await drawn({ lines: ["a"], paper: [100, 50] });
    const damaged = { ...task, languages: [{ name: "xyz", path }] };
    await expect(tesseract.words(picture, 150, damaged)).rejects.toBeInstanceOf(UnusableData);
  });
}

test.skipIf(!english)(
  `a library that cannot be loaded is named, and WebAssembly reads the page (${NO_ENGLISH})`,
  async () => {
    const warnings: string[] = [];
    const tesseract = await load({ library: import.meta.path, warn: (text) => warnings.push(text) });
    expect(warnings).toEqual([expect.stringContaining(import.meta.path)]);
    const words = await tesseract.words(await drawn({ lines: ["One line."], paper: [200, 150] }), 150, task);
    expect(words.map(({ text }) => text)).toEqual(["One", "line."]);
  },
);

test("Tesseract's rows become words with the numbers of their lines and blocks", () => {
  const row = (...cells: (string | number)[]) => cells.join("\t");
  const tsv = [
    row(1, 1, 0, 0, 0, 0, 0, 0, 100, 50, -1, ""),
    row(4, 1, 1, 1, 1, 0, 5, 5, 90, 10, -1, ""),
    row(5, 1, 1, 1, 1, 1, 5, 5, 40, 10, 96.5, "one"),
    row(5, 1, 1, 1, 1, 2, 50, 5, 40, 10, 95, " "),
    row(5, 1, 1, 1, 2, 1, 5, 20, 40, 10, 50, "two"),
    row(5, 1, 1, 2, 1, 1, 5, 40, 40, 10, -3, "three"),
    row(5, 1, 2, 2, 1, 1, 5, 60, 40, 10, 100, "four"),
    "",
  ].join("\n");
  const summary = wordsOf(tsv).map(({ text, confidence, box, line, block }) => [text, confidence, box.y, line, block]);
  expect(summary).toEqual([
    ["one", 0.965, 5, 0, 0],
    ["two", 0.5, 20, 1, 0],
    ["three", 0, 40, 2, 1],
    ["four", 1, 60, 3, 2],
  ]);
});

describe("a module's memory", () => {
  /** A module with one memory of 1 to 32,768 pages, and a function that grows it. */
  const module = Uint8Array.from(Buffer.from("0061736d010000000506010101808002070501016d0200", "hex"));
  const grow = async (bytes: Uint8Array<ArrayBuffer>, pages: number) => {
    const { instance } = await WebAssembly.instantiate(bytes, {});
    return (instance.exports["m"] as WebAssembly.Memory).grow(pages);
  };

  test("grows up to the limit and no further", async () => {
    const limited = limitMemory(module, 4 * 65_536);
    expect(await grow(limited, 3)).toBe(1);
    await expect(grow(limited, 4)).rejects.toThrow(RangeError);
    expect(await grow(module, 4)).toBe(1);
  });

  test("that cannot be limited is an error", () => {
    expect(() => limitMemory(module, 3 * 2 ** 30)).toThrow("cannot be limited");
    expect(() => limitMemory(module.subarray(0, 8), 65_536)).toThrow("no memory");
    expect(() => limitMemory(module.subarray(0, 14), 65_536)).toThrow("cut off");
  });
});

test("a page fails when there is no memory for Tesseract", async () => {
  const tesseract = await load();
  const full = new RangeError("no memory");
  const instantiate = spyOn(WebAssembly, "instantiate").mockRejectedValueOnce(full);
  const task = { languages: [], level: "accurate", correction: true } as const;
  const failure = await tesseract.words(await drawn({ lines: [], paper: [20, 20] }), 150, task).catch((error) => error);
  instantiate.mockRestore();
  expect(failure).toBe(full);
});
