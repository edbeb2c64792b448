// `svc draw`: what it refuses before anything is computed, and how terminals are shown images.

import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { inlineImage } from "../../src/cli/inline-image.ts";

const main = join(import.meta.dir, "../../src/main.ts");

async function svc(...args: string[]): Promise<[number, string]> {
  const env = { ...process.env, NO_COLOR: "1" };
  const child = Bun.spawn([process.execPath, main, "draw", ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
  const [code, error] = await Promise.all([child.exited, child.stderr.text()]);
  return [code, error];
}

test.each([
  ["no description", ["-o", "a.png"], "needs a description"],
  ["a number that is none", ["a circle", "-n", "two", "-o", "a.png"], "-n must be a whole number"],
  ["a seed below all", ["a circle", "--seed", "-1", "-o", "a.png"], "--seed must be a whole number"],
  ["a file of another kind", ["a circle", "-o", "a.gif"], "must name a file that ends in .png, .jpeg, .webp or .jpg"],
  ["several images in one stream", ["a circle", "-n", "2"], "name a file with -o"],
] as const)("refuses %s in one sentence", async (_, args, sentence) => {
  const [code, error] = await svc(...args);
  expect([code, error]).toEqual([2, expect.stringContaining(sentence)]);
  expect(error.trimEnd().split("\n")).toHaveLength(1);
});

describe("images in the terminal", () => {
  const png = new Uint8Array(4000).fill(1);
  const base64 = Buffer.from(png).toString("base64");

  test("kitty gets them in pieces, of which the last says so", () => {
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

  test("iTerm2 gets them whole", () => {
    expect(inlineImage({ TERM_PROGRAM: "iTerm.app" })?.(png)).toBe(`\x1b]1337;File=inline=1;size=4000:${base64}\x07\n`);
  });

  test("others get none", () => {
    expect(inlineImage({ TERM: "xterm-256color" })).toBeUndefined();
    expect(inlineImage({})).toBeUndefined();
    expect(inlineImage({ TERM: "xterm-kitty", TMUX: "/tmp/tmux" })).toBeUndefined();
  });
});
