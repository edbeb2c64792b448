// Pages as they are: turned, on a ground, with tables, of a document with text and without.

import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Box, RecognitionTask, TextTask } from "../../../src/domain/recognition.ts";
import { Documents } from "../../../src/engine/recognition/child/documents.ts";
import { PageReader } from "../../../src/engine/recognition/child/page-reader.ts";
import { Tesseract } from "../../../src/engine/recognition/child/tesseract.ts";
import { TooLong } from "../../../src/engine/recognition/child/watch.ts";
import { decodeImage } from "../../../src/media/image.ts";
import { defaultMediaLimits } from "../../../src/media/limits.ts";
import { writeBmp } from "../../../src/media/pixels.ts";
import type { Bitmap } from "../../../src/recognition/bitmap.ts";
import { sharedFolder } from "../../support/folders.ts";
import { drawn, pdfOf, pngOf, type PdfPage } from "../../support/pages.ts";
import { english, NO_ENGLISH } from "../../support/tessdata.ts";

setDefaultTimeout(120_000);
const folder = sharedFolder();
let count = 0;
function file(content: Uint8Array): string {
  const path = join(folder, String(++count));
  writeFileSync(path, content);
  return path;
}

const ROWS = [
  ["Item", "Count", "Price"],
  ["Apples", "12", "3.50"],
  ["Pears", "7", "2.10"],
];
const CELL = { width: 150, height: 30, x: 80, top: 600 };

/** A heading, and a table with rules below it. */
function tablePage(): PdfPage {
  const { width, height, x, top } = CELL;
  const line = (x0: number, y0: number, x1: number, y1: number) => `${x0} ${y0} m ${x1} ${y1} l S`;
  const level = Array.from({ length: ROWS.length + 1 }, (_, at) =>
    line(x, top - at * height, x + 3 * width, top - at * height),
  );
  const plumb = [0, 1, 2, 3].map((at) => line(x + at * width, top, x + at * width, top - ROWS.length * height));
  const cells = ROWS.flatMap((row, down) =>
    row.map((text, at) => `BT /F1 14 Tf ${x + at * width + 10} ${top - down * height - 20} Td (${text}) Tj ET`),
  );
  return { lines: ["What there is in stock:"], drawing: [...level, ...plumb, ...cells].join("\n") };
}

const upsideDown = (bitmap: Bitmap): Bitmap => ({ ...bitmap, data: bitmap.data.toReversed() });

/** On a larger dark ground. */
function photographed({ width, height, data }: Bitmap, margin: number): Bitmap {
  const [across, down] = [width + 2 * margin, height + 2 * margin];
  const ground = new Uint8Array(across * down).fill(60);
  for (let y = 0; y < height; y++)
    ground.set(data.subarray(y * width, (y + 1) * width), (y + margin) * across + margin);
  return { width: across, height: down, data: ground };
}

const blocks = () => Promise.reject(new Error("no cells are wanted"));
const word = (text: string, x: number, y: number) => ({
  text,
  confidence: 1,
  box: { x, y, width: 60, height: 30 },
  line: 0,
  block: 0,
});

const barcodes = () => Promise.reject(new Error("no codes are wanted"));
let tesseract: Tesseract;
let reader: PageReader;
beforeAll(async () => {
  tesseract = await Tesseract.load({ progress() {}, warn() {} });
  reader = new PageReader({ documents: new Documents(), tesseract, barcodes, check() {} });
});

const read = (content: Uint8Array, task: RecognitionTask) =>
  reader.read({ id: ++count, path: file(content), field: "file" }, 1, task);
const textsOf = ({ lines }: { readonly lines: readonly { readonly text: string }[] }) => lines.map(({ text }) => text);

describe.skipIf(!english)(`pages (${NO_ENGLISH})`, () => {
  const text = english ?? { languages: [], level: "accurate", correction: true };

  test("with a table give its cells, out of a picture and out of the document itself", async () => {
    const [picture, document] = [await pngOf(await drawn(tablePage(), 200)), pdfOf([tablePage()])];
    for (const [content, source] of [[picture, "recognition"] as const, [document, "text"] as const]) {
      const page = await read(content, { text, tables: true });
      expect(page.source).toBe(source);
      expect(page.tables.map(({ rows }) => rows)).toEqual([ROWS]);
      expect(page.tables[0]?.headers).toEqual(ROWS[0] ?? []);
      const { x = 0, y = 0, width = 0, height = 0 } = page.tables[0]?.box ?? {};
      const shares = [x / page.width, y / page.height, width / page.width, height / page.height];
      for (const [at, share] of [80 / 595, 242 / 842, 450 / 595, 90 / 842].entries()) {
        expect(Math.abs((shares[at] ?? 0) - share)).toBeLessThan(0.01);
      }
    }
    expect((await read(document, { text })).tables).toEqual([]);
  });

  test.each([
    ["upwards", "0 1 -1 0 700 50", 0, [100, 262, 90, 450]],
    ["downwards", "0 -1 1 0 -400 700", 0, [110, 222, 90, 450]],
    ["upside down", "-1 0 0 -1 600 800", 0, [70, 552, 450, 90]],
    ["downwards, by the viewer", "1 0 0 1 0 0", 1, [510, 80, 90, 450]],
    ["upright, by the viewer", "0 1 -1 0 700 50", 1, [130, 100, 450, 90]],
  ] as const)("with a table whose text runs %s have its rows as they are read", async (_, matrix, turns, box) => {
    const { drawing = "" } = tablePage();
    const page = await read(pdfOf([{ lines: [], drawing: `q ${matrix} cm\n${drawing}\nQ`, turns }]), {
      text,
      tables: true,
    });
    expect(page.tables.map(({ rows }) => rows)).toEqual([ROWS]);
    const { x = 0, y = 0, width = 0, height = 0 } = page.tables[0]?.box ?? {};
    for (const [at, value] of [x, y, width, height].entries()) expect(Math.abs(value - (box[at] ?? 0))).toBeLessThan(2);
  });

  test("with more words than anybody reads are refused at once, and with as many as that are read", async () => {
    const page = (rows: number) => {
      const lines = Array.from({ length: rows }, (_, at) => `60 ${780 - 2 * at} Td (${"7 ".repeat(100)}) Tj`);
      // The spaces are wide, so that each word is a cell.
      return pdfOf([{ lines: [], drawing: lines.map((line) => `BT /F1 1 Tf 3 Tw ${line} ET`).join("\n") }]);
    };
    const { lines, tables } = await read(page(200), { text, tables: true });
    expect(lines).toHaveLength(200);
    expect(tables.map(({ rows, columnCount }) => [rows.length, columnCount])).toEqual([[200, 100]]);
    let isStarted = false;
    const check = () => {
      if (isStarted) throw new TooLong(0);
      isStarted = true;
    };
    const hurried = new PageReader({ documents: new Documents(), tesseract, barcodes, check });
    const many = { id: ++count, path: file(page(201)), field: "file" };
    await expect(hurried.read(many, 1, { text, tables: true })).rejects.toMatchObject({
      code: "unprocessable_media",
      message: "'file' must have pages of at most 20000 words; got one of 20100.",
    });
    expect((await read(page(201), {})).lines).toEqual([]);
  });

  test("upside down are read, with boxes where things are on the page as it came", async () => {
    const lines = [
      "The quick brown fox jumps over the lazy dog,",
      "and the seven wizards quietly examine",
      "every ancient manuscript below this library,",
      "before winter arrives with heavy snow.",
    ];
    const page = await read(await pngOf(upsideDown(await drawn({ lines, size: 14, paper: [450, 250] }, 300))), {
      text,
    });
    expect(textsOf(page)).toEqual(lines);
    const [first, last] = [page.lines[0]?.box, page.lines.at(-1)?.box];
    expect(first?.y ?? 0).toBeGreaterThan(last?.y ?? 0);
    expect(page.notes.join()).toContain("turned by 180°");
  });

  test("on a ground are read without what is around them", async () => {
    const sheet = await drawn({ lines: ["Only this sheet", "is to be read."], size: 20, paper: [300, 200] }, 200);
    const photograph = await pngOf(photographed(sheet, 120));
    const page = await read(photograph, { text, crop: true });
    expect(textsOf(page)).toEqual(["Only this sheet", "is to be read."]);
    expect(page.notes.join()).toContain("cropped");
    // 60 points of 200 dots an inch behind the margin.
    expect(Math.abs((page.lines[0]?.box.x ?? 0) - (120 + 167))).toBeLessThan(15);
  });
});

test("a table without rules that was read column by column is read again, as lines", async () => {
  const rows = [
    ["Item", "", "Price"],
    ["Rope", "", "$3.10"],
    ["Shelf", "", "$99.00"],
  ];
  const columns = (texts: readonly (readonly string[])[], line: (row: number, column: number) => number) =>
    [0, 1, 2].flatMap((column) =>
      texts.flatMap((row, at) => {
        const text = row[column] ?? "";
        return text === "" ? [] : [{ ...word(text, 200 + 300 * column, 300 + 60 * at), line: line(at, column) }];
      }),
    );
  const whole = [
    ["Item", "Count", "Price"],
    ["Rope", "4", "$3.10"],
    ["Shelf", "7", "$99.00"],
  ];
  const asked: (readonly Box[])[] = [];
  const tesseract = {
    words: async () => columns(rows, (row, column) => 3 * column + row),
    blocks: async (_: Bitmap, __: number, ___: TextTask, parts: readonly Box[]) => {
      asked.push(parts);
      return [columns(whole, (row) => row)];
    },
  };
  const again = new PageReader({ documents: new Documents(), tesseract, barcodes, check() {} });
  const ink = "60 660 320 90 re f";
  const path = file(await pngOf(await drawn({ lines: [], drawing: ink }, 200)));
  const read = (level: "accurate" | "fast") =>
    again.read({ id: ++count, path, field: "file" }, 1, { text: { languages: [], level, correction: true } });
  expect(textsOf(await read("fast"))).toEqual(["Item Price", "Rope $3.10", "Shelf $99.00"]);
  expect(asked).toEqual([]);
  expect(textsOf(await read("accurate"))).toEqual(["Item Count Price", "Rope 4 $3.10", "Shelf 7 $99.00"]);
  expect(asked.map((parts) => parts.length)).toEqual([1]);
});

test("the cells of drawn tables are read one by one, unless nothing is found so", async () => {
  const texts = ["A-1", "", "C-3"];
  const asked: number[] = [];
  const tesseract = {
    words: async () => [word("A1", 250, 690), word("B2", 670, 690)],
    blocks: async (_: Bitmap, __: number, ___: TextTask, parts: readonly Box[]) => {
      asked.push(parts.length);
      return parts.map((part, at) => (texts[at] ? [{ ...word(texts[at], 0, 0), box: part }] : []));
    },
  };
  const separate = new PageReader({ documents: new Documents(), tesseract, barcodes, check() {} });
  const path = file(await pngOf(await drawn(tablePage(), 200)));
  const text = { languages: [], level: "accurate", correction: true } as const;
  const tables = async (task: RecognitionTask) =>
    (await separate.read({ id: ++count, path, field: "file" }, 1, task)).tables.map(({ rows }) => rows);
  expect(await tables({ text, tables: true })).toEqual([
    [
      ["A-1", "B2", "C-3"],
      ["", "", ""],
      ["", "", ""],
    ],
  ]);
  expect(asked).toEqual([9]);
  await tables({ text });
  await tables({ text: { ...text, level: "fast" }, tables: true });
  expect(asked).toEqual([9]);
});

test("a picture that does not say its resolution is read at one that suits its letters", async () => {
  const given: number[] = [];
  const tesseract = { words: async (_: Bitmap, dotsPerInch: number) => (given.push(dotsPerInch), []), blocks };
  const fitted = new PageReader({ documents: new Documents(), tesseract, barcodes, check() {} });
  const text = { languages: [], level: "accurate", correction: true } as const;
  for (const size of [18, 36]) {
    const page = await drawn({ lines: ["Letters of some size", "in two lines of text"], size, paper: [500, 200] }, 150);
    const path = file(await pngOf(page));
    await fitted.read({ id: ++count, path, field: "file" }, 1, { text });
  }
  const [small = 0, large = 0] = given;
  expect(small).toBeGreaterThan(70);
  expect(large / small).toBeGreaterThan(1.6);
  expect(large).toBeLessThan(600);
});

test("fast reads a page once, as large as it is", async () => {
  const page = upsideDown(
    await drawn({ lines: Array.from({ length: 9 }, () => "A line of small print"), size: 8, paper: [200, 200] }, 72),
  );
  const content = await pngOf(page);
  const widths = async (level: "accurate" | "fast") => {
    const found: number[] = [];
    const tesseract = { words: async ({ width }: Bitmap) => (found.push(width), []), blocks };
    const small = new PageReader({ documents: new Documents(), tesseract, barcodes, check() {} });
    const text = { languages: [], level, correction: true } as const;
    await small.read({ id: ++count, path: file(content), field: "file" }, 1, { text });
    return found;
  };
  const [enlarged = 0, unturned] = await widths("accurate");
  expect(enlarged).toBeGreaterThan(300);
  expect(unturned).toBe(200);
  expect(await widths("fast")).toEqual([200]);
});

test("a turned sheet that is hard to read is not read together with what is around it", async () => {
  const lines = Array.from({ length: 9 }, () => "A line of print on a sheet");
  const sheet = upsideDown(await drawn({ lines, size: 14, paper: [300, 300] }, 150));
  const path = file(await pngOf(photographed(sheet, 120)));
  const tesseract = { words: async () => [], blocks };
  const hard = new PageReader({ documents: new Documents(), tesseract, barcodes, check() {} });
  const text = { languages: [], level: "accurate", correction: true } as const;
  const { notes } = await hard.read({ id: ++count, path, field: "file" }, 1, { text, crop: true });
  expect(notes.join()).toMatch(/turned by -?180°, cropped/);
  expect(notes.join()).not.toContain("as it came");
});

test("the words of a sheet that is read again as it came are counted too", async () => {
  const lines = Array.from({ length: 9 }, () => "A line of small print");
  const path = file(await pngOf(upsideDown(await drawn({ lines, size: 8, paper: [200, 200] }, 72))));
  const doubtful = [{ ...word("A", 0, 0), confidence: 0.1 }];
  const readings = [doubtful, Array.from({ length: 20_001 }, () => word("A", 0, 0))];
  const tesseract = { words: async () => readings.shift() ?? [], blocks };
  const counted = new PageReader({ documents: new Documents(), tesseract, barcodes, check() {} });
  const text = { languages: [], level: "accurate", correction: true } as const;
  await expect(counted.read({ id: ++count, path, field: "file" }, 1, { text })).rejects.toThrow(
    "'file' must have pages of at most 20000 words; got one of 20001.",
  );
});

test("a page comes as a picture that a model takes, whatever the document is", async () => {
  const shown = async (content: Uint8Array) => {
    const { picture } = await read(content, { picture: true });
    const { format, width, height } = await new Bun.Image(picture ?? new Uint8Array()).metadata();
    return [format, width, height];
  };
  expect(await shown(pdfOf([{ lines: ["A letter"] }]))).toEqual(["png", 723, 1024]);
  const fixtures = join(import.meta.dir, "../../fixtures/pictures");
  for (const name of ["plain.heic", "pages.tiff"]) {
    expect(await shown(await Bun.file(join(fixtures, name)).bytes())).toEqual(["png", 64, 32]);
  }
  const red = await read(await redPng(), { picture: true });
  const { rgb } = await decodeImage(
    red.picture ?? new Uint8Array(),
    1024,
    defaultMediaLimits,
    new AbortController().signal,
  );
  expect([...rgb.subarray(0, 3)]).toEqual([255, 0, 0]);
  expect(await read(await redPng(), {})).not.toHaveProperty("picture");
});

async function redPng(): Promise<Uint8Array> {
  const rgb = Uint8Array.from({ length: 300 }, (_, at) => (at % 3 === 0 ? 255 : 0));
  const bmp = await writeBmp({ width: 10, height: 10, rgb }, new AbortController().signal);
  return new Bun.Image(bmp).png().bytes();
}

test("what stands out has its place, and a map as a PNG file", async () => {
  const spot = "1 0 0 rg 400 600 80 80 re f";
  const content = await pngOf(await drawn({ lines: [], drawing: spot }, 72));
  for (const type of ["attention", "objectness"] as const) {
    const { saliency, width, height } = await read(content, { saliency: { type, heatMap: true } });
    const [region] = saliency?.regions ?? [];
    const middle = region && [(region.x + region.width / 2) / width, (region.y + region.height / 2) / height];
    expect(Math.abs((middle?.[0] ?? 0) - 440 / 595)).toBeLessThan(0.05);
    expect(Math.abs((middle?.[1] ?? 0) - 202 / 842)).toBeLessThan(0.05);
    const map = new Bun.Image(saliency?.heatMap ?? new Uint8Array());
    expect((await map.metadata()).format).toBe("png");
    expect((await read(content, { saliency: { type, heatMap: false } })).saliency).not.toHaveProperty("heatMap");
  }
});
