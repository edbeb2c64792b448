// `svc draw` as a program, and images in terminals.

import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { inlineImage } from "../../src/cli/inline-image.ts";
import { measureImage } from "../../src/media/image.ts";
import { isBuilt } from "../native/image-harness.ts";
import { sharedFolder } from "../support/folders.ts";
import { PROGRAM } from "../support/server.ts";

setDefaultTimeout(60_000);

const folder = sharedFolder();
const at = (name: string) => join(folder, name);

const svc = async (...args: string[]): Promise<[number, string]> =>
  (await run(...args)).slice(0, 2) as [number, string];

async function run(...args: string[]): Promise<[number, string, Uint8Array]> {
  const env = { ...process.env, TMPDIR: folder, NO_COLOR: "1" };
  const child = Bun.spawn([...PROGRAM, "draw", ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
  return Promise.all([child.exited, child.stderr.text(), child.stdout.bytes()]);
}

test.each([
  ["no description", ["-o", "a.png"], "needs a description"],
  ["a number that is none", ["a circle", "-n", "two", "-o", "a.png"], "-n must be a whole number"],
  ["a seed below all", ["a circle", "--seed", "-1", "-o", "a.png"], "--seed must be a whole number"],
  ["a file of another kind", ["a circle", "-o", "a.gif"], "must name a file that ends in .png, .jpeg, .webp or .jpg"],
  [
    "an unknown format",
    ["a circle", "-o", at("b"), "--format", "gif"],
    "svc: --format must be one of png, jpeg, webp.",
  ],
  ["a misspelt format", ["a circle", "-o", at("b"), "--format", "PNGG"], "webp. Did you mean png?"],
  ["a file of another format", ["a circle", "-o", "b.png", "--format", "jpeg"], "a file for png, and --format is jpeg"],
  ["a folder", ["a circle", "-o", folder], "-o must name a file; "],
  [
    "a folder that is not there yet",
    ["a circle", "-n", "2", "-o", "pictures/"],
    "-o must name a file; pictures/ is a folder.",
  ],
  ["several images in one stream", ["a circle", "-n", "2"], "name a file with -o"],
] as const)("refuses %s in one sentence", async (_, args, sentence) => {
  const [code, error] = await svc(...args);
  expect([code, error]).toEqual([2, expect.stringContaining(sentence)]);
  expect(error.trimEnd().split("\n")).toHaveLength(1);
});

test.skipIf(!isBuilt)("a value that the API refuses is reported with the option that the user typed", async () => {
  const refused = async (...args: string[]) => svc("a circle", ...args, "-o", at("refused.png"));
  expect(await refused("--size", "7x")).toEqual([
    2,
    expect.stringMatching(/^svc: --size must be auto or WIDTHxHEIGHT/),
  ]);
  expect(await refused("-n", "0")).toEqual([2, expect.stringMatching(/^svc: -n must be an integer from 1/)]);
  const long = await svc("red ".repeat(20_000), "-o", at("refused.png"));
  expect(long).toEqual([2, expect.stringMatching(/^svc: The description /)]);
});

test.skipIf(!isBuilt)("images are written to files with descriptive names", async () => {
  const words = ["a", "red", "circle"];
  const [code, told] = await svc(...words, "-n", "2", "--steps", "1", "--seed", "7", "-o", at("circle.webp"));
  expect(code).toBe(0);
  expect(told).toContain(`${at("circle-1.webp")}: 128x128, seed 7\n${at("circle-2.webp")}: 128x128, seed 8\n`);
  const webp = measureImage(readFileSync(at("circle-2.webp")), { maxPixels: 1e6, formats: ["webp"] });
  expect([webp.width, webp.height]).toEqual([128, 128]);
  expect(readdirSync(folder).toSorted()).toEqual(["circle-1.webp", "circle-2.webp"]);
  // `-` means standard output, as it means standard input for files to read.
  const [, , image] = await run(...words, "--steps", "1", "-o", "-");
  expect(measureImage(image, { maxPixels: 1e6, formats: ["png"] }).width).toBe(128);
});

describe("images in the terminal", () => {
  const png = new Uint8Array(4000).fill(1);
  const base64 = Buffer.from(png).toString("base64");

  test("kitty gets images in pieces, the last of which is marked", () => {
    const written = inlineImage({ TERM: "xterm-kitty" })?.(png) ?? "";
    const pieces = written
      .trimEnd()
      .split("\x1b\\")
      .slice(0, -1)
      .map((piece) => piece.replace("\x1b_G", "").split(";"));
    expect(pieces.map(([keys, data = ""]) => [keys, data.length])).toEqual([
      ["a=T,f=100,m=1", 4096],
      ["m=0", base64.length - 4096],
    ]);
    expect(pieces.map(([, data]) => data).join("")).toBe(base64);
  });

  test("iTerm2 gets images in one piece", () => {
    expect(inlineImage({ TERM_PROGRAM: "iTerm.app" })?.(png)).toBe(`\x1b]1337;File=inline=1;size=4000:${base64}\x07\n`);
  });

  test("other terminals get no images", () => {
    expect(inlineImage({ TERM: "xterm-256color" })).toBeUndefined();
    expect(inlineImage({})).toBeUndefined();
    expect(inlineImage({ TERM: "xterm-kitty", TMUX: "/tmp/tmux" })).toBeUndefined();
  });
});
