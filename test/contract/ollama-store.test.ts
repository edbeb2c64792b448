// Downloading and removing models through Ollama's API, with a hub on loopback.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { OllamaPullStatus } from "../../src/contract/ollama-store.ts";
import { checker } from "../../src/contract/schema.ts";
import type { Config } from "../../src/config/config.ts";
import { ModelStore, type Manifest } from "../../src/store/models/model-store.ts";
import { serve } from "../http/harness.ts";
import { bytesContent, FakeHub, largeContent } from "../store/models/fake-hub.ts";
import { temporaryFolder } from "../support/folders.ts";

const MODEL = bytesContent(readFileSync(join(import.meta.dir, "../../vendor/svc-mini/svc-mini-q8_0.gguf")));
const REPO = "maker/Mini-GGUF";
const NAME = `${REPO}:Q8_0`;
const FILE = `hub/${REPO}/mini-Q8_0.gguf`;

type Status = OllamaPullStatus & { readonly error?: string };
const json = async (response: Response) => (await response.json()) as Status;
const lines = async (response: Response): Promise<Status[]> =>
  (await response.text())
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Status);

let hub: FakeHub;
beforeEach(async () => {
  hub = await FakeHub.start();
  hub.add(REPO, "mini-Q8_0.gguf", { content: MODEL });
});
afterEach(() => hub[Symbol.asyncDispose]());

/** Starts a server whose downloads go to `modelsDir`. */
function start(overrides: Partial<Config> = {}) {
  const modelsDir = temporaryFolder();
  const server = serve(undefined, { modelsDir, ...overrides }, [], hub.endpoint);
  const remove = (body: unknown) =>
    fetch(`${server.url}/api/delete`, {
      method: "DELETE",
      body: JSON.stringify(body),
      headers: { "content-type": "" },
    });
  return { ...server, modelsDir, store: new ModelStore(modelsDir), remove };
}

describe("POST /api/pull", () => {
  test("reports progress, how to serve the model, and success", async () => {
    const { post, store } = start();
    const response = await post("/api/pull", { model: `hf.co/${REPO}` });
    expect(response.headers.get("content-type")).toBe("application/x-ndjson");
    const told = await lines(response);
    told.forEach(checker(OllamaPullStatus));
    expect(told[0]).toEqual({ status: "pulling manifest" });
    expect(told).toContainEqual({
      status: `pulling ${NAME}`,
      digest: NAME,
      total: MODEL.bytes,
      completed: MODEL.bytes,
    });
    expect(told.slice(-2)).toEqual([{ status: `serve it: svc --model ${NAME}` }, { status: "success" }]);
    expect(store.list().map((model) => [model.name, store.isReady(model)])).toEqual([[NAME, true]]);
  });

  test("reports success once the model is complete, or already was, without a stream", async () => {
    const { post } = start();
    for (let times = 0; times < 2; times++) {
      const response = await post("/api/pull", { name: NAME, stream: false, insecure: true });
      expect([response.status, await json(response)]).toEqual([200, { status: "success" }]);
    }
    expect(hub.sent).toBe(MODEL.bytes);
  });

  test("downloads once for two requests at the same time", async () => {
    const { post } = start();
    const answers = await Promise.all([1, 2].map(async () => lines(await post("/api/pull", { model: REPO }))));
    expect(answers.map((told) => told.at(-1))).toEqual([{ status: "success" }, { status: "success" }]);
    expect(hub.sent).toBe(MODEL.bytes);
  });

  test("reports a lost connection and resumes", async () => {
    const { post } = start();
    hub.faults = [{ cutAfter: 1_000_000 }];
    const told = await lines(await post("/api/pull", { model: REPO }));
    expect(told.filter(({ status }) => status?.includes("trying again"))).not.toEqual([]);
    expect(told.at(-1)).toEqual({ status: "success" });
  });

  test("is cancelled by a disconnect, and the next request resumes the download", async () => {
    const { post, url, store, modelsDir } = start();
    hub.add("maker/Big", "big-Q4_0.gguf", { content: largeContent(8 << 20) });
    hub.delay = 5;
    const leave = new AbortController();
    const left = fetch(`${url}/api/pull`, {
      method: "POST",
      body: JSON.stringify({ model: "maker/Big" }),
      headers: { "content-type": "application/json" },
      signal: leave.signal,
    }).then((response) => response.text());
    while (hub.sent < 500_000) await Bun.sleep(5);
    leave.abort();
    expect(await left.catch((error: Error) => error.name)).toBe("AbortError");
    expect(existsSync(join(modelsDir, "hub/maker/Big"))).toBe(true);
    // The lock is released, so that the file can be removed.
    const [model] = store.list() as [Manifest];
    while (!(await store.remove(model).then(Boolean, () => false))) await Bun.sleep(10);
    expect(store.list()).toEqual([]);
    expect((await lines(await post("/api/pull", { model: REPO }))).at(-1)).toEqual({ status: "success" });
  });

  test.each([
    [{ model: "nobody/nothing" }, /nobody\/nothing does not exist or is private/],
    [{ model: `${REPO}:Q2_K` }, /has no "Q2_K"\. It has these:\n {2}Q8_0/],
  ])("fails for %j with the reason, in a line or with 502", async (body, reason) => {
    const { post } = start();
    expect((await lines(await post("/api/pull", body))).at(-1)?.error).toMatch(reason);
    const response = await post("/api/pull", { ...body, stream: false });
    expect([response.status, (await json(response)).error]).toEqual([502, expect.stringMatching(reason)]);
  });

  test("deletes a file that is not a model, and reports one that cannot be served", async () => {
    const { post } = start();
    // A GGUF file without metadata and tensors.
    const empty = Buffer.concat([Buffer.from("GGUF"), Buffer.from([3, 0, 0, 0]), Buffer.alloc(16)]);
    hub.add("maker/Junk", "junk-Q4_0.gguf", { content: bytesContent(new Uint8Array(5000)) });
    hub.add("maker/Empty", "empty-F16.gguf", { content: bytesContent(empty) });
    const failure = async (model: string) => (await lines(await post("/api/pull", { model }))).at(-1)?.error;
    expect(await failure("maker/Junk")).toContain("and deleted");
    expect(await failure("maker/Empty")).toContain("maker/Empty:F16 was downloaded, but cannot be served");
  });

  test.each([
    [{}, "'model' is required"],
    [{ model: "" }, "'model' is required"],
    [{ model: null, name: null }, "'model' is required"],
    [{ model: 7 }, "'model' must be a string; got 7"],
    [{ model: "llama3.2" }, "owner/repository"],
    [{ model: "../../etc/passwd" }, "owner/repository"],
    [{ model: "http://127.0.0.1/secret.gguf" }, "owner/repository"],
    [{ model: REPO, stream: "yes" }, "'stream' must be a boolean"],
  ])("answers %j with 400 before anything is downloaded", async (body, message) => {
    const { post } = start();
    const response = await post("/api/pull", body);
    const { error } = await json(response);
    expect([response.status, error]).toEqual([400, expect.stringContaining(message)]);
    expect(error).not.toContain("secret");
    expect(hub.seen).toEqual([]);
  });
});

describe("DELETE /api/delete", () => {
  test("removes the files, and is 404 for a model that is not there", async () => {
    const { post, remove, modelsDir } = start();
    await post("/api/pull", { model: REPO, stream: false });
    expect(existsSync(join(modelsDir, FILE))).toBe(true);
    const response = await remove({ model: REPO });
    expect([response.status, await response.text()]).toEqual([200, ""]);
    expect(existsSync(join(modelsDir, FILE))).toBe(false);
    const again = await remove({ name: NAME });
    expect([again.status, (await json(again)).error]).toEqual([404, "'model' names no downloaded model."]);
  });

  test("refuses the served model, and an ambiguous name", async () => {
    const modelsDir = temporaryFolder();
    const { post, remove } = start({ modelsDir, model: join(modelsDir, FILE) });
    hub.add(REPO, "mini-Q4_0.gguf", { content: MODEL });
    for (const quant of ["Q8_0", "Q4_0"]) await post("/api/pull", { model: `${REPO}:${quant}`, stream: false });
    for (const [model, why] of [
      [REPO, "fits several"],
      [NAME, "is served"],
    ] as const) {
      const response = await remove({ model });
      expect([response.status, (await json(response)).error]).toEqual([400, expect.stringContaining(why)]);
    }
    expect((await remove({ model: `${REPO}:Q4_0` })).status).toBe(200);
    expect(existsSync(join(modelsDir, FILE))).toBe(true);
  });
});

test("pulling and deleting are refused for other machines", async () => {
  const open = start({ host: "0.0.0.0" });
  const named = start({ allowedHosts: ["models.example"] });
  for (const [server, host] of [
    [open, "127.0.0.1"],
    [named, "models.example"],
  ] as const) {
    const url = server.url.replace("0.0.0.0", "127.0.0.1");
    for (const [method, path] of [
      ["POST", "/api/pull"],
      ["DELETE", "/api/delete"],
    ] as const) {
      const response = await fetch(url + path, { method, headers: { host }, body: JSON.stringify({ model: REPO }) });
      expect([response.status, (await json(response)).error]).toEqual([403, expect.stringContaining("loopback")]);
    }
  }
  expect(hub.seen).toEqual([]);
});
