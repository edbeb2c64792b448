import { describe, expect, test } from "bun:test";
import { linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Journal } from "../../src/store/journal.ts";
import { Semaphore } from "../../src/domain/semaphore.ts";
import { isBlank, LinesFile, linesOf } from "../../src/store/json-lines.ts";
import { tryLock } from "../../src/store/process-lock.ts";
import { sharedFolder } from "../support/folders.ts";

const folder = sharedFolder();
let files = 0;
const memory = new Semaphore(2 ** 20);
const newPath = () => join(folder, `file-${++files}`);

async function recalled(path: string): Promise<unknown[]> {
  const lines: unknown[] = [];
  await (await Journal.open(path, memory, (line) => lines.push(line))).close();
  return lines;
}

describe("a journal", () => {
  test("returns what was written, at whatever byte the process was killed", async () => {
    const whole = '{"a":1}\n{"b":"ü"}\n{"c":[3]}\n';
    const bytes = Buffer.from(whole);
    for (let cut = 0; cut <= bytes.length; cut++) {
      const path = newPath();
      writeFileSync(path, bytes.subarray(0, cut));
      const kept = bytes.subarray(0, cut).lastIndexOf(10) + 1;
      const expected = whole.slice(0, bytes.subarray(0, kept).toString().length).split("\n").slice(0, -1);
      expect(await recalled(path)).toEqual(expected.map((line) => JSON.parse(line)));
      expect(readFileSync(path)).toEqual(bytes.subarray(0, kept));
      const journal = await Journal.open(path, memory, () => {});
      await journal.append({ next: 1 });
      expect(journal.bytes).toBe(kept + 11);
      await journal.close();
      expect((await recalled(path)).at(-1)).toEqual({ next: 1 });
    }
  });

  test("ends before zero bytes left by a power failure", async () => {
    const path = newPath();
    writeFileSync(path, Buffer.concat([Buffer.from('{"a":1}\n'), Buffer.alloc(50), Buffer.from('\n{"b":2}\n')]));
    expect(await recalled(path)).toEqual([{ a: 1 }]);
    expect(readFileSync(path, "utf8")).toBe('{"a":1}\n');
  });

  test("keeps lines that cannot be read at the moment", async () => {
    const path = newPath();
    const link = newPath();
    writeFileSync(path, `{"first":1}\n${JSON.stringify("x".repeat(2 * 2 ** 20))}\n`);
    const before = readFileSync(path);
    linkSync(path, link);
    const opened = Journal.open(path, memory, () => rmSync(path));
    await expect(opened).rejects.toMatchObject({ code: "ENOENT" });
    expect(readFileSync(link)).toEqual(before);
  });

  test("keeps lines complete that are appended at the same time", async () => {
    const path = newPath();
    const journal = await Journal.open(path, memory, () => {});
    const texts = Array.from({ length: 50 }, (_, at) => ({ at, text: "x".repeat(10_000 * (at % 3)) }));
    await Promise.all(texts.map((text) => journal.append(text)));
    await journal.close();
    expect(await recalled(path)).toEqual(texts);
  });
});

describe("a journal on a full disk", () => {
  test.skipIf(process.platform !== "linux")("reports it, and appends nothing after part of a line", async () => {
    // The device that is always full; it cannot be truncated, so nothing can be read back.
    const { open } = await import("node:fs/promises");
    const handle = await open("/dev/full", "a");
    const Constructor = Journal as unknown as new (handle: unknown, size: number) => Journal;
    const journal = new Constructor(handle, 0);
    for (let tries = 0; tries < 2; tries++) {
      expect(await journal.append({}).catch((error: { code: string }) => error.code)).toBe("ENOSPC");
    }
    expect(journal.bytes).toBe(0);
    await journal.close();
  });
});

describe("lines", () => {
  const text = '\ufeff{"a":1}\r\n\n{"ü":"→"}\n\n{"last":1}';
  test("are the same, however their bytes are split", async () => {
    const bytes = Buffer.from(text);
    const read = async (size: number) => {
      const lines: object[] = [];
      // The bytes of a line are valid until the next line is read.
      for await (const line of linesOf(chunksOf(bytes, size))) {
        const { pieces = [], ...others } = line;
        lines.push({ ...others, bytes: Buffer.concat(pieces).toString() });
      }
      return lines;
    };
    const whole = await read(bytes.length);
    expect(whole).toEqual([
      { number: 1, bytes: '{"a":1}\r', length: 11, end: 12, terminated: true },
      { number: 2, bytes: "", length: 0, end: 13, terminated: true },
      { number: 3, bytes: '{"ü":"→"}', length: 12, end: 26, terminated: true },
      { number: 4, bytes: "", length: 0, end: 27, terminated: true },
      { number: 5, bytes: '{"last":1}', length: 10, end: 37, terminated: false },
    ]);
    for (let size = 1; size < bytes.length; size++) expect(await read(size)).toEqual(whole);
  });
});

test("a line of more than a megabyte stays in pieces", async () => {
  expect.assertions(1);
  const bytes = Buffer.from("\ufeff" + "x".repeat(3 * 2 ** 20));
  for await (const { pieces = [] } of linesOf(chunksOf(bytes, 2 ** 20))) {
    expect(pieces.map(({ length }) => length)).toEqual([2 ** 20 - 3, 2 ** 20, 2 ** 20, 3]);
  }
});

describe("long lines of a file", () => {
  const MB = 2 ** 20;
  const { signal } = new AbortController();
  const long = (name: string) => JSON.stringify({ name, text: "x".repeat(2 * MB) });

  test("are not in memory when they are found, and have the value of their bytes when they are read", async () => {
    const path = newPath();
    writeFileSync(path, `\ufeff${long("first")}\n{"name":"short"}\n${long("last")}`);
    const file = new LinesFile(path, new Semaphore(MB));
    const found: unknown[] = [];
    for await (const line of file.lines()) {
      const name = await file.read(line, signal, (value) => (value as { name: string }).name);
      found.push([line.number, line.pieces === undefined, isBlank(line), name]);
    }
    expect(found).toEqual([
      [1, true, false, "first"],
      [2, false, false, "short"],
      [3, true, false, "last"],
    ]);
  });

  test("of several files wait for the memory of one another, and short ones for none", async () => {
    const memory = new Semaphore(3 * MB);
    const files = ["a", "b"].map((name) => {
      const path = newPath();
      writeFileSync(path, `${long(name)}\n{"name":"short"}\n`);
      return new LinesFile(path, memory);
    });
    const lines = await Promise.all(files.map((file) => Array.fromAsync(file.lines())));
    const used: string[] = [];
    const goOn = Promise.withResolvers<void>();
    const use = (at: number, line: number) => {
      const [file, one] = [files[at], lines[at]?.[line]];
      return (
        one &&
        file?.read(one, signal, async (value) => {
          used.push((value as { name: string }).name);
          if (line === 0) await goOn.promise;
        })
      );
    };
    const all = [use(0, 0), use(1, 0)];
    await Promise.all([use(0, 1), use(1, 1)]);
    while (used.length < 3) await Bun.sleep(1);
    await Bun.sleep(50);
    expect(used.toSorted()).toEqual(["a", "short", "short"]);
    goOn.resolve();
    await Promise.all(all);
    expect(used).toHaveLength(4);
  });
});

async function* chunksOf(bytes: Buffer, size: number) {
  for (let at = 0; at < bytes.length; at += size) {
    const chunk = Buffer.from(bytes.subarray(at, at + size));
    yield chunk;
    // The producer reuses the memory.
    chunk.fill(0x21);
  }
}

describe("a lock", () => {
  test("is held by one process until it is released", () => {
    const path = newPath();
    const release = tryLock(path);
    expect(release).toBeFunction();
    expect(tryLock(path)).toBeUndefined();
    release?.();
    const again = tryLock(path);
    expect(again).toBeFunction();
    again?.();
  });

  test("of a process that was killed is free", async () => {
    const path = newPath();
    const script = `const { tryLock } = await import(${JSON.stringify(join(import.meta.dir, "../../src/store/process-lock.ts"))});
      globalThis.held = tryLock(${JSON.stringify(path)}); console.log(held ? "locked" : "failed"); setInterval(() => {}, 1000);`;
    const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" });
    const { value } = await child.stdout.getReader().read();
    expect(Buffer.from(value ?? []).toString()).toBe("locked\n");
    expect(tryLock(path)).toBeUndefined();
    child.kill("SIGKILL");
    await child.exited;
    const release = tryLock(path);
    expect(release).toBeFunction();
    release?.();
  });
});
