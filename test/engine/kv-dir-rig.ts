// What tests of --kv-dir have in common: servers, what they are asked, and how a conversation goes on.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Message } from "../support/logprob-chat.ts";
import { metricValue } from "../support/metrics-text.ts";
import { startServer, type ServerProcess } from "../support/server.ts";
import { sharedServer } from "../support/shared-server.ts";

/** One thread: two that wait for each other take minutes beside other tests. */
export const FLAGS = ["--ctx", "1024", "--parallel", "2", "--threads", "1"];

export interface KvDirRig {
  /** For files; removed after the last test. */
  readonly root: string;
  /** A server that keeps nothing. */
  readonly cold: ServerProcess;
  /** A server that does not outlive a test that fails. */
  serve(args: readonly string[]): Promise<ServerProcess>;
}

/** Starts the cold server before the first test of a file, and ends all after the last. */
export function kvDirRig(): KvDirRig {
  const root = mkdtempSync(join(tmpdir(), "svc-kv-dir-"));
  const servers: ServerProcess[] = [];
  const serve = async (args: readonly string[]): Promise<ServerProcess> => {
    const server = await startServer(args);
    servers.push(server);
    return server;
  };
  const cold = sharedServer(...FLAGS, "--no-prefix-cache");
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.kill()));
    rmSync(root, { recursive: true });
  });
  return { root, serve, cold };
}

export async function ask(server: ServerProcess, messages: readonly Message[], fields: object = {}) {
  const response = await server.post("/v1/chat/completions", { messages, max_tokens: 16, temperature: 0, ...fields });
  const { choices, usage } = (await response.json()) as {
    choices: { message: { content: string } }[];
    usage: { prompt_tokens: number; prompt_tokens_details: { cached_tokens: number } };
  };
  const cached = usage.prompt_tokens_details.cached_tokens;
  return { text: choices[0]?.message.content ?? "", prompt: usage.prompt_tokens, cached };
}

export const user = (content: string): Message => ({ role: "user", content });
/** A conversation's beginning of some hundred tokens that no other has. */
const opening = (name: string): Message[] => [
  { role: "system", content: `You are ${name}. `.repeat(60) },
  user("What is the capital of France?"),
];
export const metric = async (server: ServerProcess, name: string) => metricValue(await server.metrics(), name);

/** How a conversation goes on where the cells are laid out like this. */
export function conversationTests(rig: KvDirRig, mode: string, more: readonly string[]): void {
  const folder = join(rig.root, mode);
  const start = (extra: readonly string[] = []) => rig.serve([...FLAGS, ...more, "--kv-dir", folder, ...extra]);
  const messages = opening("Ada");
  let before: Awaited<ReturnType<typeof ask>>;

  beforeAll(async () => {
    const first = await start();
    before = await ask(first, messages);
    await first.stop();
  });

  test("goes on after an orderly restart", async () => {
    expect(before.cached).toBe(0);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    const [file = "", ...others] = readdirSync(folder);
    expect(others).toEqual([]);
    expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);

    const second = await start();
    const held = await metric(second, "svc_kv_disk_tokens");
    const next = [...messages, { role: "assistant", content: before.text } as const, user("Name three fruits.")];
    const after = await ask(second, next);
    // The last token of the answer is sampled and never computed; a template may write the end of a turn otherwise.
    expect(after.cached).toBeGreaterThanOrEqual(before.prompt);
    expect(after.cached).toBeLessThanOrEqual(held);
    expect(after.text).toBe((await ask(rig.cold, next)).text);
    expect(await metric(second, "svc_kv_disk_restored_tokens_total")).toBe(held);
    const again = await ask(second, messages);
    expect([again.text, again.cached]).toEqual([before.text, before.prompt - 1]);
    await second.stop();
  });

  test("goes on after kill -9 as far as it had left host memory", async () => {
    const first = await start(["--cache-ram", "2"]);
    await ask(first, opening("Grace"));
    const written = async () => metric(first, "svc_kv_disk_written_tokens_total");
    for (let at = 0; (await written()) < 2000; at++) {
      if (at > 40) throw new Error("nothing goes to disk");
      await ask(first, opening(`Nobody ${at}`));
    }
    await first.kill();

    const second = await start(["--cache-ram", "2"]);
    expect(await metric(second, "svc_kv_disk_tokens")).toBeGreaterThan(1500);
    const reference = await ask(rig.cold, opening("Grace"));
    const after = await ask(second, opening("Grace"));
    expect([after.text, after.cached]).toEqual([reference.text, reference.prompt - 1]);
    expect(await metric(second, "svc_kv_disk_failed_tokens_total")).toBe(0);
    await second.stop();
  });

  test("goes on when the engine alone dies", async () => {
    const server = await start();
    const { prompt, text } = await ask(rig.cold, messages);
    process.kill(server.enginePid(), "SIGKILL");
    while ((await server.health()).engine.restarts === 0) await Bun.sleep(20);
    await server.untilReady();
    expect(await ask(server, messages)).toEqual({ prompt, text, cached: prompt - 1 });
    await server.stop();
  });

  test("is computed anew where its file is damaged, and where another model or layout left it", async () => {
    for (const name of readdirSync(folder)) {
      const bytes = readFileSync(join(folder, name));
      // The kill may have left the beginning of a file.
      if (bytes.length < 20) continue;
      writeFileSync(join(folder, name), bytes.with(bytes.length - 20, (bytes.at(-20) ?? 0) ^ 1));
    }
    const { prompt, text } = await ask(rig.cold, messages);
    const damaged = await start();
    expect(await ask(damaged, messages)).toEqual({ prompt, text, cached: 0 });
    expect(await metric(damaged, "svc_kv_disk_failed_tokens_total")).toBeGreaterThan(0);
    await damaged.stop();
    const other = await start(["--kv-type", "q8_0"]);
    expect(await metric(other, "svc_kv_disk_tokens")).toBe(0);
    expect((await ask(other, messages)).cached).toBe(0);
    await other.stop();
  });
}
