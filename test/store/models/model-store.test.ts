import { beforeEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ModelStore, type Manifest } from "../../../src/store/models/model-store.ts";
import { temporaryFolder } from "../../support/folders.ts";

let folder: string;
let store: ModelStore;
beforeEach(() => {
  folder = temporaryFolder();
  store = new ModelStore(folder);
});

function write(path: string, bytes = 3): void {
  mkdirSync(dirname(store.path(path)), { recursive: true });
  writeFileSync(store.path(path), new Uint8Array(bytes));
}

async function add(tag: string, files = [`hub/a/b/${tag}.gguf`], extra: Partial<Manifest> = {}): Promise<Manifest> {
  for (const path of files) write(path);
  const manifest: Manifest = {
    name: `a/B:${tag}`,
    url: "https://huggingface.co/a/B",
    quant: tag,
    files: files.map((path) => ({ path, bytes: 3, sha256: "00" })),
    pulled: "2026-01-01T00:00:00.000Z",
    ...extra,
  };
  await store.save(manifest);
  return manifest;
}

test("models are found by full name, without tag, without owner, in any case, and by address", async () => {
  await add("Q8_0");
  await add("Q4_K_M");
  await add("x", ["url/tiny/tiny.gguf"], { name: "tiny" });
  for (const name of ["a/B:Q8_0", "a/b:q8_0", "B:Q8_0", "hf.co/a/B:Q8_0"])
    expect(store.find(name)?.name).toBe("a/B:Q8_0");
  for (const name of ["a/B", "b"])
    expect(store.findAll(name).map((model) => model.name)).toEqual(["a/B:Q4_K_M", "a/B:Q8_0"]);
  expect(store.find("TINY")?.name).toBe("tiny");
  expect(store.find("https://huggingface.co/a/B")?.name).toBe("a/B:Q4_K_M");
  for (const name of ["a", "Q8_0", "a/B:", "", "a/c"]) expect(store.find(name)).toBeUndefined();
});

test("models are found by names of their files, and without a tag's UD-", async () => {
  await add("UD-Q4_K_XL", [
    "hub/a/B/sub/b-UD-Q4_K_XL-00001-of-00002.gguf",
    "hub/a/B/sub/b-UD-Q4_K_XL-00002-of-00002.gguf",
  ]);
  await add("x", ["url/tiny/tiny.gguf"], { name: "tiny", url: "https://example.org/tiny.gguf" });
  const file = "sub/b-UD-Q4_K_XL-00001-of-00002.gguf";
  const page = "https://huggingface.co/a/B";
  const names = ["a/b:q4_k_xl", `a/B:${file}`, `hf.co/a/B:${file.slice(4)}`, `${page}/blob/main/${file}`];
  for (const name of [...names, `${page}/resolve/main/${file}?download=true`])
    expect(store.find(name)?.name).toBe("a/B:UD-Q4_K_XL");
  expect(store.find("https://example.org/tiny.gguf?token=1")?.name).toBe("tiny");
  for (const name of ["a/B:b-UD", "b/B:sub", `${page}/blob/v2/${file}`, "https://example.org/a/B/blob/main/b.gguf"])
    expect(store.find(name)).toBeUndefined();
  await add("Q4_K_XL");
  expect(store.find("a/b:q4_k_xl")?.name).toBe("a/B:Q4_K_XL");
});

test.each(["?", "#", ":", "/", "hf.co/", "a/"])(
  "a name of a million characters, such as %s, is searched for at once",
  async (text) => {
    await add("Q8_0");
    // Quadratic work takes longer than a test may.
    const long = `${text.repeat(1_000_000 / text.length)}\n`;
    const file = "https://hf.co/a/b/raw/main/";
    for (const name of [long, `${file}${long}`, `${file}${"a".repeat(1_000_000)}?\n`])
      expect(store.find(name)).toBeUndefined();
  },
);

test("a complete model has priority over an incomplete one", async () => {
  await add("Q8_0");
  const best = await add("Q4_K_M");
  rmSync(store.path(best.files[0]?.path ?? ""));
  expect(store.isReady(best)).toBe(false);
  expect(store.find("a/B")?.name).toBe("a/B:Q8_0");
});

test("removing a model deletes its files and partial downloads, except files that another model needs", async () => {
  const projector = { path: "hub/a/b/mmproj.gguf", bytes: 3, sha256: "00" };
  write(projector.path);
  const first = await add("Q4_K_M", ["hub/a/b/x-00001-of-00002.gguf", "hub/a/b/x-00002-of-00002.gguf"], { projector });
  const second = await add("Q8_0", undefined, { projector });
  write("hub/a/b/x-00002-of-00002.gguf.0123456789ab.part", 5);
  expect(await store.remove(first)).toBe(11);
  expect(readdirSync(store.path("hub/a/b")).sort()).toEqual(["Q8_0.gguf", "mmproj.gguf"]);
  expect(store.list()).toEqual([second]);
  await store.remove(second);
  expect(existsSync(store.path("hub"))).toBe(false);
  expect(store.list()).toEqual([]);
});

test("recording a model changes no file that a link at a guessable name leads to", async () => {
  const { name } = await add("Q8_0");
  const records = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".json"));
  const other = join(folder, "other");
  writeFileSync(other, "theirs");
  for (const record of records) symlinkSync(other, join(folder, `${record}.${process.pid}.new`));
  await add("Q8_0");
  expect([records.length, store.find(name)?.name, readFileSync(other, "utf8")]).toEqual([1, name, "theirs"]);
});

test("a model that is being downloaded cannot be removed", async () => {
  const model = await add("Q8_0");
  const unlock = await store.lock(model.files[0]?.path ?? "");
  await expect(store.remove(model)).rejects.toThrow("is being pulled at this moment");
  expect(store.isReady(model)).toBe(true);
  unlock?.();
  await store.remove(model);
  expect(store.list()).toEqual([]);
});

test("a model that another process serves cannot be removed; afterwards nothing of it remains", async () => {
  const model = await add("Q8_0");
  const served = [store.path(model.files[0]?.path ?? ""), "/elsewhere/model.gguf"];
  const releases = [await store.hold(served), await store.hold(served)];
  releases[0]?.();
  await expect(store.remove(model)).rejects.toThrow("is being served by another svc at this moment");
  expect(store.isReady(model)).toBe(true);
  releases[1]?.();
  await store.remove(model);
  expect(readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())).toEqual([]);
});

test("records that are damaged or point outside the folder are ignored", async () => {
  const outside = join(dirname(folder), `victim-${crypto.randomUUID()}`);
  writeFileSync(outside, "x");
  await add("Q8_0", [`hub/a.gguf`]);
  const [manifest] = store.list();
  for (const path of [`../${outside.split("/").at(-1)}`, "/etc/passwd", "a/../../b"]) {
    await store.save({ ...manifest, files: [{ path, bytes: 1, sha256: "00" }] } as Manifest);
    expect(store.list()).toEqual([]);
  }
  writeFileSync(join(folder, "manifests/hub/a/B/bad.json"), "{");
  writeFileSync(join(folder, "manifests/hub/a/B/worse.json"), "null");
  expect(store.list()).toEqual([]);
  expect(new ModelStore("/nonexistent/models").list()).toEqual([]);
  rmSync(outside);
});
