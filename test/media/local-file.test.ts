// Files are read from one folder only: dots, links, pipes and devices do not lead outside.

import { expect, test } from "bun:test";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { sharedFolder } from "../support/folders.ts";
import { flag, limitsWith, loadImage, refusal } from "./files.ts";

const base = sharedFolder();
const root = join(base, "root");
const png = await new Bun.Image(flag(8, 4)).png().bytes();
await mkdir(join(root, "sub folder"), { recursive: true });
await mkdir(join(base, "root-beside"));
await writeFile(join(root, "a.png"), png);
await writeFile(join(root, "..b.png"), png);
await writeFile(join(root, "sub folder", "c.png"), png);
await writeFile(join(root, "empty.png"), "");
await writeFile(join(base, "outside.png"), png);
await writeFile(join(base, "root-beside", "d.png"), png);
await symlink(join(base, "outside.png"), join(root, "escape.png"));
await symlink(base, join(root, "escape"));
await symlink(join(root, "a.png"), join(root, "inner.png"));
await symlink(root, join(base, "link-to-root"));
const limits = limitsWith({ mediaRoot: root });

test("a path or file: URL in the media folder is read, also through a link that stays inside", async () => {
  const references = [
    "a.png",
    "sub folder/c.png",
    "sub folder/../a.png",
    "..b.png",
    "inner.png",
    join(root, "a.png"),
    pathToFileURL(join(root, "sub folder/c.png")).href,
    `FILE://localhost${join(root, "a.png")}`,
    "file://a.png",
    "file:a.png",
  ];
  for (const reference of references) expect((await loadImage(reference, limits)).width).toBe(8);
  expect((await loadImage("a.png", limitsWith({ mediaRoot: join(base, "link-to-root") }))).width).toBe(8);
});

test("a path that begins elsewhere is not looked up, not even if a link there leads into the media folder", async () => {
  const alias = join(base, "link-to-root");
  expect((await loadImage(join(alias, "a.png"), limitsWith({ mediaRoot: alias }))).width).toBe(8);
  expect((await loadImage(join(root, "a.png"), limitsWith({ mediaRoot: alias }))).width).toBe(8);
  expect(await refusal(loadImage(join(alias, "a.png"), limits))).toContain("a path that names none there");
});

test("nothing outside the media folder is read, and errors do not reveal what exists there", async () => {
  const outside = [
    "../outside.png",
    "sub folder/../../outside.png",
    "file://../outside.png",
    "file:%2e%2e%2foutside.png",
    join(base, "outside.png"),
    pathToFileURL(join(base, "outside.png")).href,
    "escape.png",
    "escape/outside.png",
    join(base, "root-beside", "d.png"),
    "/etc/passwd",
    "file:///etc/passwd",
    "/nowhere/at/all",
    "missing.png",
    ".",
    "..",
  ];
  for (const reference of outside) {
    expect([reference, await refusal(loadImage(reference, limits))]).toEqual([
      reference,
      "name a file in the server's media folder; got a path that names none there.",
    ]);
  }
});

test("without a media folder no file is read", async () => {
  for (const reference of [join(root, "a.png"), "a.png", pathToFileURL(join(root, "a.png")).href]) {
    expect(await refusal(loadImage(reference))).toBe(
      "be a data: or http(s) URL, as this server has no media folder; got a path or file: URL.",
    );
  }
});

test("anything but a regular file of an acceptable size is refused", async () => {
  Bun.spawnSync(["mkfifo", join(root, "pipe")]);
  expect(await refusal(loadImage("pipe", limits))).toContain("something that is not a regular file");
  expect(await refusal(loadImage("sub folder", limits))).toContain("something that is not a regular file");
  expect(await refusal(loadImage("empty.png", limits))).toBe("not be empty; got 0 bytes.");
  expect(await refusal(loadImage("a.png", { ...limits, maxImageBytes: 50 }))).toMatch(
    /^be at most 50 bytes; got \d+ bytes/,
  );
  expect(await refusal(loadImage("a\0.png", limits))).toBe(
    "name a file in the server's media folder; got a string of length 6 that is not a path.",
  );
  expect(await refusal(loadImage("file:%zz", limits))).toContain("a broken escape");
});
