// What nothing here decodes is left to the host's ffmpeg, where there is one.

import { describe, expect, test } from "bun:test";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { fixture, isBuilt, soundRig } from "./rig.ts";

const rig = soundRig();

/** A program that takes ffmpeg's place. */
async function program(script: string): Promise<string> {
  const path = await rig.keep(Buffer.from(`#!/bin/sh\n${script}\n`), `program-${Bun.hash(script)}`);
  chmodSync(path, 0o755);
  return path;
}

describe.skipIf(!isBuilt)("a coding that is not decoded here", () => {
  test("is refused where there is no ffmpeg, with what it would take", async () => {
    expect(await rig.refusal(fixture("ac3.mp4"))).toBe(
      "'file' must be WAV, MP3, FLAC, Ogg, WebM, M4A/MP4, AAC, AIFF or CAF that can be decoded; " +
        "got an MP4 file: a coding that is read with ffmpeg only, which is not installed.",
    );
  });

  test("is decoded by ffmpeg, which opens this file as what it is and nothing that it names", async () => {
    const said = join(rig.folder, "said");
    // Three floats, in pieces that do not end with one.
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

  test("is refused when ffmpeg fails, and when it does not end its sound", async () => {
    const failing = await program("echo no >&2; exit 1");
    expect(await rig.refusal(fixture("ac3.mp4"), { ffmpeg: failing })).toContain("a file that ffmpeg cannot read");
    const endless = await program("exec cat /dev/zero");
    expect(await rig.refusal(fixture("ac3.mp4"), { ffmpeg: endless })).toContain("at most 1 minutes");
  });

  test("ends with the request while ffmpeg says nothing", async () => {
    const ended = new AbortController();
    const decoding = rig.decode(fixture("ac3.mp4"), { ffmpeg: await program("exec sleep 60"), signal: ended.signal });
    setTimeout(() => ended.abort(new Error("the client has left")), 20);
    await expect(decoding).rejects.toThrow("the client has left");
  });

  test("and a file that is decoded here needs none", async () => {
    const failing = await program("exit 1");
    expect((await rig.decode(fixture("aac.m4a"), { ffmpeg: failing })).length).toBeGreaterThan(30_000);
  });
});
