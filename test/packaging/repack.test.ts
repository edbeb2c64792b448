// Packages with contents in xz: what package managers check must still be right.

import { expect, test } from "bun:test";
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { repackDeb, repackRpm } from "../../packaging/repack.ts";
import { alignedTo, HEADER_REGIONS, readHeader, textEntry, writeHeader } from "../../packaging/rpm-header.ts";
import { temporaryFolder } from "../support/folders.ts";

const XZ = ["xz", "-T0", "--x86", "--lzma2=preset=6"];
/** Made by nfpm from packaging/templates/nfpm.yaml, with names of files as their contents. */
const SMALL = join(import.meta.dir, "../fixtures/packages/small.rpm");

const hasXz = Bun.which("xz") !== null;
const output = (...command: string[]) => Bun.spawnSync(command, { stderr: "inherit" }).stdout;
const unpacked = (bytes: Uint8Array) => Bun.spawnSync(["xz", "-dc"], { stdin: bytes }).stdout;
const sha256 = (bytes: Uint8Array) => new Bun.CryptoHasher("sha256").update(bytes).digest("hex");

function ar(members: Readonly<Record<string, Uint8Array>>): Buffer {
  const pieces = Object.entries(members).flatMap(([name, content]) => [
    Buffer.from(
      `${name.padEnd(16)}${"1700000000".padEnd(12)}0     0     100644  ${String(content.length).padEnd(10)}\`\n`,
    ),
    content,
    Buffer.from(content.length % 2 === 1 ? "\n" : ""),
  ]);
  return Buffer.concat([Buffer.from("!<arch>\n"), ...pieces]);
}

function membersOf(file: Buffer): Record<string, Uint8Array> {
  const members: Record<string, Uint8Array> = {};
  for (let at = 8; at < file.length;) {
    const size = Number(file.toString("latin1", at + 48, at + 58));
    members[file.toString("latin1", at, at + 16).trimEnd()] = file.subarray(at + 60, at + 60 + size);
    at = alignedTo(2, at + 60 + size);
  }
  return members;
}

/** A tar archive with a file of this content. */
function tarWith(name: string, content: string): Uint8Array {
  const folder = temporaryFolder();
  writeFileSync(join(folder, name), content);
  return output("tar", "-cf", "-", "-C", folder, name);
}

test.skipIf(!hasXz)("the contents of a deb are packed with xz, and its other members stay", async () => {
  const path = join(temporaryFolder(), "small.deb");
  const contents = tarWith("svc", "text\n".repeat(1000));
  const control = Bun.gzipSync(Uint8Array.from(tarWith("control", "Package: svc\nVersion: 1\nArchitecture: all\n")));
  const others = { "debian-binary": Buffer.from("2.0\n"), "control.tar.gz": control };
  writeFileSync(path, ar({ ...others, "data.tar": contents }));
  await repackDeb(path, XZ);
  const { "data.tar.xz": packed = new Uint8Array(), ...rest } = membersOf(readFileSync(path));
  expect(Object.keys(rest)).toEqual(Object.keys(others));
  for (const [name, content] of Object.entries(others)) expect(Buffer.compare(rest[name] ?? content, content)).toBe(0);
  expect(packed.length).toBeLessThan(1000);
  expect(sha256(unpacked(packed))).toBe(sha256(contents));
  expect(readdirSync(join(path, ".."))).toEqual(["small.deb"]);
  if (Bun.which("dpkg-deb") !== null) expect(output("dpkg-deb", "--contents", path).toString()).toEndWith(" svc\n");
});

test.skipIf(!hasXz)(
  "a deb that is packed already is refused, and so is a signed one, which is left as it is",
  async () => {
    const path = join(temporaryFolder(), "other.deb");
    const others = { "debian-binary": Buffer.from("2.0\n"), "control.tar.gz": Buffer.from("control") };
    const data = Buffer.from("data");
    for (const members of [
      { ...others, "data.tar.zst": data },
      { ...others, "data.tar": data, _gpgorigin: data },
      { "data.tar": data },
    ]) {
      const deb = ar(members);
      writeFileSync(path, deb);
      await expect(repackDeb(path, XZ)).rejects.toThrow(`its members: ${Object.keys(members).join(", ")}.`);
      expect(Buffer.compare(readFileSync(path), deb)).toBe(0);
    }
  },
);

/** What the two headers of an rpm say, and its packed contents. */
function parts(path: string) {
  const rpm = readFileSync(path);
  const signature = readHeader(rpm, 96);
  const begin = alignedTo(8, signature.end);
  const header = readHeader(rpm, begin);
  const text = (entries: typeof header.entries, tag: number) =>
    Buffer.from(entries.get(tag)?.data ?? "")
      .toString()
      .split("\0")[0];
  return {
    entries: header.entries,
    compressor: text(header.entries, 1125),
    digest: text(header.entries, 5092),
    signedDigest: text(signature.entries, 273),
    signedSize: Buffer.from(signature.entries.get(1000)?.data ?? "").readUInt32BE(),
    header: rpm.subarray(begin, header.end),
    contents: rpm.subarray(header.end),
  };
}

test.skipIf(!hasXz)("the contents of an rpm are packed with xz, and its checksums are right", async () => {
  const path = join(temporaryFolder(), "small.rpm");
  copyFileSync(SMALL, path);
  const before = parts(path);
  await repackRpm(path, XZ);
  const after = parts(path);
  expect([before.compressor, after.compressor]).toEqual(["zstd", "xz"]);
  expect(sha256(unpacked(after.contents))).toBe(sha256(Bun.zstdDecompressSync(before.contents)));
  for (const one of [before, after]) {
    expect(one.digest).toBe(sha256(one.contents));
    expect(one.signedDigest).toBe(sha256(one.header));
    expect(one.signedSize).toBe(one.header.length + one.contents.length);
  }
  const others = (entries: typeof after.entries) => [...entries].filter(([tag]) => ![1125, 1126, 5092].includes(tag));
  expect(others(after.entries)).toEqual(others(before.entries));
});

test.skipIf(!hasXz || Bun.which("rpmkeys") === null)("rpm accepts it, and finds the same files in it", async () => {
  const path = join(temporaryFolder(), "small.rpm");
  copyFileSync(SMALL, path);
  await repackRpm(path, XZ);
  const checked = output("rpmkeys", "--checksig", "--verbose", "--nosignature", path).toString();
  expect(checked).toContain("Header SHA256 digest: OK");
  expect(checked).toContain("Payload SHA256 digest: OK");
  for (const query of ["--list", "--scripts", "--requires", "--info"]) {
    const [one, other] = [path, SMALL].map((file) => output("rpm", "--query", "--package", query, file).toString());
    expect(one).toBe(other ?? "");
  }
  expect(sha256(output("rpm2cpio", path))).toBe(sha256(output("rpm2cpio", SMALL)));
});

test("a header that is written again is the same, byte for byte", () => {
  const { header, entries } = parts(SMALL);
  expect(sha256(writeHeader(HEADER_REGIONS.header, entries))).toBe(sha256(header));
});

test("a signed rpm is refused, whose signature would no longer be valid, and so is another file", async () => {
  const rpm = readFileSync(SMALL);
  const { entries, end } = readHeader(rpm, 96);
  const signed = writeHeader(HEADER_REGIONS.signature, [...entries, [1002, textEntry("signature")]]);
  const padding = Buffer.alloc(alignedTo(8, signed.length) - signed.length);
  const path = join(temporaryFolder(), "signed.rpm");
  writeFileSync(path, Buffer.concat([rpm.subarray(0, 96), signed, padding, rpm.subarray(alignedTo(8, end))]));
  await expect(repackRpm(path, XZ)).rejects.toThrow("has signatures that would no longer be valid");
  writeFileSync(path, Buffer.alloc(1000));
  await expect(repackRpm(path, XZ)).rejects.toThrow("This is not the header of an rpm.");
});
