// The compiled binary runs the shell blocks of the pages that need no model of the reader's: README's commands without a
// server, and those of docs/ci.md. Each block must end without an error and leave the files that it names.

import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeMp3Encoder } from "../../src/audio/encode/mp3.ts";
import { SPEECH_RATE } from "../../src/domain/speech.ts";
import { jfkPcm } from "../clients/sounds.ts";
import { blocksOf, pages, type Block } from "../docs/markdown.ts";
import { BINARY, withSandbox } from "../support/binary.ts";
import { freePort } from "../support/free-port.ts";
import { ownEnvironment } from "../support/own-environment.ts";
import { drawn, scanned } from "../support/pages.ts";
import { runToEnd } from "../support/program.ts";

setDefaultTimeout(180_000);

const shellBlocks = (path: string): Block[] =>
  pages()
    .filter((page) => page.path === path)
    .flatMap(blocksOf)
    .filter(({ language, note }) => language === "sh" && note === "");

const withoutServer = shellBlocks("README.md").filter(({ code }) => code.includes("svc transcribe"));
const blocks = [...withoutServer, ...shellBlocks("docs/ci.md")];

/** Models that a build without pip leaves out. */
const isComplete = existsSync(join(import.meta.dir, "../../vendor/.build/speech/current"));
if (!isComplete) console.log("skipped: speech and text recognition were not built");

/** Returns whether a file that a block writes has what the block promises, by its name. */
const isRight: Readonly<Record<string, (bytes: Buffer) => boolean>> = {
  "talk.srt": (bytes) => /^1\n00:00:0\d,\d+ --> 00:00:[^]*country/i.test(bytes.toString()),
  "morning.mp3": (bytes) => bytes.length > 4000 && bytes.readUInt16BE() >= 0xffe0,
  "scan.md": (bytes) => bytes.includes("Minutes of the meeting"),
  "circle.png": (bytes) => bytes.includes("PNG") && bytes.includes("IEND"),
  "answer.txt": (bytes) => bytes.includes("Paris"),
  "answer.json": (bytes) => JSON.parse(bytes.toString()).choices[0].message.content.includes("Paris"),
  "options.json": (bytes) => JSON.parse(bytes.toString()).options.length > 100,
  "city.json": (bytes) => typeof JSON.parse(bytes.toString()).city === "string",
};

async function writeFixtures(folder: string): Promise<void> {
  // The last words alone.
  const pcm = new Int16Array(jfkPcm().buffer).subarray(7.5 * SPEECH_RATE);
  const encoder = await makeMp3Encoder();
  const samples = Float32Array.from(pcm, (sample) => sample / 0x8000);
  writeFileSync(join(folder, "talk.mp3"), Buffer.concat([encoder.push(samples), encoder.finish()]));
  const page = await drawn({ lines: ["Minutes of the meeting"], size: 24 });
  writeFileSync(join(folder, "scan.pdf"), scanned(page, 1));
}

test("README has the block of commands without a server, and docs/ci.md has three for shells", () => {
  expect(blocks.map(({ place }) => place.replace(/:\d+$/, ""))).toEqual(["README.md", ...Array(3).fill("docs/ci.md")]);
});

for (const { place, code } of blocks) {
  const needs = code.includes("svc say") ? isComplete : !code.includes("curl") || Bun.which("curl") !== null;
  test.skipIf(!needs)(`${place} runs, and leaves the files that it names`, () =>
    withSandbox(async ({ root, empty, cacheDir }) => {
      const bin = join(root, "bin");
      mkdirSync(bin);
      symlinkSync(BINARY, join(bin, "svc"));
      await writeFixtures(empty);
      const env = ownEnvironment({ PATH: `${bin}:${process.env["PATH"]}`, HOME: root, SVC_CACHE_DIR: cacheDir });
      // A server that a failed block leaves would hold its output open.
      // unpacking.test.ts runs the whole self-test.
      const run = code.replaceAll("9999", String(await freePort())).replace(/^svc self-test$/m, "$& --chats");
      const script = `trap 'kill $(jobs -p) 2>/dev/null || true' EXIT\nset -e\n${run}\nwait`;
      const { code: status, out, err } = await runToEnd(["bash", "-c", script], { cwd: empty, env });
      expect([status, status === 0 ? "" : `${out}${err}`]).toEqual([0, ""]);
      expect(err).not.toContain("svc: ");
      const named = [...code.matchAll(/(?:-o|>) ([\w-]+\.\w+)/g)].map(([, name = ""]) => name);
      const wrong = named.filter((name) => !isRight[name]?.(readFileSync(join(empty, name))));
      expect(wrong).toEqual([]);
      // What is not written to a file is an answer, or that of curl.
      if (/svc -s (?!.*>)|curl/.test(code)) expect(out).toContain("Paris");
    }),
  );
}
