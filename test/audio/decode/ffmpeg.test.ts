// Codings without a decoder in svc are decoded by the host's ffmpeg, when it is installed.

import { describe, expect, test } from "bun:test";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { expectTone, fixture, isBuilt, soundRig } from "./rig.ts";

const rig = soundRig();

/** Writes a program that stands in for ffmpeg. */
async function program(script: string): Promise<string> {
  const path = await rig.keep(Buffer.from(`#!/bin/sh\n${script}\n`), `program-${Bun.hash(script)}`);
  chmodSync(path, 0o755);
  return path;
}

/** Returns a WAV file with some bytes of a coding, after an unrelated chunk. */
function wavOf(coding: number, subtype?: number): Buffer {
  const format = Buffer.alloc(subtype === undefined ? 18 : 40);
  format.writeUInt16LE(coding, 0);
  format.writeUInt16LE(1, 2);
  format.writeUInt32LE(8000, 4);
  format.writeUInt16LE(65, 12);
  if (subtype !== undefined) format.writeUInt16LE(subtype, 24);
  const chunk = (name: string, bytes: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(bytes.length);
    return Buffer.concat([Buffer.from(name), length, bytes, Buffer.alloc(bytes.length % 2)]);
  };
  const chunks = [chunk("JUNK", Buffer.alloc(7)), chunk("fmt ", format), chunk("data", Buffer.alloc(650))];
  return Buffer.concat([chunk("RIFF", Buffer.concat([Buffer.from("WAVE"), ...chunks]))]);
}

describe("a format that only ffmpeg reads", () => {
  const asf = Buffer.from("3026b2758e66cf11a6d900aa0062ce6c", "hex");
  test.each([
    ["GSM 6.10 in WAV", wavOf(0x31), "wav", "WAV: a coding (GSM 6.10)"],
    ["MP3 in an extensible WAV", wavOf(0xfffe, 0x55), "wav", "WAV: a coding (MP3)"],
    ["what nobody knows in WAV", wavOf(0x4321), "wav", "WAV: a coding (0x4321)"],
    ["AMR", Buffer.from("#!AMR\n rest"), "amr", "AMR: a coding"],
    ["WMA", asf, "asf", "ASF/WMA: a coding"],
    ["AU", Buffer.from(".snd and the rest"), "au", "AU: a coding"],
    ["AVI", Buffer.from("RIFF\0\0\0\0AVI LIST"), "avi", "an AVI file: a coding"],
    ["an MPEG film", Buffer.from("000001ba2100010001", "hex"), "mpeg", "an MPEG program stream: a coding"],
    ["a television stream", Buffer.alloc(564, `G${"-".repeat(187)}`), "mpegts", "an MPEG transport stream: a coding"],
    ["a Flash video", Buffer.from("FLV\x01\x04"), "flv", "an FLV file: a coding"],
    ["MP2", Buffer.from("fffde8c4ffffffff", "hex"), "mp3", "MP2: a coding"],
    ["WavPack", Buffer.from("wvpk and the rest"), "wv", "WavPack: a coding"],
    ["Wave64", Buffer.from("726966662e91cf11a5d628db04c10000", "hex"), "w64", "Wave64: a coding"],
    ["Speex", Buffer.from(`OggS${"\0".repeat(22)}\x01PSpeex   1.2`), "ogg", "Ogg with Speex: a coding"],
  ])("%s is passed to ffmpeg, or named in the error without it", async (_, bytes, demuxer, name) => {
    const path = await rig.keep(bytes);
    expect(await rig.refusal(path)).toContain(`got ${name} that is read with ffmpeg only, which is not installed.`);
    const said = join(rig.folder, `said-${Bun.hash(bytes)}`);
    const ffmpeg = await program(`printf '%s\\n' "$@" > ${said}\nprintf '\\0\\0\\0?'`);
    expect([...(await rig.decode(path, { ffmpeg }))]).toEqual([0.5]);
    const words = (await Bun.file(said).text()).split("\n");
    expect(words[words.indexOf("-f") + 1]).toBe(demuxer);
  });
});

test("text is not taken for a television stream", async () => {
  const text = await rig.keep(Buffer.from(`Good morning. ${"-".repeat(174)}Good night. ${"-".repeat(500)}`));
  expect(await rig.refusal(text)).toContain("got another kind of file.");
});

test("a file in memory is ffmpeg's input", async () => {
  const [said, read] = [join(rig.folder, "said-held"), join(rig.folder, "read-held")];
  const ffmpeg = await program(`printf '%s\\n' "$@" > ${said}\ncat > ${read}\nprintf '\\0\\0\\0?'`);
  const bytes = wavOf(0x31);
  expect([...(await rig.decode(bytes, { ffmpeg }))]).toEqual([0.5]);
  expect(await Bun.file(said).text()).toContain("-i\npipe:0\n");
  expect(new Uint8Array(await Bun.file(read).arrayBuffer())).toEqual(new Uint8Array(bytes));
});

describe.skipIf(!isBuilt)("a coding without a decoder in svc", () => {
  test("is refused without ffmpeg, with what would be needed", async () => {
    expect(await rig.refusal(fixture("ac3.mp4"))).toBe(
      "'file' must be WAV, MP3, FLAC, Ogg, WebM, M4A/MP4, AAC, AIFF or CAF that can be decoded; " +
        "got an MP4 file: a coding that is read with ffmpeg only, which is not installed.",
    );
  });

  test("is decoded by ffmpeg, which opens only this file, and in its own format", async () => {
    const said = join(rig.folder, "said");
    // Three floats, in pieces that do not end at a float.
    const ffmpeg = await program(
      `printf '%s\\n' "$@" > ${said}\nprintf '\\0\\0\\0'; printf '?\\0\\0\\200'; printf '>\\0\\0\\0\\277'`,
    );
    expect([...(await rig.decode(fixture("ac3.mp4"), { ffmpeg, maxSeconds: 9 }))]).toEqual([0.5, 0.25, -0.5]);
    const words = (await Bun.file(said).text()).split("\n");
    const after = (word: string) => words[words.indexOf(word) + 1];
    expect(words).toContain("-nostdin");
    expect(after("-protocol_whitelist")).toBe("file,pipe");
    expect(after("-i")).toBe(`file:${fixture("ac3.mp4")}`);
    expect(words.slice(0, words.indexOf("-i"))).toContain("-f");
    expect(after("-f")).toBe("mov");
    expect(after("-t")).toBe("10");
  });

  test("is refused when ffmpeg fails or does not end its output", async () => {
    const failing = await program("echo no >&2; exit 1");
    expect(await rig.refusal(fixture("ac3.mp4"), { ffmpeg: failing })).toContain("a file that ffmpeg cannot read");
    const endless = await program("exec cat /dev/zero");
    expect(await rig.refusal(fixture("ac3.mp4"), { ffmpeg: endless })).toContain("at most 1 minutes");
  });

  test("ends with the request while ffmpeg sends nothing", async () => {
    const ended = new AbortController();
    const decoding = rig.decode(fixture("ac3.mp4"), { ffmpeg: await program("exec sleep 60"), signal: ended.signal });
    setTimeout(() => ended.abort(new Error("the client has left")), 20);
    await expect(decoding).rejects.toThrow("the client has left");
  });

  test("does not affect files that svc decodes, which need no ffmpeg", async () => {
    const failing = await program("exit 1");
    expect((await rig.decode(fixture("aac.m4a"), { ffmpeg: failing })).length).toBeGreaterThan(30_000);
  });
});

const ffmpeg = Bun.which("ffmpeg");
if (!ffmpeg) console.log("the real ffmpeg decodes nothing: it is not installed");

describe.skipIf(!isBuilt || !ffmpeg)("the real ffmpeg", () => {
  const tools = { ffmpeg: ffmpeg ?? "" };

  test.each(["ac3.mp4", "tone.mp2"])("decodes %s", async (name) => {
    expectTone(await rig.decode(fixture(name), tools), 2);
  });

  test("decodes a file from memory", async () => {
    const bytes = await Bun.file(fixture("tone.mp2")).bytes();
    expect(await rig.decode(bytes, tools)).toEqual(await rig.decode(fixture("tone.mp2"), tools));
  });
});
