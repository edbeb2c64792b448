// Damaged and hostile pictures and documents for recognition: each must be read or refused.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { damaged } from "../fuzz/bytes.ts";
import { dice, pick } from "../support/dice.ts";
import { drawn, pdfOf, pngOf, scanned } from "../support/pages.ts";
import { post, read, type Send } from "./engine-client.ts";
import { flood } from "./flood.ts";
import { hostileDocuments } from "./hostile-documents.ts";
import { hostilePictures, jpegOfScans, type Bytes } from "./hostile-pictures.ts";
import type { Options, Row } from "./row.ts";

const FIXTURES = join(import.meta.dir, "../fixtures/pictures");
const MODES = ["text", "table", "barcode", "saliency", "debug"] as const;

/** Sends the document through the other OCR route, /v1/ocr. */
const asData = (bytes: Bytes): Send => {
  const data = `data:application/octet-stream;base64,${Buffer.from(bytes).toString("base64")}`;
  return post("/v1/ocr", { document: { type: "document_url", document_url: data } });
};

export async function documents({ count = 200, seed = 1 }: Options): Promise<Row[]> {
  const roll = dice(seed);
  const page = await drawn({ lines: ["Hello", "World"], paper: [200, 100] });
  const png = await pngOf(page);
  const jpeg = new Uint8Array(await new Bun.Image(png).jpeg().bytes());
  const fixtures = await Promise.all(readdirSync(FIXTURES).map((name) => Bun.file(join(FIXTURES, name)).bytes()));
  const whole: readonly [Bytes, ...Bytes[]] = [pdfOf([{ lines: ["Hello"] }]), scanned(page, 2), png, jpeg, ...fixtures];
  const hostile = {
    ...hostileDocuments(jpegOfScans(4096, 4096, 1)),
    ...hostilePictures({ png, jpeg }),
    "a document of one word in 50 pages": pdfOf(Array.from({ length: 50 }, () => ({ lines: ["a"] }))),
    "a document of 51 pages": pdfOf(Array.from({ length: 51 }, () => ({ lines: ["a"] }))),
  };
  const requests = [
    ...Object.entries(hostile).map(([name, bytes]) => [name, read(bytes)] as const),
    ...Array.from({ length: count }, (_, index) => {
      const bytes = new Uint8Array(damaged(pick(roll, whole), roll));
      const send = index % 4 === 3 ? asData(bytes) : read(bytes, { mode: MODES[index % MODES.length] ?? "text" });
      return [`damage ${index}`, send] as const;
    }),
  ];
  return flood({
    promise: "A document is read or refused",
    what: "damaged and hostile images and documents",
    kind: "recognition",
    requests,
    proper: [200, 400, 413, 422],
    whole: read(png),
  });
}
