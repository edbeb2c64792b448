// --kv-dir with the embedded model, through running servers: a conversation goes on after a restart, as if nothing had been.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeAdapter } from "../models/make-adapter.ts";
import { makeRecurrentModel } from "../models/make-recurrent-model.ts";
import type { Message } from "../support/logprob-chat.ts";
import { metricValue } from "../support/metrics-text.ts";
import { FROM_SOURCE, startServer, type ServerProcess } from "../support/server.ts";

setDefaultTimeout(240_000);

/** One thread: two that wait for each other take minutes beside other tests. */
const flags = ["--ctx", "1024", "--parallel", "2", "--threads", "1"];
const root = mkdtempSync(join(tmpdir(), "svc-kv-dir-"));
let cold: ServerProcess;
const servers: ServerProcess[] = [];

/** A server that does not outlive a test that fails. */
async function serve(args: readonly string[]): Promise<ServerProcess> {
  const server = await startServer(args);
  servers.push(server);
  return server;
}

beforeAll(async () => {
  cold = await serve([...flags, "--no-prefix-cache"]);
});
afterAll(async () => {
  await cold.stop();
  await Promise.all(servers.map((server) => server.kill()));
  rmSync(root, { recursive: true });
});

async function ask(server: ServerProcess, messages: readonly Message[], fields: object = {}) {
  const response = await fetch(`${server.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ messages, max_tokens: 16, temperature: 0, ...fields }),
  });
  const { choices, usage } = (await response.json()) as {
    choices: { message: { content: string } }[];
    usage: { prompt_tokens: number; prompt_tokens_details: { cached_tokens: number } };
  };
  const cached = usage.prompt_tokens_details.cached_tokens;
  return { text: choices[0]?.message.content ?? "", prompt: usage.prompt_tokens, cached };
}

const user = (content: string): Message => ({ role: "user", content });
/** A conversation's beginning of some hundred tokens that no other has. */
const opening = (name: string): Message[] => [
  { role: "system", content: `You are ${name}. `.repeat(60) },
  user("What is the capital of France?"),
];
const metric = async (server: ServerProcess, name: string) =>
  metricValue(await (await fetch(`${server.url}/metrics`)).text(), name);

describe.each([
  ["unified", ["--kv-mode", "unified"]],
  ["streams", ["--kv-mode", "streams", "--ctx", "2048"]],
] as const)("%s: a conversation", (mode, more) => {
  const folder = join(root, mode);
  const start = (extra: readonly string[] = []) => serve([...flags, ...more, "--kv-dir", folder, ...extra]);
  const messages = opening("Ada");

  test("goes on after an orderly restart", async () => {
    const first = await start();
    const before = await ask(first, messages);
    expect(before.cached).toBe(0);
    await first.stop();
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
    expect(after.text).toBe((await ask(cold, next)).text);
    expect(await metric(second, "svc_kv_disk_restored_tokens_total")).toBe(held);
    const again = await ask(second, messages);
    expect([again.text, again.cached]).toEqual([before.text, before.prompt - 1]);
    await second.stop();
  });

  test("goes on after kill -9 as far as it had left host memory", async () => {
    const first = await start(["--cache-ram", "2"]);
    for (const name of ["Grace", "Alan", "Edsger", "Barbara", "Donald", "Tony"]) await ask(first, opening(name));
    const written = async () => metric(first, "svc_kv_disk_written_tokens_total");
    const before = await written();
    for (let at = 0; (await written()) < before + 1500; at++) {
      if (at > 40) throw new Error("nothing goes to disk");
      await ask(first, opening(`Nobody ${at}`));
    }
    await first.kill();

    const second = await start(["--cache-ram", "2"]);
    expect(await metric(second, "svc_kv_disk_tokens")).toBeGreaterThan(1500);
    const reference = await ask(cold, opening("Grace"));
    const after = await ask(second, opening("Grace"));
    expect([after.text, after.cached]).toEqual([reference.text, reference.prompt - 1]);
    expect(await metric(second, "svc_kv_disk_failed_tokens_total")).toBe(0);
    await second.stop();
  });

  test("goes on when the engine alone dies", async () => {
    const server = await start();
    const { prompt, text } = await ask(cold, messages);
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
    const { prompt, text } = await ask(cold, messages);
    const damaged = await start();
    expect(await ask(damaged, messages)).toEqual({ prompt, text, cached: 0 });
    expect(await metric(damaged, "svc_kv_disk_failed_tokens_total")).toBeGreaterThan(0);
    await damaged.stop();
    const other = await start(["--kv-type", "q8_0"]);
    expect(await metric(other, "svc_kv_disk_tokens")).toBe(0);
    expect((await ask(other, messages)).cached).toBe(0);
    await other.stop();
  });
});

test("a model whose state cannot be cut goes on with whole conversations", async () => {
  const model = makeRecurrentModel(join(import.meta.dir, "../../vendor/.build/models"));
  const folder = join(root, "recurrent");
  const own = [...flags, "--model", model, "--ctx", "2048"];
  const complete = async (server: ServerProcess, prompt: string, max_tokens = 8) => {
    const body = JSON.stringify({ prompt, max_tokens, temperature: 0, ignore_eos: true });
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${server.url}/v1/completions`, { method: "POST", headers, body });
    const { choices, usage } = (await response.json()) as {
      choices: { text: string }[];
      usage: { prompt_tokens: number; prompt_tokens_details: { cached_tokens: number } };
    };
    return {
      text: choices[0]?.text ?? "",
      prompt: usage.prompt_tokens,
      cached: usage.prompt_tokens_details.cached_tokens,
    };
  };
  const first = await serve([...own, "--kv-dir", folder]);
  const said = "a b c d e f g h ".repeat(40).trim();
  // The one token is sampled and never computed: what is kept ends with the prompt.
  const before = await complete(first, said, 1);
  await first.stop();

  const second = await serve([...own, "--kv-dir", folder]);
  const reference = await serve([...own, "--no-prefix-cache"]);
  const held = await metric(second, "svc_kv_disk_tokens");
  expect(held).toBe(before.prompt);
  const branch = said.slice(0, -8);
  expect(await complete(second, branch)).toEqual(await complete(reference, branch));
  const next = `${said} x y z`;
  const [after, cold] = [await complete(second, next), await complete(reference, next)];
  expect(after).toEqual({ ...cold, cached: held });
  await second.stop();
  await reference.stop();
});

test("nothing computed with adapters serves others, over restarts with other --lora flags", async () => {
  const folder = join(root, "adapters");
  const [a, b, c] = [1, 2, 3].map((seed) => makeAdapter(root, seed));
  // What it makes up differs with the adapters.
  const system: Message = { role: "system", content: "You are a helpful assistant. ".repeat(60) };
  const messages = [system, user("Tell me a story.")];
  const run = async (lora: readonly string[], asks: readonly object[]) => {
    const adapted = lora.flatMap((one) => ["--lora", one]);
    const server = await startServer([...flags, "--ctx", "4096", "--kv-dir", folder, ...adapted]);
    const answers = [];
    for (const fields of asks) answers.push(await ask(server, messages, { max_tokens: 40, ...fields }));
    await server.stop();
    return answers;
  };
  const fields = (id: number, scale: number) => ({ lora: [{ id, scale }] });

  const sets = [{}, { model: "tone" }, fields(0, 0.5)];
  // Twice: what was computed in a batch of the same shape is the same to the last bit.
  const first = await run([`tone=${a}`, `style=${b}`], [...sets, ...sets]);
  const [base, tone, half] = first.slice(sets.length);
  if (!base || !tone || !half) throw new Error("no answers");
  const all = base.prompt - 1;
  expect(first.map(({ cached }) => cached)).toEqual([0, 0, 0, all, all, all]);
  expect(new Set([base, tone, half].map(({ text }) => text)).size).toBe(3);

  // Other numbers: what was 0 is 1.
  const turned = await run([`style=${b}`, `tone=${a}`], [{ model: "tone" }, fields(1, 0.5), fields(0, 1), {}]);
  expect(turned.map(({ cached }) => cached)).toEqual([all, all, 0, all]);
  expect([turned[0], turned[1], turned[3]]).toEqual([tone, half, base]);

  // Another file under the name and the number; no adapter at all.
  const [replaced] = await run([`tone=${c}`], [{ model: "tone" }]);
  expect(replaced?.cached).toBe(0);
  expect(await run([], [{}])).toEqual([base]);
});

describe("at start", () => {
  const refused = async (args: readonly string[]) => {
    const child = Bun.spawn([...FROM_SOURCE, ...flags, "--port", "0", ...args], { stdin: "ignore", stderr: "pipe" });
    return { status: await child.exited, said: await child.stderr.text() };
  };

  test("a folder that others can look into is refused, and so is what is no folder", async () => {
    const open = mkdtempSync(join(root, "open-"));
    chmodSync(open, 0o755);
    const { status, said } = await refused(["--kv-dir", open]);
    expect([status, said]).toEqual([1, expect.stringContaining("is open to other users (mode 755)")]);
    const file = join(root, "file");
    writeFileSync(file, "");
    expect(await refused(["--kv-dir", file])).toEqual({
      status: 1,
      said: expect.stringContaining("cannot be used (EEXIST)"),
    });
  });

  test("options that leave it nothing to do are refused", async () => {
    const folder = join(root, "unused");
    expect(await refused(["--kv-dir", folder, "--cache-ram", "0"])).toMatchObject({ status: 2 });
    expect(await refused(["--kv-dir", folder, "--no-prefix-cache"])).toMatchObject({ status: 2 });
  });

  test("the log tells what was found, and nothing of what was said", async () => {
    const folder = join(root, "unified");
    const server = await serve([...flags, "--kv-dir", folder, "--kv-mode", "unified"]);
    await fetch(`${server.url}/health`);
    const said = await server.kill();
    expect(said).toMatch(/conversations on disk.*conversations=\d+.*tokens=\d+.*damaged=\d+/);
    expect(said).not.toContain("Ada");
  });
});
