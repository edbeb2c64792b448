// Packs the vocabularies of text encoders, which upstream spells out byte by byte in a quarter of a gigabyte of C++:
// minutes of compiling. An assembler puts the packed files into the library as they are.

import { existsSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { deflateSync } from "node:zlib";
import { filesIn } from "./run.ts";
import { forMac, forWindows } from "./target.ts";

const HEADERS = "stable-diffusion.cpp/src/tokenizers/vocab";
/** Of models that draw no images, or whose licence we cannot pass on; ffi/image/vocabularies.cpp reports their use. */
const LEFT_OUT = /^(gemma|umt5)/;
/** Codes of the characters in `0x`, two digits and a comma. */
const [X, COMMA] = [120, 44];

/**
 * Replaces the vocabularies in a crate's sources by packed files `vocabularies/NAME`: length (8 bytes) and zlib data.
 */
export async function packVocabularies(crate: string): Promise<void> {
  const folder = join(crate, HEADERS);
  for (const path of filesIn(folder, /\.hpp$/)) {
    if (LEFT_OUT.test(basename(path))) {
      rmSync(path);
      continue;
    }
    const bytes = spelledOut(await Bun.file(path).bytes());
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(bytes.length));
    const packed = join(crate, "stable-diffusion.cpp/vocabularies", basename(path, ".hpp"));
    await Bun.write(packed, Buffer.concat([length, deflateSync(bytes, { level: 9 })]));
    rmSync(path);
  }
}

/** Returns the bytes of an array that is spelled out in C. */
function spelledOut(text: Uint8Array): Uint8Array {
  const start = text.indexOf(X, text.indexOf(123));
  const bytes = new Uint8Array(Math.ceil((text.length - start) / 5));
  let length = 0;
  for (let at = start; at > 0 && at < text.length; at = text[at + 3] === COMMA ? text.indexOf(X, at + 3) : -1) {
    bytes[length++] = (digit(text[at + 1] as number) << 4) | digit(text[at + 2] as number);
  }
  return bytes.subarray(0, length);
}

/** Returns the value of a hexadecimal digit, given its character code. */
const digit = (code: number): number => (code < 58 ? code - 48 : (code | 32) - 87);

/** Writes the assembler's source for the packed files in `packed` below `folder`, and returns its path. */
export async function assembleVocabularies(packed: string, folder: string): Promise<string> {
  const source = join(folder, "vocabularies.s");
  const blocks = filesIn(packed).map(blockOf);
  const section = forMac ? ".const" : forWindows ? '.section .rdata,"dr"' : ".section .rodata";
  const end = forMac || forWindows ? [] : ['.section .note.GNU-stack,"",%progbits'];
  const text = [section, ...blocks, ...end];
  if (!existsSync(source)) await Bun.write(source, `${text.join("\n")}\n`);
  return source;
}

function blockOf(path: string): string {
  const symbol = `${forMac ? "_" : ""}svc_vocabulary_${basename(path)}`;
  const label = (suffix: string) => {
    // Windows exports only what is marked for it.
    const hide = forWindows ? "" : `${forMac ? ".private_extern" : ".hidden"} ${symbol}${suffix}\n`;
    return `.globl ${symbol}${suffix}\n${hide}${symbol}${suffix}:`;
  };
  return `.balign 8\n${label("")}\n.incbin "${path}"\n${label("_end")}`;
}
