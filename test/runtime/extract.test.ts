// What the compiled binary does with the files inside it, on a small archive.

import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { extract } from "../../ffi/runtime/extract.ts";
import { isNoexec } from "../../ffi/runtime/mounts.ts";

const contents = { "liba.so": "first library", "libb.so": "the second one", "model.gguf": "weights".repeat(1000) };
let root: string;
let cache: string;

const embedded = () => ({
  archive: join(root, "archive.zst"),
  id: "0123abcd",
  files: Object.entries(contents).map(([name, text]) => ({ name, size: text.length })),
});
const read = (directory: string) =>
  Object.fromEntries(readdirSync(directory).map((name) => [name, readFileSync(join(directory, name), "utf8")]));

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "svc-test-"));
  cache = join(root, "deep/cache");
  writeFileSync(join(root, "archive.zst"), Bun.zstdCompressSync(Buffer.from(Object.values(contents).join(""))));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

test("the first start writes every file, readable by the owner alone, and leaves nothing else", () => {
  const { directory, warning } = extract(embedded(), cache);
  expect(warning).toBeUndefined();
  expect(directory).toBe(join(cache, "lib-0123abcd"));
  expect(read(directory)).toEqual(contents);
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  expect(readdirSync(cache)).toEqual(["lib-0123abcd"]);
});

test("the second start writes nothing", () => {
  const { directory } = extract(embedded(), cache);
  const before = statSync(join(directory, "liba.so"));
  rmSync(join(root, "archive.zst")); // it would be needed to write anything
  expect(extract(embedded(), cache)).toEqual({ directory });
  const { ino, mtimeMs } = statSync(join(directory, "liba.so"));
  expect({ ino, mtimeMs }).toEqual({ ino: before.ino, mtimeMs: before.mtimeMs });
});

test("a truncated, a missing, and a wholly foreign cache are repaired", () => {
  const { directory } = extract(embedded(), cache);
  const damages = [
    () => truncateSync(join(directory, "libb.so"), 5),
    () => rmSync(join(directory, "model.gguf")),
    () => {
      rmSync(directory, { recursive: true });
      writeFileSync(directory, "a file where the folder should be");
    },
  ];
  for (const damage of damages) {
    damage();
    expect(extract(embedded(), cache)).toEqual({ directory });
    expect(read(directory)).toEqual(contents);
    expect(readdirSync(cache)).toEqual(["lib-0123abcd"]);
  }
});

test("a cache folder that cannot be made is replaced by a private temporary one, with a warning that names both", () => {
  writeFileSync(join(root, "file"), "");
  const { directory, warning } = extract(embedded(), join(root, "file/cache"), join(root, "tmp"));
  expect(directory).toStartWith(join(root, "tmp/svc-"));
  expect(read(directory)).toEqual(contents);
  expect(warning).toContain(join(root, "file/cache"));
  expect(warning).toContain(directory);
});

test("when no folder can be used, the error names --cache-dir", () => {
  writeFileSync(join(root, "file"), "");
  const at = (folder: string) => join(root, "file", folder);
  expect(() => extract(embedded(), at("cache"), at("tmp"))).toThrow("--cache-dir");
});

test("a temporary folder that other users can write to is not trusted", () => {
  writeFileSync(join(root, "file"), "");
  extract(embedded(), join(root, "file/cache"), join(root, "tmp"));
  const [own = ""] = readdirSync(join(root, "tmp"));
  Bun.spawnSync(["chmod", "777", join(root, "tmp", own)]);
  expect(() => extract(embedded(), join(root, "file/cache"), join(root, "tmp"))).toThrow("open to other users");
});

test("what a killed process left behind is removed after a while, what a running one writes is not", () => {
  for (const name of [".lib-old", ".lib-new"]) mkdirSync(join(cache, name), { recursive: true });
  utimesSync(join(cache, ".lib-old"), 0, 0);
  extract(embedded(), cache);
  expect(readdirSync(cache).sort()).toEqual([".lib-new", "lib-0123abcd"]);
});

test("the mount that holds a folder decides whether libraries can be loaded from it", () => {
  const mounts = [
    "/dev/a / ext4 rw 0 0",
    "tmp /tmp tmpfs rw,noexec,nosuid 0 0",
    "tmp /tmp/with\\040space tmpfs rw 0 0",
    "tmp /over tmpfs rw,noexec 0 0",
    "tmp /over tmpfs rw 0 0",
  ].join("\n");
  expect(isNoexec("/tmp/svc", mounts)).toBe(true);
  expect(isNoexec("/tmp", mounts)).toBe(true);
  expect(isNoexec("/tmpfoo", mounts)).toBe(false);
  expect(isNoexec("/home/me", mounts)).toBe(false);
  expect(isNoexec("/tmp/with space/svc", mounts)).toBe(false);
  expect(isNoexec("/over/svc", mounts)).toBe(false);
});
