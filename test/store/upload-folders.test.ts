import { expect, onTestFinished, test } from "bun:test";
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ByteBudget } from "../../src/domain/byte-budget.ts";
import { uploadFolders } from "../../src/store/upload-folders.ts";
import { temporaryFolder } from "../support/folders.ts";

const bytes = new Uint8Array([1, 2, 3]);
const uploadsIn = (parent: string) =>
  readdirSync(parent, { recursive: true, encoding: "utf8" }).filter((path) => /[\\/]\d+$/.test(path));

test("a recording is readable by its owner only, and deleted when it is discarded", async () => {
  const parent = temporaryFolder();
  const { recordings } = uploadFolders(parent, 100, new ByteBudget());
  const { path, discard } = await recordings.receive([bytes, bytes]);
  expect([statSync(path).size, statSync(path).mode & 0o777, statSync(dirname(path)).mode & 0o777]).toEqual([
    6, 0o600, 0o700,
  ]);
  await discard();
  expect(existsSync(path)).toBe(false);
  recordings.close();
  expect(readdirSync(parent)).toEqual([]);
});

test("a recording that is too large or empty is refused and deleted", async () => {
  const parent = temporaryFolder();
  const { recordings } = uploadFolders(parent, 5, new ByteBudget());
  const code = (chunks: Uint8Array[]) =>
    recordings.receive(chunks).then(
      () => "",
      (error) => error.code,
    );
  expect(await code([bytes, bytes])).toBe("payload_too_large");
  expect(await code([])).toBe("invalid_value");
  expect(uploadsIn(parent)).toEqual([]);
});

test("files of a killed server are deleted when the next server starts; those of a running one stay", () => {
  const parent = temporaryFolder();
  const gone = Bun.spawnSync(["true"]).pid;
  // In a container, every server has the same process id.
  const same = `svc-recordings-${process.pid}-abc`;
  for (const name of [
    `svc-recordings-${gone}-abc`,
    `svc-stdin-${gone}-abc`,
    `svc-launch-${gone}-abc`,
    `svc-say-${gone}-abc`,
    same,
    `svc-recordings-${process.ppid}-def`,
    "svc-recordings-mine",
  ]) {
    mkdirSync(join(parent, name));
    writeFileSync(join(parent, name, "1"), "private words");
  }
  uploadFolders(parent, 100, new ByteBudget());
  expect(readdirSync(parent).sort()).toEqual([`svc-recordings-${process.ppid}-def`, "svc-recordings-mine"].sort());
});

test("files of a running server in another container stay, whose process id is the same, until it is killed", async () => {
  const parent = temporaryFolder();
  const module = JSON.stringify(join(import.meta.dir, "../../src/store/temporary-folder.ts"));
  const script = `const { TemporaryFolder } = await import(${module});
    Object.defineProperty(process, "pid", { value: ${process.pid} });
    const { path } = new TemporaryFolder(${JSON.stringify(parent)}, "recordings");
    Bun.gc(true);
    console.log(path);
    setInterval(() => {}, 1000);`;
  const other = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" });
  onTestFinished(() => other.kill("SIGKILL"));
  await other.stdout.getReader().read();
  uploadFolders(parent, 100, new ByteBudget());
  expect(readdirSync(parent)).toEqual([expect.stringContaining(`svc-recordings-${process.pid}-`)]);
  other.kill("SIGKILL");
  await other.exited;
  uploadFolders(parent, 100, new ByteBudget());
  expect(readdirSync(parent)).toEqual([]);
});

test("uploads go on after their folder was removed", async () => {
  const { recordings } = uploadFolders(temporaryFolder(), 100, new ByteBudget());
  const { path } = await recordings.receive([bytes]);
  rmSync(dirname(path), { recursive: true });
  const next = await recordings.receive([bytes]);
  expect([existsSync(next.path), statSync(dirname(next.path)).mode & 0o777]).toEqual([true, 0o700]);
});

test("files of the same process stay when it starts another server", async () => {
  const parent = temporaryFolder();
  const { path } = await uploadFolders(parent, 100, new ByteBudget()).recordings.receive([bytes]);
  uploadFolders(parent, 100, new ByteBudget());
  expect(existsSync(path)).toBe(true);
});

test.skipIf(process.platform === "win32")("a folder that cannot be deleted keeps no other one from being", () => {
  const parent = temporaryFolder();
  const gone = Bun.spawnSync(["true"]).pid;
  // Root may delete everything.
  const user = process.getuid?.() || 65_534;
  const own = (path: string) => process.getuid?.() === 0 && chownSync(path, user, user);
  own(parent);
  const isStuck = (name: string) => /[ac]$/.test(name);
  for (const name of ["a", "b", "c", "d"]) {
    const path = join(parent, `svc-pictures-${gone}-${name}`);
    mkdirSync(path);
    writeFileSync(join(path, "1"), "private words");
    own(path);
    if (isStuck(name)) chmodSync(path, 0o500);
  }
  const module = JSON.stringify(join(import.meta.dir, "../../src/store/temporary-folder.ts"));
  const script = `const { removeAbandoned } = await import(${module});
    if (process.getuid() === 0) process.setuid(${user});
    removeAbandoned(${JSON.stringify(parent)});`;
  const { exitCode } = Bun.spawnSync([process.execPath, "-e", script]);
  const left = readdirSync(parent);
  for (const name of left) chmodSync(join(parent, name), 0o700);
  expect([exitCode, left.length, left.every(isStuck)]).toEqual([0, 2, true]);
});

test("an error for an unusable folder of temporary files names that folder, not the data folder", async () => {
  const parent = join(temporaryFolder(), "missing");
  await expect(uploadFolders(parent, 100, new ByteBudget()).recordings.receive([bytes])).rejects.toMatchObject({
    code: "storage_unavailable",
    message: "The server's folder for temporary files (TMPDIR) cannot be used: ENOENT.",
  });
});

test("all uploads share a budget: one that exceeds it is refused while it arrives, until others are discarded", async () => {
  const parent = temporaryFolder();
  const megabytes = (count: number) => Array.from({ length: count }, () => new Uint8Array(2 ** 20));
  const budget = new ByteBudget(8 * 2 ** 20, "files");
  const { recordings, documents } = uploadFolders(parent, 8 * 2 ** 20, budget);
  const first = await recordings.receive(megabytes(6));
  let taken = 0;
  const coming = (function* () {
    for (const chunk of megabytes(8)) {
      taken++;
      yield chunk;
    }
  })();
  expect(await documents.receive(coming).catch((error) => error)).toMatchObject({
    code: "server_busy",
    message: "The server is at capacity: files may use at most 8 MiB together.",
    details: { retryAfterSeconds: 2 },
  });
  expect(taken).toBe(5);
  await documents.receive(megabytes(1));
  await first.discard();
  await first.discard();
  await documents.receive(megabytes(8));
  expect(uploadsIn(parent)).toHaveLength(2);
});

test("an upload that is too large gets an error with the limit and its option", () => {
  const folders = uploadFolders(temporaryFolder(), 3.5 * 2 ** 20, new ByteBudget());
  expect(Object.values(folders).map((one) => one.tooLarge("file").message)).toEqual([
    "'file' is too large: this server reads images and documents of at most 25 MiB.",
    "'file' is too large: this server changes images of at most 20 MiB.",
    "'file' is too large: this server takes recordings of at most 3 MiB (--max-audio-mb).",
  ]);
});
