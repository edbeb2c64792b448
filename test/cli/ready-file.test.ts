// The file of --ready-file in a folder where others may write as well.

import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ReadyFile } from "../../src/cli/ready-file.ts";
import { temporaryFolder } from "../support/folders.ts";

test("writing it changes no file that a link at a guessable name leads to", () => {
  const folder = temporaryFolder();
  const [path, other] = [join(folder, "ready"), join(folder, "other")];
  writeFileSync(other, "theirs");
  for (const link of [path, `${path}.part-${process.pid}`]) symlinkSync(other, link);
  const file = new ReadyFile(path);
  file.write("http://127.0.0.1:9999");
  expect([readFileSync(path, "utf8"), readFileSync(other, "utf8")]).toEqual(["http://127.0.0.1:9999\n", "theirs"]);
  file.close({ error: () => expect.unreachable() });
  expect(readdirSync(folder).toSorted()).toEqual(["other", `ready.part-${process.pid}`]);
});

test("a folder that has come to be at its path gets nothing beside it", () => {
  const folder = temporaryFolder();
  const path = join(folder, "ready");
  const file = new ReadyFile(path);
  mkdirSync(path);
  expect(() => file.write("http://127.0.0.1:9999")).toThrow("--ready-file");
  expect(readdirSync(folder)).toEqual(["ready"]);
});
