// `bun test/bench/recognition/codes.ts`: barcodes of every symbology, in four directions and with modules of 2, 4 and
// 8 pixels. Prints a Markdown row for each symbology that is not always read, then the totals.

import { loadBarcodeReader } from "../../../src/engine/recognition/child/barcodes.ts";
import { drawCode, prepareCodes, SYMBOLOGIES, turned } from "../../support/codes.ts";

const DIRECTIONS = [0, 1, 2, 3] as const;
const PIXELS = [2, 4, 8] as const;

await prepareCodes();
const readCodes = await loadBarcodeReader();
let [right, all] = [0, 0];
for (const [format, text, type, payload = text] of SYMBOLOGIES) {
  const missed: string[] = [];
  for (const pixels of PIXELS) {
    for (const direction of DIRECTIONS) {
      const found = await readCodes(turned(await drawCode(format, text, pixels), direction));
      const isRight = found.length === 1 && found[0]?.type === type && found[0].payload === payload;
      if (!isRight) missed.push(`${pixels} pixels, turned by ${90 * direction}°`);
    }
  }
  const tried = PIXELS.length * DIRECTIONS.length;
  [right, all] = [right + tried - missed.length, all + tried];
  if (missed.length > 0) console.log(`| ${format} | ${tried - missed.length} of ${tried} | ${missed.join("; ")} |`);
}
console.log(`| ${SYMBOLOGIES.length} symbologies | ${right} of ${all} | |`);
