// --pull, as processes against a hub on loopback.

import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MODEL } from "../native/harness.ts";
import { bytesContent, FakeHub } from "../store/models/fake-hub.ts";
import { sharedFolder } from "../support/folders.ts";
import { ownEnvironment } from "../support/own-environment.ts";
import { post } from "../support/post.ts";
import { runSvc } from "../support/program.ts";
import { PROGRAM } from "../support/server.ts";
import { until } from "../support/until.ts";

setDefaultTimeout(60_000);

const CONTENT = bytesContent(readFileSync(MODEL));
const REPO = "maker/Mini-GGUF";
const FILE = "mini-Q8_0.gguf";
const NAME = `${REPO}:Q8_0`;
const DONE = `${NAME}: 4.6 MB downloaded.\n`;
const ASK = ["-s", "What is the capital of France?", "-t", "0", "--max-tokens", "16", "--ctx", "512"];

const home = sharedFolder();
const models = join(home, ".local/share/svc/models");
let hub: FakeHub;
beforeEach(async () => {
  hub = await FakeHub.start();
  hub.add(REPO, FILE, { content: CONTENT });
});
afterEach(async () => {
  await hub[Symbol.asyncDispose]();
  rmSync(models, { recursive: true, force: true });
});

const environment = () => ownEnvironment({ HOME: home, HF_ENDPOINT: hub.endpoint });

const start = (args: readonly string[]) =>
  Bun.spawn([...PROGRAM, ...args], { env: environment(), stdin: "ignore", stdout: "pipe", stderr: "pipe" });

const finish = (args: readonly string[]) => runSvc(args, { env: environment() });

/** Serves until `use` has ended, and returns what the server printed on standard error. */
async function serving(args: readonly string[], use: (url: string) => Promise<void>): Promise<string> {
  const ready = join(home, "ready");
  const server = start(["serve", "--port", "0", "--ready-file", ready, "--ctx", "512", ...args]);
  await until(() => existsSync(ready) || server.exitCode !== null, 60_000);
  await use(readFileSync(ready, "utf8").trim());
  server.kill();
  expect(await server.exited).toBe(0);
  return server.stderr.text();
}

test("a server downloads its model first, and the next start makes no request", async () => {
  const args = ["--model", REPO, "--pull"];
  const answers = async (url: string) => {
    const response = await post(`${url}/v1/chat/completions`, { messages: [{ role: "user", content: "Hi" }] });
    expect(await response.json()).toMatchObject({ object: "chat.completion" });
  };
  const log = await serving(args, answers);
  expect(log).toMatch(/^maker\/Mini-GGUF:Q8_0: \d+ %  .* of 4\.6 MB/);
  expect(log).toContain(DONE);
  const { length } = hub.seen;
  expect(await serving(args, answers)).not.toContain("downloaded");
  expect(hub.seen).toHaveLength(length);
});

test("one answer is all on standard output; -hf of llama-server is the same", async () => {
  const { code, out, err } = await finish([...ASK, "-hf", REPO]);
  expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining("Paris") });
  expect(out).not.toContain("downloaded");
  expect(err).toContain(DONE);
  const { length } = hub.seen;
  expect(await finish([...ASK, "--model", NAME, "--pull"])).toEqual({ code: 0, out, err: "" });
  expect(hub.seen).toHaveLength(length);
});

test("--quiet hides the progress", async () => {
  expect(await finish([...ASK, "--model", REPO, "--pull", "--quiet"])).toMatchObject({ code: 0, err: "" });
});

test("a draft model is downloaded too", async () => {
  hub.add("maker/Draft-GGUF", "draft-Q8_0.gguf", { content: CONTENT });
  const { code, err } = await finish([...ASK, "--model", REPO, "--draft", "maker/Draft-GGUF", "--pull"]);
  expect(code).toBe(0);
  expect(err).toContain("maker/Draft-GGUF:Q8_0: 4.6 MB downloaded.");
});

test.each([
  ["a file in a folder of a repository", () => `${REPO}:sub/${FILE}`],
  ["its page at another hub", () => `${hub.endpoint}/${REPO}/tree/main`],
  ["a file of a revision", () => `https://huggingface.co/${REPO}/resolve/v2/${FILE}?download=true`],
  ["the address of a file in other words", () => `HTTP${hub.cdnUrl.slice(4)}/${REPO}/mini%2DQ8_0.gguf`],
])("%s is found again", async (_, name) => {
  if (name().includes("sub/")) hub.add(REPO, `sub/${FILE}`, { content: CONTENT });
  const args = [...ASK, "--model", name(), "--pull"];
  expect(await finish(args)).toMatchObject({ code: 0, err: expect.stringContaining("4.6 MB downloaded.") });
  const { length } = hub.seen;
  expect(await finish(args)).toMatchObject({ code: 0, err: "" });
  expect(hub.seen).toHaveLength(length);
});

test("a download that fails ends as svc pull does, before anything is loaded", async () => {
  const pulled = await finish(["pull", "maker/none"]);
  expect(pulled.code).toBe(5);
  for (const args of [ASK, ["serve", "--port", "0"]]) {
    expect(await finish([...args, "--model", "maker/none", "--pull"])).toEqual(pulled);
  }
});

test("what can be refused at once is refused before the download", async () => {
  await using other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const missing = join(home, "missing.gguf");
  const refusals = [
    { args: ["--port", String(other.port)], code: 4, reason: "is in use" },
    ...["mmproj", "lora", "draft", "embedding-model"].map((option) => ({
      args: ["--port", "0", `--${option}`, missing],
      code: 3,
      reason: `There is no file ${missing}.`,
    })),
  ];
  const ready = join(home, "of-another-server");
  writeFileSync(ready, "");
  for (const { args, code, reason } of refusals) {
    const all = ["serve", "--model", REPO, "--pull", "--ready-file", ready, ...args];
    expect(await finish(all)).toMatchObject({ code, err: expect.stringContaining(reason) });
  }
  expect([hub.seen, existsSync(ready)]).toEqual([[], true]);
});

test("the file of --ready-file is gone while a model is downloaded", async () => {
  hub.delay = 10;
  const ready = join(home, "stale");
  writeFileSync(ready, "http://127.0.0.1:9999");
  const child = start(["serve", "--port", "0", "--model", REPO, "--pull", "--ready-file", ready]);
  await until(() => hub.sent > 1_000_000);
  expect(existsSync(ready)).toBeFalse();
  child.kill();
  await child.exited;
});

test("without --pull, no request is made", async () => {
  const { code, err } = await finish(["serve", "--port", "0", "--model", REPO]);
  expect([code, err]).toEqual([
    3,
    `svc: There is no file ${REPO} and no model of this name in ${models}: svc pull ${REPO} downloads it, and so does this command with --pull.\n`,
  ]);
  expect(hub.seen).toEqual([]);
});

test.skipIf(process.platform === "win32")(
  "SIGHUP during a server's download reloads it afterwards (POSIX signals)",
  async () => {
    hub.delay = 10;
    const ready = join(home, "reloaded");
    const child = start(["serve", "--port", "0", "--ctx", "512", "--model", REPO, "--pull", "--ready-file", ready]);
    await until(() => hub.sent > 1_000_000);
    child.kill("SIGHUP");
    await until(() => existsSync(ready) || child.exitCode !== null || child.signalCode !== null, 60_000);
    child.kill();
    const [code, err] = [await child.exited, await child.stderr.text()];
    expect([code, err]).toEqual([0, expect.stringContaining(DONE)]);
    expect(err).toContain("upstreams reloaded");
  },
);

describe.each([
  ["one answer", ASK],
  ["a server", ["serve", "--port", "0"]],
])("%s", (_, args) => {
  test.each(["SIGINT", "SIGTERM"] as const)("%s ends the download, which goes on next time", async (signal) => {
    hub.delay = 10;
    const child = start([...args, "--model", REPO, "--pull"]);
    await until(() => hub.sent > 1_000_000);
    child.kill(signal);
    expect([await child.exited, await child.stdout.text()]).toEqual([130, ""]);
    expect(await child.stderr.text()).toEndWith(
      `svc: Interrupted. svc pull ${REPO} continues where this download stopped.\n`,
    );
    hub.delay = 0;
    expect(await finish([...ASK, "--model", REPO, "--pull"])).toMatchObject({ code: 0 });
    expect(hub.seen.at(-1)?.range).toMatch(/^bytes=[1-9]/);
  });
});
