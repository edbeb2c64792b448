// Packs the contents of a deb or an rpm anew with xz. nfpm's own xz takes many minutes, and has no filter for code.

import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BuildError, run } from "../vendor/run.ts";
import { alignedTo, HEADER_REGIONS, readHeader, textEntry, writeHeader } from "./rpm-header.ts";

const AR_MAGIC = "!<arch>\n";
/** Lengths of a member's header in an ar archive, and of what begins an rpm. */
const MEMBER_BYTES = 60;
const LEAD_BYTES = 96;

/** Members of a deb that nfpm neither compressed nor signed: these once each, in any order. */
const MEMBERS = [/^debian-binary$/, /^control\.tar(\.\w+)?$/, /^data\.tar$/];

/** Tags of an rpm's header and of its signature. */
const TAGS = { compressor: 1125, flags: 1126, digest: 5092 } as const;
const SIGNED = { sha256: 273, size: 1000, contents: 1007 } as const;

/** Packs a deb whose contents nfpm did not compress, and which is not signed. `xz`: its command. Throws BuildError. */
export async function repackDeb(path: string, xz: readonly string[]): Promise<void> {
  const deb = readFileSync(path);
  const pieces: Uint8Array[] = [Buffer.from(AR_MAGIC)];
  const names: string[] = [];
  for (let at = AR_MAGIC.length; at < deb.length;) {
    const header = deb.toString("latin1", at, at + MEMBER_BYTES);
    const size = Number(header.slice(48, 58));
    const content = deb.subarray(at + MEMBER_BYTES, at + MEMBER_BYTES + size);
    at = alignedTo(2, at + MEMBER_BYTES + size);
    const name = header.slice(0, 16).trimEnd();
    names.push(name);
    const isContents = name === "data.tar";
    const packed = isContents ? await compressed(content, xz) : content;
    const named = isContents ? "data.tar.xz".padEnd(16) : header.slice(0, 16);
    const written = `${named}${header.slice(16, 48)}${String(packed.length).padEnd(10)}${header.slice(58)}`;
    pieces.push(Buffer.from(written, "latin1"), packed, Buffer.alloc(packed.length % 2, "\n"));
  }
  const isUsual = names.length === MEMBERS.length && MEMBERS.every((wanted) => names.some((name) => wanted.test(name)));
  if (!isUsual) {
    throw new BuildError(`${path} must have uncompressed contents and no signature; its members: ${names.join(", ")}.`);
  }
  replace(path, pieces);
}

/** Packs an rpm whose contents nfpm compressed with zstd, and which is not signed. `xz`: its command. Throws BuildError. */
export async function repackRpm(path: string, xz: readonly string[]): Promise<void> {
  const rpm = readFileSync(path);
  const signature = readHeader(rpm, LEAD_BYTES);
  const header = readHeader(rpm, alignedTo(8, signature.end));
  const tags = [...signature.entries.keys()];
  if (tags.some((tag) => !Object.values<number>(SIGNED).includes(tag))) {
    throw new BuildError(`${path} has signatures that would no longer be valid.`);
  }
  const packed = await compressed(Bun.zstdDecompressSync(rpm.subarray(header.end)), xz);
  const changed = writeHeader(HEADER_REGIONS.header, [
    ...header.entries,
    [TAGS.compressor, textEntry("xz")],
    [TAGS.flags, textEntry("6")],
    [TAGS.digest, { ...textEntry(sha256Of(packed)), type: header.entries.get(TAGS.digest)?.type ?? 0 }],
  ]);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(changed.length + packed.length);
  const signed = writeHeader(HEADER_REGIONS.signature, [
    ...signature.entries,
    [SIGNED.size, { type: 4, count: 1, data: size }],
    [SIGNED.sha256, textEntry(sha256Of(changed))],
  ]);
  const padding = Buffer.alloc(alignedTo(8, signed.length) - signed.length);
  replace(path, [rpm.subarray(0, LEAD_BYTES), signed, padding, changed, packed]);
}

const sha256Of = (bytes: Uint8Array): string => new Bun.CryptoHasher("sha256").update(bytes).digest("hex");

/** Returns what xz makes of the bytes. */
async function compressed(bytes: Uint8Array, xz: readonly string[]): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), "svc-repack-"));
  try {
    const file = join(folder, "contents");
    writeFileSync(file, bytes);
    await run([...xz, file]);
    return readFileSync(`${file}.xz`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function replace(path: string, pieces: readonly Uint8Array[]): void {
  const part = `${path}.part`;
  writeFileSync(part, Buffer.concat(pieces));
  renameSync(part, path);
}
