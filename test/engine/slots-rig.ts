// What tests of --slot-save-path have in common: servers, what they are asked, and how a saved slot goes on.

import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServer, type ServerProcess } from "../support/server.ts";

export const FLAGS = ["--ctx", "2048", "--parallel", "2", "--threads", "1"];

export interface SlotsRig {
  /** For files; removed after the last test. */
  readonly root: string;
  /** A server that does not outlive a test that fails. */
  serve(args: readonly string[]): Promise<ServerProcess>;
}

/** Ends all servers after the last test of a file. */
export function slotsRig(): SlotsRig {
  const root = mkdtempSync(join(tmpdir(), "svc-slots-"));
  const servers: ServerProcess[] = [];
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.kill()));
    rmSync(root, { recursive: true });
  });
  return {
    root,
    async serve(args) {
      const server = await startServer([...FLAGS, ...args]);
      servers.push(server);
      return server;
    },
  };
}

async function post<T>(server: ServerProcess, path: string, body: object): Promise<{ status: number; json: T }> {
  const response = await server.post(path, body);
  return { status: response.status, json: (await response.json()) as T };
}

interface Completion {
  readonly content: string;
  readonly timings: { readonly cache_n: number; readonly prompt_n: number };
}

export async function complete(server: ServerProcess, prompt: string, fields: object = {}) {
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

export const act = (server: ServerProcess, slot: number, action: string, filename?: string) =>
  post<Outcome>(server, `/slots/${slot}?action=${action}`, { ...(filename !== undefined && { filename }) });

const opening =
  "You are a guide to Paris, and know its streets, its museums and its history well. A visitor wants to know: ";
export const [france, germany] = ["which is the capital of France?", "which is the capital of Germany?"].map(
  (question) => opening + question,
) as [string, string];

/** How a slot goes on where the cells are laid out like this. */
export function slotTests({ root, serve }: SlotsRig, mode: string): void {
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
}
