// Writes Ogg: packets of a codec in pages that readers can find, check and seek by.

import { crc } from "../crc.ts";
import { join } from "./encoder.ts";

const HEAD_BYTES = 27;
const MOST_SEGMENTS = 255;
const SEGMENT_BYTES = 255;
const CRC_AT = 22;
const FIRST = 2;
const LAST = 4;
/** Distinguishes the streams of a file, of which there is only one here. */
const SERIAL = 1;
const checksum = crc(32, 0x04c1_1db7);

export interface Packet {
  readonly bytes: Uint8Array;
  /** End of the packet in the whole sound, in the codec's unit. */
  readonly position: number;
}

/** Writes the pages of a file with one stream. */
export class OggWriter {
  private pages = 0;

  /** Writes these packets to as few pages as possible, not shared with others. `isLast`: they end the file. */
  write(packets: readonly Packet[], isLast = false): Uint8Array {
    const pages: Uint8Array[] = [];
    let from = 0;
    for (let segments = 0, at = 0; at < packets.length; at++) {
      const more = segmentsOf(packets[at]);
      if (segments + more > MOST_SEGMENTS) {
        pages.push(this.page(packets.slice(from, at), false));
        [from, segments] = [at, 0];
      }
      segments += more;
    }
    if (from < packets.length) pages.push(this.page(packets.slice(from), isLast));
    return join(pages);
  }

  private page(packets: readonly Packet[], isLast: boolean): Uint8Array {
    const lacing = packets.flatMap((packet) => {
      const whole = segmentsOf(packet) - 1;
      return [...Array<number>(whole).fill(SEGMENT_BYTES), packet.bytes.length - whole * SEGMENT_BYTES];
    });
    const head = Buffer.alloc(HEAD_BYTES);
    head.write("OggS", 0, "latin1");
    head.writeUInt8((this.pages === 0 ? FIRST : 0) | (isLast ? LAST : 0), 5);
    head.writeBigInt64LE(BigInt(packets.at(-1)?.position ?? 0), 6);
    head.writeUInt32LE(SERIAL, 14);
    head.writeUInt32LE(this.pages++, 18);
    head.writeUInt8(lacing.length, 26);
    const page = Buffer.concat([head, Uint8Array.from(lacing), ...packets.map(({ bytes }) => bytes)]);
    page.writeUInt32LE(checksum(page), CRC_AT);
    return page;
  }
}

/** A packet ends with a segment that is not full, possibly an empty one. */
const segmentsOf = (packet: Packet | undefined): number => Math.floor((packet?.bytes.length ?? 0) / SEGMENT_BYTES) + 1;
