// Pulling from a hub on loopback: what arrives, what is asked for, and what is said when it goes wrong.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { ModelStore } from "../../../src/store/models/model-store.ts";
import { partPath, partsOf } from "../../../src/store/models/part-file.ts";
import type { DownloadProgress } from "../../../src/domain/download.ts";
import { pull, type PullOptions } from "../../../src/store/models/pull.ts";
import { parseReference } from "../../../src/store/models/reference.ts";
import { dice } from "../../support/dice.ts";
import { temporaryFolder } from "../../support/folders.ts";
import { until } from "../../support/until.ts";
import { bytesContent, FakeHub, largeContent, type Content } from "./fake-hub.ts";

const REPO = "maker/Model-GGUF";
const FILE = "model-Q4_K_M.gguf";
const TARGET = `hub/${REPO}/${FILE}`;

let hub: FakeHub;
let folder: string;
let store: ModelStore;
let notes: string[];
let states: DownloadProgress[];

beforeEach(async () => {
  hub = await FakeHub.start();
  folder = temporaryFolder();
  store = new ModelStore(folder);
  notes = [];
  states = [];
});
afterEach(() => hub[Symbol.asyncDispose]());

const random = (bytes: number): Content => bytesContent(crypto.getRandomValues(new Uint8Array(bytes)));

/** Returns the path of the part of FILE with this content. */
const partOf = ({ bytes, sha256: hex }: Content): string =>
  partPath(store.path(TARGET), { url: "", path: FILE, subject: REPO, bytes, checksum: { algorithm: "sha256", hex } });

function add(path: string, content: Content = random(3000), small = false): Content {
  hub.add(REPO, path, { content, small });
  return content;
}

const start = (name: string, options: Partial<PullOptions> & { token?: string } = {}) => {
  const { token, ...rest } = options;
  const settings = { endpoint: hub.endpoint, userAgent: "svc/test", ...(token !== undefined && { token }) };
  return pull(parseReference(name, hub.endpoint), {
    hub: settings,
    store,
    signal: new AbortController().signal,
    progress: (state) => void states.push(state),
    note: (text) => void notes.push(text),
    check: () => {},
    patience: { attempts: 3, firstDelayMs: 1, longestDelayMs: 3000, idleMs: 10_000 },
    now: () => Date.parse("2026-01-02T03:04:05Z"),
    ...rest,
  });
};

const refusal = async (name: string, options: Parameters<typeof start>[1] = {}): Promise<string> => {
  const error = await start(name, options).then(
    () => undefined,
    (thrown: unknown) => thrown as Error,
  );
  expect(error?.name).toBe("PullError");
  return error?.message ?? "";
};

const sha256 = (path: string) => new Bun.CryptoHasher("sha256").update(readFileSync(store.path(path))).digest("hex");
const requests = (origin: "hub" | "cdn") => hub.seen.filter((seen) => seen.origin === origin);
/** The connection ends when so many bytes arrived. */
const cut = (bytes: number) => ({ cutAfter: bytes, once: () => states.at(-1)?.received === bytes });
const left = () => readdirSync(store.folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
/** What stands in the folder of the repository. */
const files = () => readdirSync(store.path(`hub/${REPO}`)).sort();

describe("what arrives", () => {
  test("a file with its record, and the second pull asks for no bytes", async () => {
    const content = add(FILE, random(200_000));
    const { manifest, changed } = await start(REPO);
    expect(changed).toBe(true);
    expect(manifest).toEqual({
      name: `${REPO}:Q4_K_M`,
      url: `https://huggingface.co/${REPO}`,
      quant: "Q4_K_M",
      files: [{ path: TARGET, bytes: 200_000, identity: `sha256:${content.sha256}`, sha256: content.sha256 }],
      pulled: "2026-01-02T03:04:05.000Z",
    });
    expect(sha256(TARGET)).toBe(content.sha256);
    expect(files()).toEqual([FILE]);
    expect(store.isReady(manifest)).toBe(true);
    expect(states.at(-1)).toEqual({ name: `${REPO}:Q4_K_M`, received: 200_000, total: 200_000, waiting: false });
    const before = requests("cdn").length;
    expect(await start(`${REPO}:q4_k_m`)).toEqual({ manifest, changed: false });
    expect(requests("cdn")).toHaveLength(before);
  });

  test("all parts of a model in several files, and the projector beside it", async () => {
    const names = [1, 2, 3].map((part) => `Q8_0/big-Q8_0-0000${part}-of-00003.gguf`);
    const parts = names
      .toReversed()
      .map((name) => add(name))
      .toReversed();
    add("mmproj-Q8_0.gguf");
    const projector = add("mmproj-F16.gguf");
    add("elsewhere/mmproj-F16.gguf");
    hub.pageSize = 2;
    const { manifest } = await start(`${REPO}:Q8_0`);
    expect(manifest.files.map(({ path, sha256: hash }) => [path, hash])).toEqual(
      names.map((name, index) => [`hub/${REPO}/${name}`, parts[index]?.sha256]),
    );
    expect(manifest.projector).toMatchObject({ path: `hub/${REPO}/mmproj-F16.gguf`, sha256: projector.sha256 });
    expect(store.isReady(manifest)).toBe(true);
  });

  test("a small file is checked as Git knows it", async () => {
    add(FILE, random(500), true);
    expect((await start(REPO)).changed).toBe(true);
    add(FILE, random(500), true);
    hub.faults = [{ corrupt: 100 }];
    expect(await refusal(REPO)).toContain("wrong checksum");
  });

  test("a new version replaces the old one, which serves until then", async () => {
    add(FILE, random(5000));
    const { manifest: old } = await start(REPO);
    const content = add(FILE, random(6000));
    hub.faults = [{ corrupt: 1 }];
    expect(await refusal(REPO)).toContain("wrong checksum");
    expect(store.isReady(old)).toBe(true);
    expect(store.get(old.name)).toEqual(old);
    expect((await start(REPO)).manifest.files[0]?.sha256).toBe(content.sha256);
    expect(sha256(TARGET)).toBe(content.sha256);
  });

  test("a stopped pull of a new version with other names leaves the old one complete", async () => {
    const parts = (stem: string) => [1, 2].map((part) => `${stem}-Q4_K_M-0000${part}-of-00002.gguf`);
    for (const name of parts("model")) add(name);
    const { manifest: old } = await start(REPO);
    hub.repos.delete(REPO);
    for (const name of parts("model-v2")) add(name);
    hub.faults = [undefined, { status: 404 }];
    expect(await refusal(REPO)).toContain("(404)");
    expect(store.get(old.name)).toEqual(old);
    expect(store.isReady(old)).toBe(true);
    const { manifest } = await start(REPO);
    expect(manifest.files.map(({ path }) => basename(path))).toEqual(parts("model-v2"));
    expect(files()).toEqual(parts("model-v2"));
  });

  test("without a network what is there is good enough, and what is not there is not", async () => {
    add(FILE);
    const { manifest } = await start(REPO);
    const gone = await FakeHub.start();
    const { endpoint } = gone;
    await gone[Symbol.asyncDispose]();
    const patience = { attempts: 2, firstDelayMs: 1, longestDelayMs: 10, idleMs: 1000 };
    const offline = { hub: { endpoint, userAgent: "svc/test" }, patience };
    expect(await start(REPO, offline)).toEqual({ manifest, changed: false });
    expect(notes.at(-1)).toContain("is not known");
    expect(await refusal("maker/Other-GGUF", offline)).toContain("gave up after 2 attempts");
  });

  test("a file that lies there unrecorded is not downloaded again", async () => {
    add(FILE);
    const { manifest } = await start(REPO);
    rmSync(join(folder, "manifests"), { recursive: true });
    const before = requests("cdn").length;
    expect((await start(REPO)).manifest).toEqual(manifest);
    expect(requests("cdn")).toHaveLength(before);
  });
});

describe("from a URL", () => {
  const url = () => `${hub.cdnUrl}/${REPO}/tiny.gguf?key=secret`;

  test("a file goes on where it stopped, as long as it is the same", async () => {
    const content = add("tiny.gguf", random(300_000));
    hub.faults = [cut(100_000)];
    const { manifest } = await start(url());
    expect(manifest).toMatchObject({ name: "tiny", url: `${hub.cdnUrl}/${REPO}/tiny.gguf` });
    expect(sha256("url/tiny/tiny.gguf")).toBe(content.sha256);
    expect(requests("cdn").at(-1)?.range).toBe("bytes=100000-");
    expect(await start(url())).toMatchObject({ changed: false });
  });

  test("one that changed meanwhile starts again", async () => {
    add("tiny.gguf", random(300_000));
    hub.faults = [cut(100_000), { status: 404 }];
    expect(await refusal(url())).toContain("(404)");
    expect(partsOf(store.path("url/tiny/tiny.gguf"))).toHaveLength(1);
    const content = add("tiny.gguf", random(300_000));
    await start(url());
    expect(sha256("url/tiny/tiny.gguf")).toBe(content.sha256);
    expect(requests("cdn").at(-1)?.range).toBeUndefined();
    expect(partsOf(store.path("url/tiny/tiny.gguf"))).toEqual([]);
  });

  test("a name that tells of thousands of parts leads to a few requests at most", async () => {
    const named = (parts: string) => `${hub.cdnUrl}/${REPO}/big-00001-of-${parts}.gguf`;
    expect(await refusal(named("99999"))).toContain("at most 512 parts");
    expect(hub.seen).toEqual([]);
    expect(await refusal(named("00512"))).toContain("(404)");
    expect(hub.seen.length).toBeLessThanOrEqual(4);
  });

  test("all parts are fetched, and what is no model is thrown away", async () => {
    for (const part of [1, 2]) add(`big-0000${part}-of-00002.gguf`);
    const { manifest } = await start(`${hub.cdnUrl}/${REPO}/big-00001-of-00002.gguf`);
    expect(manifest.files.map(({ path }) => path)).toEqual([
      "url/big/big-00001-of-00002.gguf",
      "url/big/big-00002-of-00002.gguf",
    ]);
    add("page.gguf", bytesContent(Buffer.from("<html>")));
    const check = (path: string) => {
      throw new Error(`${basename(path)} is a web page.`);
    };
    expect(await refusal(`${hub.cdnUrl}/${REPO}/page.gguf`, { check })).toBe(
      "page.gguf was downloaded and deleted: it is a web page.",
    );
    expect(existsSync(store.path("url/page"))).toBe(false);
    expect(store.list()).toEqual([manifest]);
  });

  test("a page of the hub is its repository", async () => {
    const content = add(FILE);
    const { manifest } = await start(`${hub.endpoint}/${REPO}/blob/main/${FILE}`);
    expect(manifest).toMatchObject({ name: `${REPO}:Q4_K_M`, files: [{ sha256: content.sha256 }] });
  });

  test("without a network, what is there is found, whatever characters are in its name", async () => {
    const gone = await FakeHub.start();
    const address = `${gone.cdnUrl}/${REPO}`;
    gone.add(REPO, "tiny+model.gguf", { content: random(10) });
    const { manifest } = await start(`${address}/tiny%2Bmodel.gguf`);
    await gone[Symbol.asyncDispose]();
    expect(await start(`${address}/tiny%2Bmodel.gguf`)).toEqual({ manifest, changed: false });
    expect(await refusal(`${address}/tiny%E0.gguf`)).toContain("gave up after 3 attempts");
  });

  test("a second source for one name is refused", async () => {
    add("tiny.gguf");
    hub.add("other/maker", "tiny.gguf", { content: random(10) });
    await start(url());
    expect(await refusal(`${hub.cdnUrl}/other/maker/tiny.gguf`)).toContain("svc rm tiny");
  });
});

describe("connections", () => {
  test("a file arrives intact over 30 random cuts", async () => {
    // 1 GiB takes a while: PULL_BYTES=1073741824 bun test test/store/models/pull.test.ts
    const bytes = Number(process.env["PULL_BYTES"] ?? 24 << 20);
    const content = add(FILE, largeContent(bytes));
    const roll = dice(1);
    hub.faults = Array.from({ length: 30 }, () => ({ cutAfter: roll(Math.ceil(bytes / 20)) }));
    const { manifest } = await start(REPO, {
      patience: { attempts: 30, firstDelayMs: 1, longestDelayMs: 10, idleMs: 10_000 },
    });
    expect(manifest.files[0]?.sha256).toBe(content.sha256);
    expect(sha256(TARGET)).toBe(content.sha256);
    expect(notes.length).toBeGreaterThanOrEqual(18);
    expect(hub.sent).toBeLessThanOrEqual(bytes + 30 * (1 << 20));
  }, 600_000);

  test("silence is a lost connection", async () => {
    add(FILE, random(200_000));
    hub.faults = [{ hangAfter: 100_000 }];
    await start(REPO, { patience: { attempts: 3, firstDelayMs: 1, longestDelayMs: 10, idleMs: 300 } });
    expect(notes[0]).toContain("sends nothing any more");
    expect(requests("cdn").at(-1)?.range).toBe("bytes=100000-");
  });

  test("a server without ranges sends all of it again", async () => {
    const content = add(FILE, random(200_000));
    hub.faults = [cut(100_000), { ignoreRange: true }];
    await start(REPO);
    expect(sha256(TARGET)).toBe(content.sha256);
  });

  test("attempts that bring nothing end, and what is there stays", async () => {
    add(FILE, random(200_000));
    hub.faults = [cut(100_000), ...Array.from({ length: 9 }, () => ({ status: 503 }))];
    expect(await refusal(REPO)).toContain("has a problem (503); gave up after 3 attempts");
    const [part = ""] = partsOf(store.path(TARGET));
    expect(Bun.file(part).size).toBe(100_000);
    hub.faults = [];
    await start(REPO);
    expect(requests("cdn").at(-1)?.range).toBe("bytes=100000-");
  });

  test("429 is waited out as long as the server asks, or told unless the model is there", async () => {
    add(FILE);
    const later = { status: 429, headers: { "retry-after": "3600" } };
    hub.treeFaults = [later];
    expect(await refusal(REPO)).toContain("try again in 3600 seconds");
    hub.treeFaults = [{ status: 429, headers: { "retry-after": "1" } }];
    expect((await start(REPO)).changed).toBe(true);
    expect(notes).toEqual([expect.stringContaining("asks to come back later (429); trying again in 1 s")]);
    hub.treeFaults = [later];
    expect((await start(REPO)).changed).toBe(false);
    expect(notes.at(-1)).toMatch(/try again in 3600 seconds\. Whether .* is not known/);
  });

  test("stopping keeps what arrived", async () => {
    add(FILE, random(2_000_000));
    hub.delay = 5;
    const stop = new AbortController();
    const progress = ({ received }: DownloadProgress) => void (received > 500_000 && stop.abort(new Error("stopped")));
    await expect(start(REPO, { signal: stop.signal, progress })).rejects.toThrow("stopped");
    while (!stop.signal.aborted) await Bun.sleep(5);
    await Bun.sleep(50);
    expect(Bun.file(partsOf(store.path(TARGET))[0] ?? "").size).toBeGreaterThan(500_000);
    expect(store.find(REPO)).toMatchObject({ name: `${REPO}:Q4_K_M` });
    expect(store.list().map((model) => store.isReady(model))).toEqual([false]);
  });
});

describe("what is there already", () => {
  /** Sparse, and takes minutes to read. */
  const huge: Content = { bytes: 200e9, sha256: "a".repeat(64), read: () => new Uint8Array() };
  const openFiles = () =>
    process.platform === "linux"
      ? readdirSync("/proc/self/fd").filter((fd) => {
          try {
            return readlinkSync(`/proc/self/fd/${fd}`).startsWith(folder);
          } catch {
            return false;
          }
        })
      : [];

  test("is not read any further when a pull is stopped", async () => {
    add(FILE, huge);
    const path = partOf(huge);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, "");
    truncateSync(path, huge.bytes);
    const stop = new AbortController();
    const pulled = start(REPO, { signal: stop.signal });
    await until(() => notes.some((note) => note.startsWith("reading the 200.00 GB")));
    stop.abort(new Error("stopped"));
    expect(await pulled.catch((error: Error) => error.message)).toBe("stopped");
    await until(() => openFiles().length === 0);
    const unlock = await store.lock(TARGET);
    expect(unlock).toBeDefined();
    unlock?.();
  });
});

describe("wrong bytes", () => {
  test("a wrong checksum throws the part away, and the next pull is right", async () => {
    const content = add(FILE, random(100_000));
    hub.faults = [{ corrupt: 50_000 }];
    expect(await refusal(REPO)).toMatch(/^model-Q4_K_M\.gguf arrived with a wrong checksum and was deleted/);
    expect(left()).toEqual([]);
    await start(REPO);
    expect(sha256(TARGET)).toBe(content.sha256);
  });

  test("a part that the disk changed is found out", async () => {
    const content = add(FILE, random(100_000));
    await start(REPO);
    rmSync(store.path(TARGET));
    writeFileSync(partOf(content), new Uint8Array(40_000));
    expect(await refusal(REPO)).toContain("wrong checksum");
    expect(store.list()).toEqual([]);
  });

  test("a wrong size is told before anything is downloaded", async () => {
    add(FILE, random(100_000));
    hub.treeEntry = (entry) => ({ ...entry, lfs: { ...(entry["lfs"] as object), size: 99_999 } });
    expect(await refusal(REPO)).toContain("100000 bytes instead of 99999 bytes");
    expect(files()).toEqual([]);
  });

  test("an LFS pointer in place of the file is recognised", async () => {
    add(FILE, random(100_000));
    const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 100000\n";
    hub.faults = [{ status: 200, headers: { "content-length": String(pointer.length) }, body: pointer }];
    expect(await refusal(REPO)).toContain("answers with the Git LFS pointer");
  });

  test("a full disk is one sentence, and what is there is kept", async () => {
    const content = add(FILE, random(100_000));
    await start(REPO);
    rmSync(store.path(TARGET));
    symlinkSync("/dev/full", partOf(content));
    expect(await refusal(REPO)).toContain("the disk is full; free some space and pull again");
  });

  test("what cannot fit is not begun", async () => {
    add(FILE, { bytes: 2 ** 52, sha256: "0".repeat(64), read: () => new Uint8Array() });
    expect(await refusal(REPO)).toMatch(/ GB free, but 4503599\.63 GB are needed: free some space/);
    expect(requests("cdn")).toEqual([]);
  });
});

describe("tokens and refusals", () => {
  test("the token stays at the hub, and opens a gated repository", async () => {
    add(FILE);
    hub.gated.set(REPO, "hf_right");
    expect(await refusal(REPO)).toContain(
      `is gated (401): accept its terms at ${hub.endpoint}/${REPO}, then set HF_TOKEN`,
    );
    expect(await refusal(REPO, { token: "hf_wrong" })).toContain("with the account of HF_TOKEN");
    await start(REPO, { token: "hf_right" });
    expect(
      new Set(
        requests("hub")
          .slice(-2)
          .map(({ authorization }) => authorization),
      ),
    ).toEqual(new Set(["Bearer hf_right"]));
    expect(requests("cdn").map(({ authorization }) => authorization)).toEqual([undefined]);
    await start(`${hub.cdnUrl}/${REPO}/${FILE}`, { token: "hf_right" });
    expect(requests("cdn").every(({ authorization }) => authorization === undefined)).toBe(true);
  });

  test("a repository that is not there", async () => {
    expect(await refusal("maker/none")).toMatch(/^maker\/none does not exist or is private \(401\)/);
    expect(await refusal("maker/none", { token: "hf_x" })).toContain("HF_TOKEN gives no access to maker/none (401)");
  });

  test("what is not in a repository lists what is", async () => {
    add(FILE);
    add("model-Q8_0.gguf");
    expect(await refusal(`${REPO}:Q2_K`)).toMatch(
      /has no "Q2_K"\. It has these:\n {2}Q4_K_M +3000 bytes {2}model-Q4_K_M\.gguf\n {2}Q8_0 /,
    );
  });

  test("names that lead out of the folder are refused", async () => {
    for (const path of ["../../../evil.gguf", "/etc/evil.gguf", "a\\b.gguf", ".hidden.gguf", "a//b.gguf"]) {
      hub.repos.clear();
      add(path);
      expect(await refusal(REPO)).toContain("not a safe path");
    }
    expect(existsSync(join(folder, "hub"))).toBe(false);
  });

  test("what is no hub is told so", async () => {
    add(FILE);
    hub.treeEntry = () => ({ type: "file", path: "x.gguf" });
    expect(await refusal(REPO)).toContain("does not report the size");
    expect(await refusal(`${hub.cdnUrl}/x`)).toContain("must end with the name of a .gguf file");
  });
});

test("two pulls of one file at once do the work once", async () => {
  const content = add(FILE, random(1_000_000));
  hub.delay = 20;
  const both = await Promise.all([start(REPO), start(`${REPO}:Q4_K_M`)]);
  expect(both.map(({ manifest }) => manifest.files[0]?.sha256)).toEqual([content.sha256, content.sha256]);
  expect(hub.sent).toBe(1_000_000);
  expect(states.some(({ waiting, received }) => waiting && received > 0)).toBe(true);
  expect(notes).toContain("another svc downloads this file; waiting for it");
});

test("nor twice, where only the address tells what it is", async () => {
  add("tiny.gguf", random(1_000_000));
  hub.delay = 20;
  const url = `${hub.cdnUrl}/${REPO}/tiny.gguf`;
  const both = await Promise.all([start(url), start(url)]);
  expect(both.map(({ manifest }) => store.isReady(manifest))).toEqual([true, true]);
  // Each asks for one byte to learn the size.
  expect(hub.sent).toBe(1_000_002);
});

test("a slow connection is no lost one", async () => {
  add(FILE, random(40 << 16));
  hub.delay = 25;
  await start(REPO, { patience: { attempts: 3, firstDelayMs: 1, longestDelayMs: 10, idleMs: 700 } });
  expect(notes).toEqual([]);
}, 60_000);
