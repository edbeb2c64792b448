// --slot-save-path with real models, through running servers: what llama-server's clients do with slots.

import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  chmodSync,
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeRecurrentModel } from "../models/make-recurrent-model.ts";
import { FROM_SOURCE, startServer, type ServerProcess } from "../support/server.ts";

setDefaultTimeout(240_000);

const flags = ["--ctx", "2048", "--parallel", "2", "--threads", "1"];
const root = mkdtempSync(join(tmpdir(), "svc-slots-"));
const servers: ServerProcess[] = [];
afterAll(async () => {
  await Promise.all(servers.map((server) => server.kill()));
  rmSync(root, { recursive: true });
});

/** A server that does not outlive a test that fails. */
async function serve(args: readonly string[]): Promise<ServerProcess> {
  const server = await startServer([...flags, ...args]);
  servers.push(server);
  return server;
}

async function post<T>(server: ServerProcess, path: string, body: object): Promise<{ status: number; json: T }> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${server.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  return { status: response.status, json: (await response.json()) as T };
}

interface Completion {
  readonly content: string;
  readonly timings: { readonly cache_n: number; readonly prompt_n: number };
}

async function complete(server: ServerProcess, prompt: string, fields: object = {}) {
  const body = { prompt, n_predict: 12, temperature: 0, ignore_eos: true, cache_prompt: true, ...fields };
  const { json } = await post<Completion>(server, "/completion", body);
  return { text: json.content, cached: json.timings.cache_n, computed: json.timings.prompt_n };
}

interface Outcome {
  readonly n_saved: number;
  readonly n_written: number;
  readonly n_restored: number;
  readonly n_read: number;
  readonly n_erased: number;
  readonly error: { readonly param: string; readonly message: string };
}

const act = (server: ServerProcess, slot: number, action: string, filename?: string) =>
  post<Outcome>(server, `/slots/${slot}?action=${action}`, { ...(filename !== undefined && { filename }) });

const opening =
  "You are a guide to Paris, and know its streets, its museums and its history well. A visitor wants to know: ";
const [france, germany] = ["which is the capital of France?", "which is the capital of Germany?"].map(
  (question) => opening + question,
) as [string, string];

describe.each(["paged", "unified", "streams"])("%s", (mode) => {
  const folder = join(root, mode);
  const start = () => serve(["--kv-mode", mode, "--slot-save-path", folder]);

  test("a saved slot goes on after a restart, and what another request computed stays", async () => {
    const first = await start();
    const before = await complete(first, france, { id_slot: 1 });
    expect(before.cached).toBe(0);
    const { status, json } = await act(first, 1, "save", "paris.bin");
    // The last token was sampled and never computed.
    expect([status, json.n_saved]).toEqual([200, before.computed + 12 - 1]);
    expect(json.n_written).toBe(statSync(join(folder, "paris.bin")).size);
    expect([statSync(folder).mode & 0o777, statSync(join(folder, "paris.bin")).mode & 0o777]).toEqual([0o700, 0o600]);
    const other = await complete(first, germany, { id_slot: 1 });
    expect(other.cached).toBeGreaterThan(20);
    await first.stop();

    const second = await start();
    const restored = await act(second, 0, "restore", "paris.bin");
    expect([restored.status, restored.json.n_restored]).toEqual([200, json.n_saved]);
    expect(restored.json.n_read).toBe(json.n_written);
    const tail = await complete(second, germany, { id_slot: 0 });
    expect([tail.text, tail.cached]).toEqual([other.text, other.cached]);
    const again = await complete(second, france, { id_slot: 0 });
    expect(again).toEqual({ text: before.text, cached: before.computed - 1, computed: 1 });
    // Cold, it is the same text.
    expect((await complete(second, france, { cache_prompt: false })).text).toBe(before.text);
    await second.stop();
  });

  test("an erased slot is computed again", async () => {
    const server = await start();
    const { computed, text } = await complete(server, france, { id_slot: 1 });
    expect((await act(server, 1, "erase")).json.n_erased).toBe(computed + 11);
    expect(await complete(server, france, { id_slot: 1 })).toEqual({ text, computed, cached: 0 });
    await server.stop();
  });
});

describe("a file that cannot be restored", () => {
  test("is refused by name, and the server goes on", async () => {
    const folder = join(root, "paged");
    const server = await serve(["--kv-mode", "paged", "--slot-save-path", folder]);
    const good = readFileSync(join(folder, "paris.bin"));
    const put = (name: string, bytes: Uint8Array) => writeFileSync(join(folder, name), bytes);
    put("header.bin", good.with(100, (good.at(100) ?? 0) ^ 1));
    put("state.bin", good.with(good.length - 20, (good.at(-20) ?? 0) ^ 1));
    put("cut.bin", good.subarray(0, good.length / 2));
    put("empty.bin", new Uint8Array());
    put("zeros.bin", new Uint8Array(5000));
    copyFileSync(join(root, "unified/paris.bin"), join(folder, "layout.bin"));
    const names = ["header", "state", "cut", "empty", "zeros", "layout", "missing"];
    for (const name of names) {
      const { status, json } = await act(server, 0, "restore", `${name}.bin`);
      expect([name, status, json.error.param]).toEqual([name, 400, "filename"]);
    }
    const { status } = await act(server, 0, "restore", "paris.bin");
    expect(status).toBe(200);
    expect((await complete(server, france)).cached).toBeGreaterThan(20);
    expect((await server.health()).engine.restarts).toBe(0);
    await server.stop();
  });

  test("is one of a longer context", async () => {
    const folder = join(root, "unified");
    const server = await serve(["--kv-mode", "unified", "--ctx", "512", "--slot-save-path", folder]);
    expect((await act(server, 0, "restore", "paris.bin")).status).toBe(200);
    await server.stop();
    const long = await serve(["--kv-mode", "unified", "--slot-save-path", folder]);
    await complete(long, "a b c d e f g h ".repeat(80), { id_slot: 0, n_predict: 1 });
    const { json: saved } = await act(long, 0, "save", "long.bin");
    await long.stop();
    const short = await serve(["--kv-mode", "unified", "--ctx", "512", "--slot-save-path", folder]);
    const { status, json } = await act(short, 0, "restore", "long.bin");
    expect([status, json.error.message]).toEqual([
      400,
      `'filename': the file holds ${saved.n_saved} tokens; the context has room for 512.`,
    ]);
    await short.stop();
  });
});

test("where the folder cannot be written, nothing is left there", async () => {
  const folder = join(root, "locked");
  const server = await serve(["--slot-save-path", folder]);
  await complete(server, france, { id_slot: 0 });
  rmSync(folder, { recursive: true });
  expect((await act(server, 0, "save", "a.bin")).status).toBe(503);
  writeFileSync(folder, "");
  expect((await act(server, 0, "restore", "a.bin")).status).toBe(503);
  expect((await complete(server, france, { id_slot: 0 })).cached).toBeGreaterThan(20);
  await server.stop();
});

test("saving and restoring beside running requests changes no answer", async () => {
  const folder = join(root, "busy");
  const server = await serve(["--slot-save-path", folder]);
  const fields = { n_predict: 60, id_slot: 1 };
  const alone = await complete(server, france, fields);
  await act(server, 1, "save", "x");
  const running = Promise.all(
    Array.from({ length: 6 }, (_, at) => complete(server, at % 2 ? france : germany, { ...fields, id_slot: at % 2 })),
  );
  const actions = Array.from({ length: 12 }, (_, at) =>
    act(server, at % 2, ["save", "restore", "erase"][at % 3] ?? "", "x"),
  );
  const statuses = (await Promise.all(actions)).map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([200]));
  const texts = (await running).filter((_, at) => at % 2).map(({ text }) => text);
  expect(new Set(texts)).toEqual(new Set([alone.text]));
  expect(readdirSync(folder)).toEqual(["x"]);
  await server.stop();
});

test("a model whose state cannot be cut goes on with a whole conversation", async () => {
  const model = makeRecurrentModel(join(import.meta.dir, "../../vendor/.build/models"));
  const args = ["--model", model, "--slot-save-path", join(root, "recurrent")];
  const said = "a b c d e f g h ".repeat(8).trim();
  const first = await serve(args);
  // The one token is sampled and never computed: what is kept ends with the prompt.
  const { computed } = await complete(first, said, { id_slot: 0, n_predict: 1 });
  expect((await act(first, 0, "save", "a.bin")).json.n_saved).toBe(computed);
  const cold = await complete(first, `${said} x y z`, { cache_prompt: false });
  await first.stop();
  const second = await serve(args);
  expect((await act(second, 1, "restore", "a.bin")).json.n_restored).toBe(computed);
  expect((await complete(second, said.slice(0, -8))).cached).toBe(0);
  const after = await complete(second, `${said} x y z`);
  expect([after.text, after.cached]).toEqual([cold.text, computed]);
  await second.stop();
});

test("a folder that others can look into is refused at start, and so is a server without a prefix cache", async () => {
  const refused = async (...args: string[]) => {
    const child = Bun.spawn([...FROM_SOURCE, ...flags, "--port", "0", ...args], { stdin: "ignore", stderr: "pipe" });
    return [await child.exited, await child.stderr.text()];
  };
  const open = mkdtempSync(join(root, "open-"));
  chmodSync(open, 0o755);
  expect(await refused("--slot-save-path", open)).toEqual([1, expect.stringContaining("is open to other users")]);
  const cacheless = await refused("--slot-save-path", join(root, "none"), "--no-prefix-cache");
  expect(cacheless).toEqual([2, expect.stringContaining("exclude each other")]);
});
