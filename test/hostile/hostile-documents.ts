// PDF and TIFF files designed to be expensive, to loop, or to reach data outside themselves.

import { deflateSync } from "node:zlib";
import { pdfOfObjects, pdfStream } from "../support/pages.ts";
import { bytesOf, together, type Bytes } from "./hostile-pictures.ts";

const MB = 1024 * 1024;

const CATALOG = "<< /Type /Catalog /Pages 2 0 R >>";
const PAGES = "<< /Type /Pages /Kids [3 0 R] /Count 1 >>";
const page = (more = "", box = "0 0 595 842") =>
  `<< /Type /Page /Parent 2 0 R /MediaBox [${box}] /Contents 4 0 R ${more} >>`;

const plain = (content: string, dictionary = "") => pdfStream(bytesOf(content), dictionary);
const packed = (content: Uint8Array, dictionary = "") =>
  pdfStream(deflateSync(content), `/Filter /FlateDecode ${dictionary}`);

/** Returns one page with this content, and further objects from number 5. */
const onePage = (content: Uint8Array, resources = "", ...more: readonly (string | Uint8Array)[]): Bytes =>
  pdfOfObjects([CATALOG, PAGES, page(`/Resources << ${resources} >>`), content, ...more]);

/** Returns a page whose colour takes 20,000 multiplications per pixel. */
export const endlessPage = (): Bytes =>
  onePage(
    plain("/S sh"),
    "/Shading << /S << /ShadingType 1 /ColorSpace /DeviceGray /Domain [0 1000 0 1000] /Function 5 0 R >> >>",
    plain(`{ ${"dup mul ".repeat(20_000)} pop 0 }`, "/FunctionType 4 /Domain [0 1000 0 1000] /Range [0 1]"),
  );

/** Returns forms that each draw the next one this many times. */
function nestedForms(depth: number, times: number): Bytes {
  const forms = Array.from({ length: depth }, (_, level) => {
    const isLast = level === depth - 1;
    const resources = isLast ? "" : `/Resources << /XObject << /F ${6 + level} 0 R >> >>`;
    return plain(
      isLast ? "0 0 1 1 re f" : "/F Do ".repeat(times),
      `/Type /XObject /Subtype /Form /BBox [0 0 595 842] ${resources}`,
    );
  });
  return onePage(plain("/F Do"), "/XObject << /F 5 0 R >>", ...forms);
}

/** Returns documents whose objects refer to themselves in places where others are expected. */
const loops = (): Readonly<Record<string, Bytes>> => ({
  "pages that are their own children": pdfOfObjects([CATALOG, "<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2 >>"]),
  "pages that are their own parents": pdfOfObjects([
    CATALOG,
    "<< /Type /Pages /Parent 2 0 R /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 3 0 R >>",
  ]),
  "a form that draws itself": onePage(
    plain("/F Do"),
    "/XObject << /F 5 0 R >>",
    plain("/F Do /F Do", "/Type /XObject /Subtype /Form /BBox [0 0 595 842] /Resources << /XObject << /F 5 0 R >> >>"),
  ),
  "a pattern that is painted with itself": onePage(
    plain("/Pattern cs /P scn 0 0 595 842 re f"),
    "/Pattern << /P 5 0 R >>",
    plain(
      "/Pattern cs /P scn 0 0 1 1 re f",
      "/Type /Pattern /PatternType 1 /PaintType 1 /TilingType 1 /BBox [0 0 1 1] /XStep 0.01 /YStep 0.01 /Resources << /Pattern << /P 5 0 R >> >>",
    ),
  ),
  "letters that are written with themselves": onePage(
    plain("BT /F 12 Tf (aaaa) Tj ET"),
    "/Font << /F 5 0 R >>",
    "<< /Type /Font /Subtype /Type3 /FontBBox [0 0 1 1] /FontMatrix [1 0 0 1 0 0] /FirstChar 97 /LastChar 97 /Widths [1] /Encoding << /Differences [97 /a] >> /CharProcs << /a 6 0 R >> /Resources << /Font << /F 5 0 R >> >> >>",
    plain("1 0 d0 BT /F 12 Tf (aaaa) Tj ET"),
  ),
  "a table that is its own predecessor": (() => {
    const file = pdfOfObjects([CATALOG, PAGES, page(), plain("")], "/Prev 0");
    const text = Buffer.from(file);
    const at = text.lastIndexOf("xref\n0");
    return bytesOf(text.toString("latin1").replace("/Prev 0", `/Prev ${at}`));
  })(),
  "a length that is its own stream": pdfOfObjects([CATALOG, PAGES, page(), "<< /Length 4 0 R >>\nstream\n\nendstream"]),
  "objects in a stream that is in itself": pdfOfObjects([
    CATALOG,
    PAGES,
    page(),
    plain("4 0 5 10 << >> << >>", "/Type /ObjStm /N 2 /First 8 /Extends 4 0 R"),
  ]),
  "an outline that does not end": pdfOfObjects([
    "<< /Type /Catalog /Pages 2 0 R /Outlines 5 0 R /PageLabels << /Kids [6 0 R] >> >>",
    PAGES,
    page(),
    plain(""),
    "<< /First 5 0 R /Last 5 0 R /Next 5 0 R >>",
    "<< /Kids [6 0 R] >>",
  ]),
  "an annotation that looks like itself": pdfOfObjects([
    CATALOG,
    PAGES,
    page("/Annots [5 0 R 5 0 R]"),
    plain(""),
    "<< /Type /Annot /Subtype /Stamp /Rect [0 0 595 842] /AP << /N 6 0 R >> >>",
    plain("/F Do", "/Type /XObject /Subtype /Form /BBox [0 0 595 842] /Resources << /XObject << /F 6 0 R >> >>"),
  ]),
});

/** Returns small documents that expand to large ones. */
const bombs = (): Readonly<Record<string, Bytes>> => ({
  "forms in forms, 10 times each, 9 deep": nestedForms(9, 10),
  "forms in forms, 2 times each, 28 deep": nestedForms(28, 2),
  "a page of 256 MB of spaces": onePage(packed(Buffer.alloc(256 * MB, " "))),
  "a page of 1 GB, packed twice": onePage(
    pdfStream(
      deflateSync(Buffer.concat(Array.from({ length: 16 }, () => deflateSync(Buffer.alloc(64 * MB, " "))))),
      "/Filter [/FlateDecode /FlateDecode]",
    ),
  ),
  "a page of 2 million strokes": onePage(packed(Buffer.alloc(24 * 2_000_000, "0 0 m 595 842 l S       "))),
  "a page of one path of 2 million curves": onePage(
    packed(
      Buffer.concat([
        Buffer.from("0 0 m "),
        Buffer.alloc(26 * 2_000_000, "0 842 595 0 595 842 c      ".slice(0, 26)),
        Buffer.from(" f"),
      ]),
    ),
  ),
  "a page of 2 million letters": onePage(
    packed(Buffer.concat([Buffer.from("BT /F 1 Tf ("), Buffer.alloc(2_000_000, "a"), Buffer.from(") Tj ET")])),
    "/Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Times-Roman >> >>",
  ),
  "a page of 2 million saved states": onePage(packed(Buffer.alloc(2 * 2_000_000, "q "))),
  "a page of 50,000 nested lists": onePage(plain(`${"[".repeat(50_000)}${"]".repeat(50_000)} TJ`)),
  "a page of 10 billion points a side": pdfOfObjects([CATALOG, PAGES, page("", "0 0 1e10 1e10"), plain("")]),
  "a page as wide as a hair": pdfOfObjects([CATALOG, PAGES, page("", "0 0 0.001 100000"), plain("0 0 1 1 re f")]),
  "a page of no size": pdfOfObjects([CATALOG, PAGES, page("", "0 0 0 0"), plain("")]),
  "a page of sizes that are no numbers": pdfOfObjects([CATALOG, PAGES, page("", "(a) null 1e999 -1e999"), plain("")]),
  "an image of 30,000 pixels a side": onePage(
    plain("595 0 0 842 0 0 cm /I Do"),
    "/XObject << /I 5 0 R >>",
    packed(
      Buffer.alloc(30_000 * 3750),
      "/Type /XObject /Subtype /Image /Width 30000 /Height 30000 /ColorSpace /DeviceGray /BitsPerComponent 1",
    ),
  ),
  "an image of 2 billion pixels a side": onePage(
    plain("595 0 0 842 0 0 cm /I Do"),
    "/XObject << /I 5 0 R >>",
    packed(
      Buffer.alloc(MB),
      "/Type /XObject /Subtype /Image /Width 2147483647 /Height 2147483647 /ColorSpace /DeviceRGB /BitsPerComponent 8",
    ),
  ),
  "an image drawn 100,000 times": onePage(
    packed(Buffer.alloc(6 * 100_000, "/I Do ")),
    "/XObject << /I 5 0 R >>",
    packed(
      Buffer.alloc(4000 * 4000),
      "/Type /XObject /Subtype /Image /Width 4000 /Height 4000 /ColorSpace /DeviceGray /BitsPerComponent 8",
    ),
  ),
  "a pattern of a billion tiles": onePage(
    plain("/Pattern cs /P scn 0 0 595 842 re f"),
    "/Pattern << /P 5 0 R >>",
    plain(
      "0 0 0.01 0.01 re f",
      "/Type /Pattern /PatternType 1 /PaintType 1 /TilingType 1 /BBox [0 0 0.01 0.01] /XStep 0.01 /YStep 0.01 /Resources << >>",
    ),
  ),
  "a shade that is computed for ever": endlessPage(),
  "dashes a thousandth of a point long": onePage(plain("[0.0001 0.0001] 0 d 0 0 m 595 842 l S")),
  "100,000 objects": pdfOfObjects([
    CATALOG,
    PAGES,
    page(),
    plain(""),
    ...Array.from({ length: 100_000 }, (_, n) => `<< /A ${n + 5} 0 R >>`),
  ]),
  "100,000 pages": pdfOfObjects([
    CATALOG,
    `<< /Type /Pages /Kids [${Array.from({ length: 100_000 }, (_, n) => `${n + 3} 0 R`).join(" ")}] /Count 100000 >>`,
    ...Array.from({ length: 100_000 }, () => "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 100] >>"),
  ]),
  "2 billion pages by its own word": pdfOfObjects([
    CATALOG,
    "<< /Type /Pages /Kids [3 0 R] /Count 2147483647 >>",
    page(),
    plain(""),
  ]),
  "fewer than no pages": pdfOfObjects([CATALOG, "<< /Type /Pages /Kids [3 0 R] /Count -5 >>", page(), plain("")]),
  "pages 5,000 deep": pdfOfObjects([
    CATALOG,
    ...Array.from({ length: 5000 }, (_, n) => `<< /Type /Pages /Kids [${n + 3} 0 R] /Count 1 >>`),
    "<< /Type /Page /MediaBox [0 0 100 100] >>",
  ]),
  "dictionaries 50,000 deep": pdfOfObjects([
    `${"<< /A ".repeat(50_000)} 1 ${">> ".repeat(50_000)}`,
    PAGES,
    page(),
    plain(""),
  ]),
});

const JAVASCRIPT = "/S /JavaScript /JS (while (true) app.alert\\(1\\))";
const reaching = (): Readonly<Record<string, Bytes>> => ({
  "a script that runs when it is opened": pdfOfObjects([
    `<< /Type /Catalog /Pages 2 0 R /OpenAction << ${JAVASCRIPT} >> /Names << /JavaScript << /Names [(a) << ${JAVASCRIPT} >>] >> >> >>`,
    PAGES,
    page(`/AA << /O << ${JAVASCRIPT} >> >>`),
    plain(""),
  ]),
  "a program that it starts": pdfOfObjects([
    "<< /Type /Catalog /Pages 2 0 R /OpenAction << /S /Launch /F (/bin/sh) >> >>",
    PAGES,
    page(),
    plain(""),
  ]),
  "an address that it opens": pdfOfObjects([
    "<< /Type /Catalog /Pages 2 0 R /OpenAction << /S /URI /URI (http://127.0.0.1:9/) >> /AcroForm << /XFA (<x/>) >> >>",
    PAGES,
    page(),
    plain(""),
  ]),
  "a stream that is another file": onePage(bytesOf("<< /Length 0 /F (/etc/passwd) >>\nstream\n\nendstream")),
  "a font that is another file": onePage(
    plain("BT /F 12 Tf (a) Tj ET"),
    "/Font << /F << /Type /Font /Subtype /TrueType /BaseFont /a /FontDescriptor << /Type /FontDescriptor /FontName /a /FontFile2 5 0 R >> >> >>",
    bytesOf("<< /Length 0 /F (/etc/passwd) >>\nstream\n\nendstream"),
  ),
  "a password": pdfOfObjects(
    [CATALOG, PAGES, page(), plain("")],
    `/Encrypt << /Filter /Standard /V 1 /R 2 /O <${"00".repeat(32)}> /U <${"00".repeat(32)}> /P -1 >> /ID [<00> <00>]`,
  ),
});

/** The values of a tag: in place when they fit, otherwise their offset. */
interface Tag {
  readonly tag: number;
  readonly type: 1 | 3 | 4;
  readonly count: number;
  readonly value: number;
}

const long = (tag: number, value: number, count = 1): Tag => ({ tag, type: 4, count, value });

/** Returns a TIFF with these directories from byte 8 on, followed by data. */
export function tiffOf(directories: readonly (readonly Tag[])[], data: Uint8Array, next?: number): Bytes {
  const lengths = directories.map((tags) => 2 + tags.length * 12 + 4);
  const head = Buffer.alloc(8 + lengths.reduce((sum, length) => sum + length, 0));
  head.write("II*\0");
  head.writeUInt32LE(8, 4);
  let at = 8;
  for (const [index, tags] of directories.entries()) {
    head.writeUInt16LE(tags.length, at);
    for (const [entry, { tag, type, count, value }] of tags.entries()) {
      const from = at + 2 + entry * 12;
      head.writeUInt16LE(tag, from);
      head.writeUInt16LE(type, from + 2);
      head.writeUInt32LE(count, from + 4);
      head.writeUInt32LE(value, from + 8);
    }
    at += lengths[index] ?? 0;
    head.writeUInt32LE(index < directories.length - 1 ? at : (next ?? 0), at - 4);
  }
  return together(head, data);
}

/**
 * Returns tags of an uncompressed black-and-white picture in this many strips, whose offsets and lengths are at `at`.
 */
const picture = (side: number, compression: number, strips = 1, at?: number): Tag[] => [
  long(256, side),
  long(257, side),
  long(258, 1),
  long(259, compression),
  long(262, 0),
  long(273, at ?? 0, strips),
  long(277, 1),
  long(278, Math.ceil(side / strips)),
  ...(at === undefined ? [] : [long(279, at + 4 * strips, strips)]),
];

/** `jpeg`: a complete JPEG file. */
const tiffs = (jpeg: Uint8Array): Readonly<Record<string, Bytes>> => {
  const numbers = (...values: readonly number[]) => new Uint8Array(Uint32Array.from(values).buffer);
  const all = (count: number, value: number) => Array.from({ length: count }, () => value);
  const begin = (tags: number) => 8 + 2 + tags * 12 + 4;
  // Offset of the values of a directory with nine tags, and of the data they refer to.
  const values = begin(9);
  const stripped = (side: number, compression: number, strips: number, piece: Uint8Array, says = piece.length) => {
    const from = values + 8 * strips;
    return tiffOf(
      [picture(side, compression, strips, values)],
      together(numbers(...all(strips, from), ...all(strips, says)), piece),
    );
  };
  const shared = Array.from({ length: 30 }, (_, n) => [254, 258, 262, 266, 273, 278, 279, 284, 292, 293][n % 10] ?? 0);
  return {
    "a TIFF whose directories loop": tiffOf([picture(64, 1)], new Uint8Array(0), 8),
    "a TIFF of 5,000 directories with the same 5 million values": tiffOf(
      Array.from({ length: 5000 }, () => [long(256, 64), long(257, 64), ...shared.map((tag) => long(tag, 8, 170_000))]),
      new Uint8Array(MB),
    ),
    "a TIFF of 4 billion values": tiffOf(
      [[long(256, 64), long(257, 64), long(273, 8, 0xffff_ffff)]],
      new Uint8Array(64),
    ),
    "a TIFF of 4 billion pixels a side": tiffOf([picture(0xffff_ffff, 1)], new Uint8Array(64)),
    "a TIFF of 4,096 strips, each a JPEG of all of it": stripped(4096, 7, 4096, jpeg),
    "a TIFF of 4,096 strips, each to the end of the file": stripped(
      4096,
      4,
      4096,
      new Uint8Array(20 * MB),
      0xffff_ffff,
    ),
    "a TIFF that deflates to 256 MB": stripped(64, 8, 1, deflateSync(Buffer.alloc(256 * MB))),
    "a TIFF in fax codes without an end": stripped(4096, 4, 1, new Uint8Array(MB)),
    "a TIFF of fax codes that are random": stripped(
      4096,
      3,
      64,
      Uint8Array.from({ length: MB }, (_, n) => (n * 2_654_435_761) >>> 13),
    ),
    "a TIFF of 10,000 pages": tiffOf(
      Array.from({ length: 10_000 }, () => picture(4096, 1)),
      new Uint8Array(0),
    ),
  };
};

/** Returns the documents by name. `jpeg`: a large JPEG file. */
export const hostileDocuments = (jpeg: Uint8Array): Readonly<Record<string, Bytes>> => ({
  ...loops(),
  ...bombs(),
  ...reaching(),
  ...tiffs(jpeg),
  "a PDF behind 1,000 bytes": together(new Uint8Array(1000), pdfOfObjects([CATALOG, PAGES, page(), plain("")])),
  "a PDF of its first line": bytesOf("%PDF-1.7\n"),
  "a PDF of its last line": bytesOf("%PDF-1.7\nstartxref\n9\n%%EOF"),
  "20 MB of PDF without an object": together(bytesOf("%PDF-1.7\n"), new Uint8Array(20 * MB).fill(0x20)),
  "20 MB of objects that end nowhere": together(
    bytesOf("%PDF-1.7\n"),
    new Uint8Array(Buffer.alloc(20 * MB, "1 0 obj ")),
  ),
  "a HEIC of its first box": bytesOf("\0\0\0\x18ftypheic\0\0\0\0heicmif1"),
  "a HEIC of a box of 4 GB": bytesOf("\0\0\0\x18ftypheic\0\0\0\0heicmif1\xff\xff\xff\xffmeta"),
  "a HEIC of boxes in boxes": together(
    bytesOf("\0\0\0\x18ftypheic\0\0\0\0heicmif1"),
    ...Array.from({ length: 5000 }, (_, depth) => {
      const box = Buffer.alloc(12);
      box.writeUInt32BE(12 * (5000 - depth));
      box.write("meta", 4);
      return box;
    }),
  ),
});
