// The sources of pages: pictures of every format, and PDF documents.

import { describe, expect, spyOn, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SvcError } from "../../../src/domain/errors.ts";
import type { DocumentPage } from "../../../src/engine/recognition/child/document.ts";
import { Documents } from "../../../src/engine/recognition/child/documents.ts";
import { Pdfium } from "../../../src/engine/recognition/child/pdfium.ts";
import { Stopped, TooLong } from "../../../src/engine/recognition/child/watch.ts";
import { linesOf } from "../../../src/recognition/lines.ts";
import { paletteBmp } from "../../media/files.ts";
import { sharedFolder } from "../../support/folders.ts";
import { bmpOf, drawn, pdfOf, pdfOfObjects, pdfStream, pngOf } from "../../support/pages.ts";

const pictures = join(import.meta.dir, "../../fixtures/pictures");
const folder = sharedFolder();

const documents = new Documents();
let count = 0;

/** Writes a file with this content and returns its path. */
function file(content: Uint8Array): string {
  const path = join(folder, String(++count));
  writeFileSync(path, content);
  return path;
}
/** Returns the file in the field `data`; the same path always gives the same id. */
const of = (path: string, field = "data") => ({ id: Bun.hash.crc32(path), path, field });
const page = <T>(path: string, number: number, use: (page: DocumentPage) => Promise<T>) =>
  documents.read(of(path), number, use);
const picture = (path: string, number = 1) => page(path, number, async (one) => (await one.picture(150)).bitmap);
/** Returns code, field and message of a failure; rethrows errors that are not the document's. */
const failure = (work: Promise<unknown>): Promise<"none" | readonly (string | undefined)[]> =>
  work.then(
    () => "none" as const,
    (error: unknown) => {
      if (!(error instanceof SvcError)) throw error;
      return [error.code, error.details.param, error.message];
    },
  );

/** Returns which quarters of a picture are dark: upper left, upper right, lower left. */
async function dark(path: string, number = 1): Promise<string[]> {
  const { width, height, data } = await picture(path, number);
  const at = (x: number, y: number) => data[Math.floor(y * height) * width + Math.floor(x * width)] as number;
  const quarters = { left: at(0.2, 0.2), right: at(0.8, 0.2), below: at(0.2, 0.6) };
  return Object.entries(quarters).flatMap(([name, grey]) => (grey < 60 ? [name] : []));
}

describe("pictures", () => {
  const size = async (path: string, number = 1) => {
    const { width, height } = await picture(path, number);
    return [width, height];
  };

  test.each(readdirSync(pictures).filter((name) => !name.startsWith("turned")))("%s is decoded", async (name) => {
    const path = join(pictures, name);
    expect(await documents.count(of(path, "data"))).toBe(name === "pages.tiff" ? 3 : 1);
    expect(await size(path)).toEqual([64, 32]);
    expect(await dark(path)).toEqual(["left"]);
  });

  test.each(["turned.jpg", "turned.tiff"])("%s is turned upright", async (name) => {
    expect(await size(join(pictures, name))).toEqual([32, 64]);
    expect(await dark(join(pictures, name))).toEqual(["right"]);
  });

  test("every page of a TIFF file is read", async () => {
    const path = join(pictures, "pages.tiff");
    expect([await size(path, 2), await size(path, 3)]).toEqual([
      [32, 64],
      [16, 16],
    ]);
    expect(await dark(path, 3)).toEqual(["left"]);
  });

  test("formats that Bun decodes are read unchanged", async () => {
    const bitmap = await drawn({ lines: ["abc"], paper: [100, 60] });
    const image = async () => new Bun.Image(await bmpOf(bitmap));
    const files = [
      await bmpOf(bitmap),
      await pngOf(bitmap),
      await (await image()).webp({ quality: 100 }).bytes(),
      await (await image()).jpeg({ quality: 95 }).bytes(),
    ];
    for (const content of files) {
      const { width, height, data } = await picture(file(content));
      expect([width, height]).toEqual([bitmap.width, bitmap.height]);
      const off = data.filter((grey, at) => Math.abs(grey - (bitmap.data[at] as number)) > 40).length;
      expect(off).toBeLessThan(20);
    }
  });

  test("a BMP with a palette is read like others", async () => {
    const [dark, light] = [
      [20, 20, 20],
      [250, 250, 250],
    ] as const;
    const content = paletteBmp([64, 32], 1, [light, dark], (x) => (x < 32 ? 1 : 0));
    const { width, height, data } = await picture(file(content));
    expect([width, height, data[0], data[63]]).toEqual([64, 32, 20, 250]);
  });

  test("a picture larger than 4096 pixels per side is refused before it is decoded", async () => {
    const png = Buffer.from(await pngOf(await drawn({ lines: [], paper: [50, 50] })));
    for (const width of [4097, 70_000]) {
      png.writeUInt32BE(width, 16);
      expect(await failure(picture(file(png)))).toEqual([
        "unprocessable_media",
        "data",
        `'data' must be at most 4096 pixels a side; got ${width} × 104 pixels.`,
      ]);
    }
  });

  test("damaged pictures are refused, and the next picture is read as usual", async () => {
    const whole = readdirSync(pictures).map((name) => readFileSync(join(pictures, name)));
    for (const content of whole) {
      const cut = content.subarray(0, Math.floor(content.length * 0.6));
      const refused = await failure(documents.count(of(file(cut), "data")).then(() => picture(file(cut))));
      // A cut after the pixels does no harm.
      if (refused !== "none") expect(refused.slice(0, 2)).toEqual(["unprocessable_media", "data"]);
    }
    expect(await dark(join(pictures, "plain.heic"))).toEqual(["left"]);
  });

  test("a file of another kind is refused with the name of its kind", async () => {
    expect(await failure(documents.count(of(file(Buffer.from("PK\x03\x04zip")), "data")))).toEqual([
      "unsupported_media_input",
      "data",
      "'data' must be a PNG, JPEG, WebP, GIF, BMP, TIFF or HEIC image or a PDF document; got a ZIP archive.",
    ]);
  });
});

describe("PDF documents", () => {
  const lines = ["The first line (of two),", "and the second."];
  const linesAt = (path: string, number = 1) => page(path, number, async ({ words }) => linesOf(words));

  test("yield their own text with positions from the upper left", async () => {
    const path = file(pdfOf([{ lines }, { lines: ["Another page"], paper: [300, 200] }]));
    expect(await documents.count(of(path, "data"))).toBe(2);
    const read = await linesAt(path);
    expect(read.map(({ text }) => text)).toEqual(lines);
    for (const [at, { box }] of read.entries()) {
      expect(Math.abs(box.x - 60)).toBeLessThan(2);
      expect(Math.abs(box.y - (62 + at * 19.6))).toBeLessThan(4);
    }
    expect((await linesAt(path, 2)).map(({ text }) => text)).toEqual(["Another page"]);
    // The same page again, also drawn after its text was read.
    expect((await linesAt(path)).map(({ text }) => text)).toEqual(lines);
    const drawnPage = await page(path, 1, async (one) => [one.words.length, (await one.picture(144)).bitmap.width]);
    expect(drawnPage).toEqual([8, 1190]);
  });

  test("are read again when another file has replaced them", async () => {
    const path = file(pdfOf([{ lines: ["One"] }]));
    const read = (id: number) => documents.read({ id, path, field: "file" }, 1, async ({ words }) => words[0]?.text);
    expect(await read(1)).toBe("One");
    writeFileSync(path, pdfOf([{ lines: ["Two"] }]));
    expect([await read(1), await read(2)]).toEqual(["One", "Two"]);
    documents.close();
    expect(await read(2)).toBe("Two");
  });

  test("are read as viewers rotate them", async () => {
    const path = file(pdfOf([{ lines: ["Turned"], turns: 1, paper: [300, 200] }]));
    const { size, box } = await page(path, 1, async ({ width, height, words }) => ({
      size: [width, height],
      box: words[0]?.box,
    }));
    expect(size).toEqual([200, 300]);
    // The line runs down the right side.
    expect(box && box.height > box.width).toBe(true);
    expect(box?.x ?? 0).toBeGreaterThan(100);
  });

  test("are read as pictures when their text is little more than a stamp on a scan", async () => {
    const image = "q 400 0 0 600 90 100 cm BI /W 2 /H 2 /CS /G /BPC 8 ID \x80\x80\x80\x80 EI Q";
    const scan = file(pdfOf([{ lines: ["Page 7"], drawing: image }]));
    expect(await page(scan, 1, async ({ words }) => words)).toEqual([]);
    const letter = file(pdfOf([{ lines: ["Page 7"], drawing: image.replace("400 0 0 600", "40 0 0 60") }]));
    expect((await linesAt(letter)).map(({ text }) => text)).toEqual(["Page 7"]);
  });

  describe("with a court's header line on a scan", () => {
    const line = "Case 1:20-cv-01234-ABC Document 12-3 Filed 01/02/21 Page 4 of 20";
    const pixels = "/W 2 /H 2 /CS /G /BPC 8";
    const image = (place: string) => `q ${place} cm BI ${pixels} ID \x80\x80\x80\x80 EI Q`;
    const wordsOf = (content: Uint8Array) => page(file(content), 1, async ({ words }) => words.length);

    test("are read as pictures, in one piece or in strips", async () => {
      const strips = Array.from({ length: 8 }, (_, at) => image(`500 0 0 80 40 ${20 + 80 * at}`)).join("\n");
      for (const drawing of [image("500 0 0 640 40 20"), strips]) {
        expect(await wordsOf(pdfOf([{ lines: [line], size: 10, drawing }]))).toBe(0);
      }
    });

    test("also when the scan is nested in forms", async () => {
      const form = (content: string, more: string) =>
        pdfStream(Buffer.from(content, "latin1"), `/Type /XObject /Subtype /Form /BBox [0 0 1000 1000] ${more}`);
      const scan = (width: number) => [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [100 100 695 942] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> /XObject << /A 6 0 R >> >> >>",
        pdfStream(Buffer.from(`/A Do BT /F1 10 Tf 160 900 Td (${line}) Tj ET`)),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Times-Roman >>",
        form(`q 0.5 0 0 0.5 100 100 cm /B Do Q`, "/Matrix [2 0 0 2 0 0] /Resources << /XObject << /B 7 0 R >> >>"),
        form(image(`${width} 0 0 700 0 0`), ""),
      ];
      expect(await wordsOf(pdfOfObjects(scan(500)))).toBe(0);
      expect(await wordsOf(pdfOfObjects(scan(100)))).toBe(10);
    });

    test("but not when there is other text next to the picture", async () => {
      const text = Array.from({ length: 12 }, () => "Words of a report that has a large picture on its page.");
      expect(await wordsOf(pdfOf([{ lines: text, drawing: image("500 0 0 640 40 20") }]))).toBe(144);
    });
  });

  test("include text typed into their forms, and visible comments", async () => {
    const typed = { box: "", looks: "/AP << /N 7 0 R >>", inherited: "/MediaBox [0 0 595 842]" };
    const untold = { box: "/MediaBox [0 0 595 842] /Rotate 90", looks: "", inherited: "" };
    for (const { box, looks, inherited } of [typed, untold]) {
      const form = pdfOfObjects([
        `<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [6 0 R] /DR << /Font << /F1 5 0 R >> >> /NeedAppearances true >> >>`,
        `<< /Type /Pages /Kids [3 0 R] /Count 1 ${inherited} >>`,
        `<< /Type /Page /Parent 2 0 R ${box} /Contents 4 0 R /Annots [9 0 R 6 0 R 8 0 R] /Resources << /Font << /F1 5 0 R >> >> >>`,
        pdfStream(Buffer.from("BT /F1 12 Tf 60 700 Td (Name:) Tj ET")),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        `<< /Type /Annot /Subtype /Widget /FT /Tx /T (name) /V (Ada Lovelace) /DA (/F1 12 Tf 0 g) /F 4 /Rect [120 695 320 715] ${looks} >>`,
        pdfStream(
          Buffer.from("/Tx BMC BT /F1 12 Tf 0 g 2 5 Td (Ada Lovelace) Tj ET EMC"),
          "/Type /XObject /Subtype /Form /BBox [0 0 200 20] /Resources << /Font << /F1 5 0 R >> >>",
        ),
        "<< /Type /Annot /Subtype /FreeText /Contents (Approved) /DA (/F1 12 Tf 0 g) /F 4 /Rect [60 500 320 540] >>",
        "<< /Type /Annot /Subtype /Link /Rect [60 500 320 540] >>",
      ]);
      const path = file(form);
      const read = () =>
        page(path, 1, async ({ width, height, words }) => ({
          size: [width, height],
          texts: words.map(({ text }) => text),
          words,
        }));
      const { size, texts, words } = await read();
      expect(texts).toEqual(["Name:", "Ada", "Lovelace", "Approved"]);
      expect(size).toEqual(looks ? [595, 842] : [842, 595]);
      if (looks) {
        expect(Math.abs((words[1]?.box.x ?? 0) - 122)).toBeLessThan(2);
        expect(Math.abs((words[1]?.box.y ?? 0) - 132)).toBeLessThan(5);
      }
      expect((await read()).texts).toEqual(texts);
    }
  });

  test("are read when an annotation refers to its own appearance", async () => {
    const stamp = pdfOfObjects([
      "<< /Type /Catalog /Pages 2 0 R >>",
      "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
      "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Annots [5 0 R 5 0 R] >>",
      pdfStream(new Uint8Array()),
      "<< /Type /Annot /Subtype /Stamp /Rect [0 0 595 842] /AP << /N 6 0 R >> >>",
      pdfStream(
        Buffer.from("/F Do"),
        "/Type /XObject /Subtype /Form /BBox [0 0 595 842] /Resources << /XObject << /F 6 0 R >> >>",
      ),
    ]);
    expect(await linesAt(file(stamp))).toEqual([]);
  });

  test("keep two lines where a word is divided at the end of the first", async () => {
    const lines = ["This is about soft-", "ware and its makers."];
    const read = await linesAt(file(pdfOf([{ lines, size: 14 }])));
    expect(read.map(({ text }) => text)).toEqual(lines);
    for (const { box } of read) expect(box.height).toBeLessThan(20);
  });

  test.each([
    ["upright", "", 0],
    ["upwards", "0 1 -1 0 842 0 cm", 0],
    ["upside down", "-1 0 0 -1 550 800 cm", 0],
    ["upside down by the viewer", "", 2],
  ])("are split into blocks where lines are far apart: %s", async (_, drawing, turns) => {
    const path = file(pdfOf([{ lines: ["One", "one", "", "", "Two"], drawing, turns }]));
    expect((await linesAt(path)).map(({ text, block }) => [text, block])).toEqual([
      ["One", 0],
      ["one", 0],
      ["Two", 1],
    ]);
  });

  test("of any size are rendered within limits", async () => {
    const path = file(pdfOf([{ lines: ["Large"], paper: [14_400, 7200] }]));
    const { bitmap, dotsPerInch, scale } = await page(path, 1, (one) => one.picture(300));
    expect([bitmap.width, bitmap.height, dotsPerInch]).toEqual([4096, 2048, 20]);
    expect(scale).toBeCloseTo(4096 / 14_400, 5);
  });

  test("that are encrypted or damaged are refused", async () => {
    const key = "00".repeat(32);
    const locked = pdfOf(
      [{ lines }],
      `/ID [<00> <00>] /Encrypt << /Filter /Standard /V 1 /R 2 /O <${key}> /U <${key}> /P -4 >>`,
    );
    expect(await failure(documents.count(of(file(locked), "file")))).toEqual([
      "unsupported_media_input",
      "file",
      "'file' must be a document without a password; got an encrypted PDF document.",
    ]);
    const unknown = pdfOf([{ lines }], "/ID [<00> <00>] /Encrypt << /Filter /Adobe.PubSec /V 4 >>");
    expect((await failure(documents.count(of(file(unknown), "file")))).slice(0, 2)).toEqual([
      "unsupported_media_input",
      "file",
    ]);
    const damaged = await failure(documents.count(of(file(Buffer.from("%PDF-1.7\nnothing")), "file")));
    expect(damaged.slice(0, 2)).toEqual(["unprocessable_media", "file"]);
    expect(await failure(documents.count(of(file(pdfOf([])), "file")))).toEqual([
      "unprocessable_media",
      "file",
      "'file' must be a file that can be read; got a PDF document without pages.",
    ]);
    const path = file(pdfOf([{ lines }]));
    expect((await linesAt(path)).map(({ text }) => text)).toEqual(lines);
  });

  test("with a damaged page are refused with its number, as the client counts", async () => {
    const path = file(
      pdfOfObjects([
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R 9 0 R] /Count 2 /MediaBox [0 0 595 842] >>",
        "<< /Type /Page /Parent 2 0 R >>",
      ]),
    );
    const message = (counting: { countsFromZero?: true }) =>
      failure(new Documents().read({ ...of(path), ...counting }, 2, async () => {})).then((failed) => failed[2]);
    expect(await message({})).toContain("whose page 2 is damaged");
    expect(await message({ countsFromZero: true })).toContain("whose page 1 is damaged");
  });

  test("whose fonts take characters for halves of others have well-formed text", async () => {
    const path = file(
      pdfOfObjects([
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 /MediaBox [0 0 595 842] >>",
        "<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
        pdfStream(Buffer.from("BT /F1 12 Tf 60 700 Td (xAy) Tj ET")),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 6 0 R >>",
        pdfStream(Buffer.from("begincmap\n1 beginbfchar\n<41> <D83D>\nendbfchar\nendcmap")),
      ]),
    );
    expect(await page(path, 1, async ({ words }) => words.map(({ text }) => text))).toEqual(["x\ufffdy"]);
  });

  test("are read on with the same PDFium after a page that nobody waits for", async () => {
    const own = new Documents();
    const path = file(pdfOf([{ lines }]));
    const load = spyOn(Pdfium, "load");
    for (const error of [new Stopped(), new TooLong(1)]) {
      const reading = own.read(of(path), 1, () => Promise.reject(error));
      expect(await reading.catch((reason: unknown) => reason)).toBe(error);
      own.close();
    }
    expect(await own.count(of(path))).toBe(1);
    expect(load).toHaveBeenCalledTimes(1);
    load.mockRestore();
  });
});
