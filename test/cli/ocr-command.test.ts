// `svc ocr` as a program.

import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sharedFolder } from "../support/folders.ts";
import { drawn, pdfOf, pngOf, scanned } from "../support/pages.ts";
import { runSvc } from "../support/program.ts";
import { PROGRAM } from "../support/server.ts";
import { english, NO_ENGLISH } from "../support/tessdata.ts";

setDefaultTimeout(120_000);
const folder = sharedFolder();
const at = (name: string) => join(folder, name);

beforeAll(async () => {
  writeFileSync(at("a.pdf"), pdfOf([{ lines: ["First page"] }, { lines: ["Second page"] }]));
  writeFileSync(at("b.png"), await pngOf(await drawn({ lines: ["From a picture"], paper: [300, 150] })));
  writeFileSync(at("a.txt"), "plain");
});

const svc = (args: readonly string[], stdin?: Uint8Array) =>
  runSvc(["ocr", ...args], { env: { ...process.env, TMPDIR: folder, NO_COLOR: "1" }, stdin });

test.each([
  ["no file", [], 2, "needs the names of images or documents"],
  ["two results of one name", [at("a.pdf"), at("a.txt"), "-o", at("texts")], 2, "would both be"],
  ["an unknown form", [at("a.pdf"), "--format", "xml"], 2, "--format must be one of text, markdown, csv, json."],
  ["a misspelt form", [at("a.pdf"), "--format", "markdwn"], 2, "csv, json. Did you mean markdown?"],
  ["a file that is not there", [at("c.png")], 1, "c.png: there is no such file."],
] as const)("refuses %s in one sentence", async (_, args, code, sentence) => {
  const { code: exit, err } = await svc(args);
  expect([exit, err]).toEqual([code, expect.stringContaining(sentence)]);
  expect(err.trimEnd().split("\n")).toHaveLength(1);
});

test.skipIf(process.getuid?.() === 0)("refuses a file that its user may not read in one sentence", async () => {
  writeFileSync(at("locked.png"), "", { mode: 0 });
  const { code, err } = await svc([at("locked.png")]);
  expect([code, err]).toEqual([1, `svc: ${at("locked.png")}: it cannot be read: there is no permission.\n`]);
});

test("prints what documents say, of some pages alone, and says which file is none", async () => {
  expect(await svc([at("a.pdf")])).toEqual({ code: 0, out: "First page\n\nSecond page\n", err: "" });
  const some = await svc([at("a.pdf"), "--pages", "2", "--format", "markdown", "-o", at("some")]);
  expect([some.code, readFileSync(at("some/a.md"), "utf8")]).toEqual([0, "Second page\n"]);
  const wrong = await svc([at("a.pdf"), "--pages", "x"]);
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining("a.pdf: --pages must be numbers of pages")]);
  const { code, err } = await svc([at("a.txt")]);
  expect([code, err]).toEqual([1, expect.stringContaining(`${at("a.txt")}: it must be a PNG`)]);
});

test.skipIf(process.platform === "win32" || !english)(
  `tells a terminal which page it is at (${NO_ENGLISH})`,
  async () => {
    // Pages that have to be recognised, enough that a redraw falls between two of them.
    writeFileSync(at("many.pdf"), scanned(await drawn({ lines: ["A page"], paper: [200, 150] }), 8));
    let shown = "";
    const terminal = {
      cols: 100,
      rows: 30,
      data: (_: unknown, bytes: Uint8Array) => void (shown += new TextDecoder().decode(bytes)),
    };
    const env = { ...process.env, TMPDIR: folder, TERM: "xterm" };
    const command = [...PROGRAM, "ocr", at("many.pdf"), "-o", at("many.txt")];
    expect(await Bun.spawn(command, { env, terminal }).exited).toBe(0);
    expect(shown).toMatch(/[0-9]+ of 8 pages/);
  },
);

describe.skipIf(!english)(`pictures (${NO_ENGLISH})`, () => {
  test("are read from files and from standard input, which leaves none behind, with blanks between languages", async () => {
    const { code, out } = await svc([at("b.png"), "-", "--language", "en, eng"], readFileSync(at("b.png")));
    expect([code, out]).toEqual([0, `${at("b.png")}:\nFrom a picture\n\nstandard input:\nFrom a picture\n\n`]);
    expect(readdirSync(folder).filter((name) => name.startsWith("svc-stdin-"))).toEqual([]);
  });
});
