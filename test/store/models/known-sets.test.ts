// Sets of files that are known by name and checksum, from a hub on loopback.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KNOWN_SETS, type KnownSet } from "../../../src/store/models/known-sets.ts";
import { ModelStore, sourceOf } from "../../../src/store/models/model-store.ts";
import { pull } from "../../../src/store/models/pull.ts";
import { parseReference } from "../../../src/store/models/reference.ts";
import { isSafePath } from "../../../src/store/models/remote-file.ts";
import { bytesContent, FakeHub } from "./fake-hub.ts";

const REPO = "maker/Voices";
const contents = {
  "onnx/model.onnx": bytesContent(Buffer.alloc(5000, 1)),
  "voices/a.bin": bytesContent(Buffer.from("aaa")),
};

let hub: FakeHub;
let folder: string;
let store: ModelStore;
beforeEach(async () => {
  hub = await FakeHub.start();
  folder = mkdtempSync(join(tmpdir(), "svc-set-"));
  store = new ModelStore(folder);
});
afterEach(async () => {
  await hub[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

const set = (revision = "abc"): KnownSet => ({
  repo: REPO,
  revision,
  files: Object.entries(contents).map(([path, { bytes, sha256 }]) => ({ path, bytes, sha256 })),
  use: "Sing.",
});

const start = (wanted: KnownSet) =>
  pull(
    { kind: "set", name: "choir", set: wanted },
    {
      hub: { endpoint: hub.endpoint, userAgent: "svc/test" },
      store,
      signal: new AbortController().signal,
      progress: () => {},
      note: () => {},
      check: () => {
        throw new Error("this is no GGUF file");
      },
      patience: { attempts: 2, firstDelayMs: 1, longestDelayMs: 10, idleMs: 10_000 },
      now: () => Date.parse("2026-01-02T03:04:05Z"),
    },
  );

const failure = (run: Promise<unknown>) => run.then(String, (error: Error) => `${error.name}: ${error.message}`);

function publish(): void {
  for (const [path, content] of Object.entries(contents)) hub.add(REPO, path, { content });
}

test("all files arrive at their places from the revision that is pinned, and the hub is asked for no list", async () => {
  publish();
  const { manifest, changed } = await start(set());
  expect([manifest.name, changed, store.isReady(manifest)]).toEqual(["choir", true, true]);
  for (const [path, { bytes }] of Object.entries(contents)) {
    expect(readFileSync(join(folder, "hub", REPO, path)).length).toBe(bytes);
  }
  const asked = hub.seen.filter(({ origin }) => origin === "hub").map(({ path }) => path);
  expect(asked).toEqual([`/${REPO}/resolve/abc/onnx/model.onnx`, `/${REPO}/resolve/abc/voices/a.bin`]);
  hub.seen.splice(0);
  expect((await start(set())).changed).toBe(false);
  expect(hub.seen).toEqual([]);
});

test("a newer svc that pins another revision brings what changed", async () => {
  publish();
  await start(set());
  const newer = bytesContent(Buffer.from("bbbb"));
  hub.add(REPO, "voices/a.bin", { content: newer });
  const [model] = set().files;
  const wanted = { ...set("def"), files: [model!, { path: "voices/a.bin", bytes: 4, sha256: newer.sha256 }] };
  hub.seen.splice(0);
  expect((await start(wanted)).changed).toBe(true);
  expect(hub.seen.filter(({ origin }) => origin === "cdn")).toHaveLength(1);
  expect(readFileSync(join(folder, "hub", REPO, "voices/a.bin"), "utf8")).toBe("bbbb");
});

test("a file that is not the pinned one is refused and not kept", async () => {
  publish();
  hub.faults = [{ corrupt: 1000 }, { corrupt: 1000 }];
  expect(await failure(start(set()))).toStartWith("PullError");
  expect(existsSync(join(folder, "hub", REPO, "onnx/model.onnx"))).toBe(false);
  hub.add(REPO, "onnx/model.onnx", { content: bytesContent(Buffer.alloc(4999, 1)) });
  expect(await failure(start(set()))).toStartWith("PullError");
  hub.add(REPO, "onnx/model.onnx", { content: bytesContent(Buffer.alloc(5000, 2)) });
  expect(await failure(start(set()))).toStartWith("PullError");
  expect(store.list().every((manifest) => !store.isReady(manifest))).toBe(true);
});

test("it is removed by its name, and nothing of it stays", async () => {
  publish();
  const { manifest } = await start(set());
  expect(store.findAll("choir")).toHaveLength(1);
  await store.remove(manifest);
  expect(existsSync(join(folder, "hub"))).toBe(false);
});

describe("the table", () => {
  test("is named without an owner, in any case, and the name gets it again", () => {
    expect(parseReference("KOKORO", "https://huggingface.co")).toMatchObject({ kind: "set", name: "kokoro" });
    expect(sourceOf({ name: "kokoro", url: "https://huggingface.co/x/y", files: [] })).toBe("kokoro");
    expect(() => parseReference("kokoro:q8", "https://huggingface.co")).toThrow("or is one of kokoro");
  });

  test("pins every file by size and checksum, in a commit, below its folder", () => {
    for (const { repo, revision, files } of KNOWN_SETS.values()) {
      expect(repo).toMatch(/^[\w.-]+\/[\w.-]+$/);
      expect(revision).toMatch(/^[0-9a-f]{40}$/);
      expect(
        files.every(({ path, bytes, sha256 }) => isSafePath(path) && bytes > 0 && /^[0-9a-f]{64}$/.test(sha256)),
      ).toBe(true);
      expect(new Set(files.map(({ sha256 }) => sha256)).size).toBe(files.length);
      expect(new Set(files.map(({ path }) => path)).size).toBe(files.length);
    }
  });
});
