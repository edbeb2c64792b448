// How the compiled binary unpacks the files inside it, with a small archive.

import { beforeEach, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import {
  doubt,
  downloadOf,
  extract,
  extractInto,
  isDownloaded,
  isSound,
  removeUnused,
} from "../../ffi/runtime/extract.ts";
import { keepsBelow } from "../../ffi/runtime/ownership.ts";
import { temporaryFolder } from "../support/folders.ts";

const contents = { "liba.so": "first library", "libb.so": "the second one", "model.gguf": "weights".repeat(1000) };
const sha256 = (bytes: Uint8Array) => new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
let root: string;
let cache: string;

const packed = Bun.zstdCompressSync(Buffer.from(Object.values(contents).join("")));
const embedded = () => ({
  archive: join(root, "archive.zst"),
  bytes: packed.length,
  sha256: sha256(packed),
  id: "0123abcd",
  files: Object.entries(contents).map(([name, text]) => ({ name, size: text.length, crc32: crc32(text) })),
});
/** Returns the files in a folder with their contents, without what svc notes there. */
const read = (directory: string) =>
  Object.fromEntries(
    readdirSync(directory)
      .filter((name) => name !== ".compared")
      .map((name) => [name, readFileSync(join(directory, name), "utf8")]),
  );

beforeEach(() => {
  root = realpathSync(temporaryFolder());
  cache = join(root, "deep/cache");
  writeFileSync(join(root, "archive.zst"), packed);
});

test("the first start writes every file, readable only by the owner, and leaves nothing else", () => {
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

test("content is compared after a write and once a day", () => {
  const component = embedded();
  const { directory } = extract(component, cache);
  const damaged = "first librarx";
  writeLater(join(directory, "liba.so"), damaged);
  // As if the disk had damaged the file after its last write.
  const [liba, ...others] = component.files;
  expect(isSound({ ...component, files: [{ ...liba!, crc32: crc32(damaged) }, ...others] }, directory)).toBe(true);
  expect(isSound(component, directory)).toBe(true);
  const note = join(directory, ".compared");
  const setTime = (ms: number) => utimesSync(note, new Date(ms), new Date(ms));
  setTime(Date.now() + 25 * 3_600_000);
  expect(isSound(component, directory)).toBe(false);
  setTime(Date.now() - 25 * 3_600_000);
  expect(isSound(component, directory)).toBe(false);
  setTime(Date.now() - 23 * 3_600_000);
  expect(isSound(component, directory)).toBe(true);
  doubt(directory);
  expect(isSound(component, directory)).toBe(false);
});

test("content is compared again after a file was written", () => {
  const component = embedded();
  const { directory } = extract(component, cache);
  writeLater(join(directory, "liba.so"), "first librarx");
  expect(isSound(component, directory)).toBe(false);
});

test("a component that was downloaded is unpacked from there once, and the archive is removed", () => {
  const { archive, ...component } = embedded();
  expect(() => extractInto(component, cache)).toThrow("not there");
  renameSync(archive, downloadOf(component, cache));
  const directory = extractInto(component, cache);
  expect(read(directory)).toEqual(contents);
  expect(readdirSync(cache)).toEqual(["lib-0123abcd"]);
  expect(extractInto(component, cache)).toBe(directory);
});

test("an archive that is not what was released is neither unpacked nor kept, though its files have the sizes and checksums", () => {
  const { archive, ...component } = embedded();
  const downloaded = downloadOf(component, cache);
  mkdirSync(cache, { recursive: true });
  renameSync(archive, downloaded);
  const released = { ...component, sha256: sha256(Buffer.from("what was released")) };
  expect(() => extractInto(released, cache)).toThrow("is not what was released");
  expect(readdirSync(cache)).toEqual([]);
  symlinkSync("/dev/zero", downloaded);
  expect(isDownloaded(component, cache)).toBe(false);
  expect(() => extractInto(component, cache)).toThrow("not there");
});

test("files of other versions are removed after a month without use, and no other files are", () => {
  const ours = { ...embedded(), id: "00000000000000aa" };
  const [used, unused] = ["00000000000000bb", "00000000000000cc"].map((id) => ({ ...embedded(), id }));
  const others = ["lib-tools", "lib-00000000000000dd-notes", "kept.zst"];
  mkdirSync(cache, { recursive: true });
  for (const name of others) writeFileSync(join(cache, name), "");
  for (const component of [ours, used, unused]) if (component) extractInto(component, cache);
  writeFileSync(join(cache, "lib-00000000000000cc.zst"), "");
  const old = new Date(Date.now() - 31 * 24 * 3_600_000);
  for (const name of readdirSync(cache)) utimesSync(join(cache, name), old, old);
  if (used) extractInto(used, cache);
  removeUnused([ours], cache);
  expect(readdirSync(cache).toSorted()).toEqual(["lib-00000000000000aa", "lib-00000000000000bb", ...others].toSorted());
});

/** Writes a file later than the last write, by the clock of a file system that only knows the last timer tick. */
function writeLater(path: string, text: string): void {
  Bun.sleepSync(20);
  writeFileSync(path, text);
}

/** Faults of a valid folder, which must not be loaded. */
const faults: readonly (readonly [string, (directory: string) => void])[] = [
  ["a truncated file", (directory) => truncateSync(join(directory, "libb.so"), 5)],
  ["an empty file", (directory) => truncateSync(join(directory, "model.gguf"), 0)],
  ["a damaged file of the same size", (directory) => writeLater(join(directory, "liba.so"), "first librarx")],
  ["a missing file", (directory) => rmSync(join(directory, "model.gguf"))],
  ["a file that its group may write", (directory) => chmodSync(join(directory, "liba.so"), 0o770)],
  ["a file that all may write", (directory) => chmodSync(join(directory, "liba.so"), 0o702)],
  ["a folder that its group may write", (directory) => chmodSync(directory, 0o770)],
  ["a link to a file", (directory) => replaceByLink(join(directory, "liba.so"))],
  ["a link to a folder", (directory) => replaceByLink(directory)],
  ["a file in place of the folder", (directory) => replaceBy(directory, (path) => writeFileSync(path, ""))],
];

function replaceBy(path: string, make: (path: string) => void): void {
  renameSync(path, join(root, "elsewhere"));
  make(path);
}
const replaceByLink = (path: string) => replaceBy(path, () => symlinkSync(join(root, "elsewhere"), path));

function expectRepaired(fault: (directory: string) => void): void {
  const { directory } = extract(embedded(), cache);
  fault(directory);
  expect(extract(embedded(), cache)).toEqual({ directory });
  expect(read(directory)).toEqual(contents);
  for (const path of [directory, join(directory, "liba.so")]) {
    const found = lstatSync(path);
    expect([found.uid, found.mode & 0o777, found.isSymbolicLink()]).toEqual([process.getuid?.() ?? -1, 0o700, false]);
  }
  expect(readdirSync(cache)).toEqual(["lib-0123abcd"]);
}

test.each(faults)("%s is replaced", (_, fault) => expectRepaired(fault));

const isRoot = process.getuid?.() === 0;
const stranger = 12_345;

test.if(isRoot)("a file and a folder of another user are replaced", () => {
  expectRepaired((directory) => chownSync(join(directory, "liba.so"), stranger, stranger));
  expectRepaired((directory) => chownSync(directory, stranger, stranger));
});

test.if(isRoot)("nothing is loaded from a cache folder of another user", () => {
  extract(embedded(), cache);
  chownSync(cache, stranger, stranger);
  const { directory, warning } = extract(embedded(), cache, join(root, "tmp"));
  expect(directory).toStartWith(join(root, "tmp/svc-"));
  expect(warning).toContain(
    `${cache} cannot hold the native libraries (other users can change it, or a folder that it is in)`,
  );
});

test.if(isRoot)("nothing is loaded from below a folder of another user", () => {
  extract(embedded(), cache);
  chownSync(join(root, "deep"), stranger, stranger);
  expect(extract(embedded(), cache, join(root, "tmp")).directory).toStartWith(join(root, "tmp/svc-"));
});

test("a cache folder whose parent others can change is not used, unless the parent is like /tmp", () => {
  extract(embedded(), cache);
  chmodSync(join(root, "deep"), 0o777);
  expect(extract(embedded(), cache, join(root, "tmp")).directory).toStartWith(join(root, "tmp/svc-"));
  chmodSync(join(root, "deep"), 0o1777);
  expect(extract(embedded(), cache)).toEqual({ directory: join(cache, "lib-0123abcd") });
});

test("a parent folder may belong to a user unknown in a user namespace, such as the machine's root", () => {
  const unknown = 65_534;
  expect(keepsBelow({ uid: unknown, mode: 0o40755 }, unknown)).toBe(true);
  expect(keepsBelow({ uid: unknown, mode: 0o40777 }, unknown)).toBe(false);
  expect(keepsBelow({ uid: unknown, mode: 0o41777 }, unknown)).toBe(true);
  expect(keepsBelow({ uid: unknown, mode: 0o40755 }, 1)).toBe(false);
});

test("a link to the cache folder is resolved once, because it may change later", () => {
  mkdirSync(cache, { recursive: true });
  symlinkSync(cache, join(root, "link"));
  expect(extract(embedded(), join(root, "link"))).toEqual({ directory: join(cache, "lib-0123abcd") });
});

test("a cache folder whose content others can replace is not used, unless it is like /tmp", () => {
  mkdirSync(cache, { recursive: true });
  chmodSync(cache, 0o777);
  expect(extract(embedded(), cache, join(root, "tmp")).directory).toStartWith(join(root, "tmp/svc-"));
  chmodSync(cache, 0o1777);
  expect(extract(embedded(), cache)).toEqual({ directory: join(cache, "lib-0123abcd") });
});

test("a cache folder that cannot be created is replaced by a private temporary one, with a warning that names both", () => {
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

test("files left by a killed process are removed after a while, those of a running one are not", () => {
  for (const name of [".lib-old", ".lib-new"]) {
    mkdirSync(join(cache, name), { recursive: true });
    writeFileSync(join(cache, name, "liba.so"), "first li");
  }
  utimesSync(join(cache, ".lib-old"), 0, 0);
  expect(read(extract(embedded(), cache).directory)).toEqual(contents);
  expect(readdirSync(cache).sort()).toEqual([".lib-new", "lib-0123abcd"]);
});

const canMount = Bun.which("unshare") !== null && Bun.spawnSync(["unshare", "-rm", "true"]).success;

/** Returns what this expression over `extract`, `component`, `cache` and `temporary` gives, on a cache mounted noexec. */
function onNoexec(expression: string): unknown {
  mkdirSync(cache, { recursive: true });
  const module = JSON.stringify(join(import.meta.dir, "../../ffi/runtime/extract.ts"));
  const given = JSON.stringify([embedded(), cache, join(root, "tmp")]);
  const script = `import { extract } from ${module}; const [component, cache, temporary] = ${given}; console.log(JSON.stringify(${expression}));`;
  const mounted = 'mount -t tmpfs -o noexec,mode=700 tmpfs "$1" && exec "$2" -e "$3"';
  const { stdout } = Bun.spawnSync(["unshare", "-rm", "sh", "-c", mounted, "sh", cache, process.execPath, script]);
  return JSON.parse(stdout.toString());
}

test.if(canMount)("a cache folder that is mounted noexec is replaced by a temporary one, for root as well", () => {
  const { directory, warning } = onNoexec("extract(component, cache, temporary)") as ReturnType<typeof extract>;
  expect(directory).toStartWith(join(root, "tmp/svc-"));
  expect(read(directory)).toEqual(contents);
  expect(warning).toContain(`${cache} cannot hold the native libraries (mounted noexec)`);
});

test.if(canMount)("later starts with such a cache folder do not unpack anything", () => {
  onNoexec("extract(component, cache, temporary)");
  rmSync(join(root, "archive.zst"));
  expect(onNoexec("extract(component, cache, temporary)")).toMatchObject({
    directory: expect.stringContaining(join(root, "tmp/svc-")),
    warning: expect.stringContaining("(mounted noexec)"),
  });
});

test.if(isRoot)(
  "a file mode mask that keeps files from being executable does not keep libraries from being loaded",
  () => {
    const mask = process.umask(0o177);
    try {
      expect(extract(embedded(), cache)).toEqual({ directory: join(cache, "lib-0123abcd") });
    } finally {
      process.umask(mask);
    }
  },
);
