// Trained data of languages from a registry on this machine.

import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { ModelStore, sourceOf } from "../../src/store/models/model-store.ts";
import { pullTessdata } from "../../src/store/models/pull-tessdata.ts";
import { Tessdata } from "../../src/store/tessdata.ts";
import { temporaryFolder } from "../support/folders.ts";
import { rejectionMessage } from "../support/thrown.ts";

const DATA = "trained";
const servers: Bun.Server<undefined>[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) void server.stop(true);
});

interface Registry {
  /** How many damaged archives are sent before a valid one. */
  damaged?: number;
  /** Name of the file in the archive. */
  readonly file?: string;
  /** Bytes of zeros in place of the archive's content. */
  readonly zeros?: number;
  /** Address of the archive, in place of the right one. */
  readonly address?: string;
}

/** Starts a registry with one package; everything else is 404. */
async function registry({ damaged = 0, file = "4.0.0_best_int/deu.traineddata.gz", zeros, address }: Registry = {}) {
  const tar = await new Bun.Archive({ [`package/${file}`]: gzipSync(DATA), "package/index.js": "1" }).bytes();
  const archive = Uint8Array.from(gzipSync(zeros === undefined ? tar : new Uint8Array(zeros), { level: 1 }));
  const integrity = `sha512-${new Bun.CryptoHasher("sha512").update(archive).digest("base64")}`;
  const asked: string[] = [];
  let broken = damaged;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch({ url }) {
      const { pathname, origin } = new URL(url);
      asked.push(pathname);
      if (pathname === "/@tesseract.js-data%2fdeu/latest") {
        return Response.json({ dist: { tarball: address ?? `${origin}/deu-1.0.0.tgz`, integrity } });
      }
      if (pathname !== "/deu-1.0.0.tgz") return new Response("no", { status: 404 });
      return new Response(broken-- > 0 ? archive.slice(1) : archive);
    },
  });
  servers.push(server);
  return { url: `http://127.0.0.1:${server.port}`, asked };
}

function pull(address: string, name = "deu") {
  const folder = temporaryFolder();
  const notes: string[] = [];
  const received: number[] = [];
  const patience = { attempts: 2, firstDelayMs: 1, longestDelayMs: 10, idleMs: 5000 };
  const path = pullTessdata({
    name,
    registry: address,
    userAgent: "svc",
    folder,
    signal: new AbortController().signal,
    progress: (bytes) => void received.push(bytes),
    note: (text) => void notes.push(text),
    patience,
    now: () => Date.UTC(2026, 0, 2),
  });
  return { folder, path, notes, received };
}
test("trained data is stored where recognition finds it", async () => {
  const { url } = await registry();
  const { folder, path, received } = pull(url);
  expect(await path).toBe(join(folder, "tessdata/deu.traineddata"));
  expect(readFileSync(await path, "utf8")).toBe(DATA);
  expect(readdirSync(join(folder, "tessdata"))).toEqual(["deu.traineddata"]);
  expect(received.at(-1)).toBeGreaterThan(100);
  expect(new Tessdata([join(folder, "tessdata")]).find("deu")).toEqual({ name: "deu", path: await path });
});

test("the store lists and removes it like a model, also by its name alone", async () => {
  const { url } = await registry();
  const { folder, path } = pull(url);
  await path;
  const store = new ModelStore(folder);
  const [listed] = store.list();
  expect(listed).toMatchObject({
    name: "tessdata:deu",
    url: `${url}/deu-1.0.0.tgz`,
    files: [{ path: "tessdata/deu.traineddata", bytes: DATA.length }],
    pulled: "2026-01-02T00:00:00.000Z",
  });
  const found = store.findAll("tessdata:deu")[0] ?? expect.unreachable();
  expect([store.isReady(found), sourceOf(found)]).toEqual([true, "tessdata:deu"]);
  expect(await store.remove(found)).toBe(DATA.length);
  expect([store.list(), existsSync(await path)]).toEqual([[], false]);
});

test("a damaged download is fetched again and never kept", async () => {
  const { url } = await registry({ damaged: 1 });
  const { path, notes } = pull(url);
  expect(readFileSync(await path, "utf8")).toBe(DATA);
  expect(notes).toEqual([expect.stringContaining("arrived damaged; trying again")]);
  const always = await registry({ damaged: 9 });
  const lost = pull(always.url);
  expect(await rejectionMessage(lost.path)).toContain("arrived damaged");
  expect(existsSync(join(lost.folder, "tessdata"))).toBe(false);
});

describe("a single message explains", () => {
  test.each([
    ["a language that there is none for", "xyz", {}, "has no @tesseract.js-data/xyz (404)."],
    ["a name that is none", "../deu", {}, "is named tessdata:NAME"],
    ["an address of the package that is none", "deu", { address: "https://" }, "does not say where"],
    ["a package without such data", "deu", { file: "4.0.0/deu.traineddata.gz" }, "has no data of the kind"],
    ["a package that is endless once unpacked", "deu", { zeros: 200_000_001 }, "larger than any such package"],
  ] as const)("%s", async (_, name, options, sentence) => {
    const { url, asked } = await registry(options);
    expect(await rejectionMessage(pull(url, name).path)).toContain(sentence);
    if (name.includes("/")) expect(asked).toEqual([]);
  });
});

test("data is found by its name alone, in the first folder that has it; a missing folder has none", async () => {
  const [first, second] = [temporaryFolder(), temporaryFolder()];
  for (const name of ["deu", "osd"]) await Bun.write(join(first, `${name}.traineddata`), "1");
  for (const name of ["deu", "fra"]) await Bun.write(join(second, `${name}.traineddata`), "2");
  const tessdata = new Tessdata([join(first, "missing"), first, second]);
  expect(tessdata.names()).toEqual(["deu", "fra"]);
  expect(tessdata.find("deu")?.path).toBe(join(first, "deu.traineddata"));
  expect(tessdata.find("fra")?.path).toBe(join(second, "fra.traineddata"));
  for (const name of ["osd", "eng", "../deu", ""]) expect(tessdata.find(name)).toBeUndefined();
});
