// A picture whose left half is not opaque.

import { crc32, deflateSync } from "node:zlib";

/** White, as a PNG, with an opacity from 0 to 255 on its left. */
export function transparentPng(width: number, height: number, opacity: number): Uint8Array {
  const rows = Buffer.alloc(height * (1 + width * 4), 255);
  for (let y = 0; y < height; y++) {
    rows[y * (1 + width * 4)] = 0;
    for (let x = 0; x < width / 2; x++) rows[y * (1 + width * 4) + 4 + x * 4] = opacity;
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width);
  header.writeUInt32BE(height, 4);
  header.set([8, 6, 0, 0, 0], 8);
  const chunk = (type: string, data: Uint8Array) => {
    const content = Buffer.concat([Buffer.from(type), data]);
    const out = Buffer.alloc(content.length + 8);
    out.writeUInt32BE(data.length);
    content.copy(out, 4);
    out.writeUInt32BE(crc32(content), content.length + 4);
    return out;
  };
  const signature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
  return Buffer.concat([
    signature,
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(rows)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}
