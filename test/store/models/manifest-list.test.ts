import { expect, test } from "bun:test";
import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { ManifestList } from "../../../src/store/models/manifest-list.ts";
import { ModelStore } from "../../../src/store/models/model-store.ts";
import { temporaryFolder } from "../../support/folders.ts";

const save = (store: ModelStore, name: string, url = "") =>
  store.save({ name, url, files: [{ path: "hub/a/b/c.gguf" }] });

test("the list follows every change, from nothing to nothing", async () => {
  const folder = join(temporaryFolder(), "models");
  const store = new ModelStore(folder);
  const list = new ManifestList(store);
  const names = () => list.current().map(({ name }) => name);
  expect(names()).toEqual([]);
  for (const [at, name] of ["a/b:Q8_0", "a/b:Q4_0", "a/c:Q8_0", "d/e:Q8_0", "tiny"].entries()) {
    await save(new ModelStore(folder), name);
    expect(names()).toHaveLength(at + 1);
  }
  await save(store, "tiny", "https://example.org/tiny.gguf");
  expect(list.current().at(-1)?.url).toBe("https://example.org/tiny.gguf");
  rmSync(join(folder, "manifests/hub/a/b/Q4_0.json"));
  expect(names()).toEqual(["a/b:Q8_0", "a/c:Q8_0", "d/e:Q8_0", "tiny"]);
  rmSync(folder, { recursive: true });
  expect(names()).toEqual([]);
});

test("the files are read only after a change, and a change at the time of an earlier one is seen", async () => {
  const folder = temporaryFolder();
  const store = new ModelStore(folder);
  await save(store, "tiny");
  const list = new ManifestList(store);
  const manifests = join(folder, "manifests");
  const setTime = (date: Date) => ["", "url"].forEach((name) => utimesSync(join(manifests, name), date, date));
  setTime(new Date());
  expect(list.current()).not.toBe(list.current());
  setTime(new Date(Date.now() - 3_600_000));
  const read = list.current();
  expect(list.current()).toBe(read);
  renameSync(join(manifests, "url/tiny.json"), join(manifests, "url/other.json"));
  expect(list.current()).not.toBe(read);
});

test("a folder that cannot be read is an error each time", () => {
  const folder = join(temporaryFolder(), "unreadable");
  mkdirSync(folder);
  symlinkSync("manifests", join(folder, "manifests"));
  const list = new ManifestList(new ModelStore(folder));
  for (let times = 0; times < 2; times++) expect(() => list.current()).toThrow("cannot be read: ELOOP");
});
