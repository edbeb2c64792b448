// svc pull, list, rm and --model by name, as processes against a hub on loopback.

import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BASE, whisperFile } from "../models/whisper-file.ts";
import { sharedFolder } from "../support/folders.ts";
import { ggufBytes, llama } from "../support/gguf-bytes.ts";
import { KOKORO } from "../../src/store/models/kokoro.ts";
import { ModelStore } from "../../src/store/models/model-store.ts";
import { ownEnvironment } from "../support/own-environment.ts";
import { freePort } from "../support/free-port.ts";
import { runSvc } from "../support/program.ts";
import { PROGRAM } from "../support/server.ts";
import { until } from "../support/until.ts";
import { bytesContent, FakeHub } from "../store/models/fake-hub.ts";

const ROOT = join(import.meta.dir, "../..");
const MODEL = bytesContent(readFileSync(join(ROOT, "vendor/svc-mini/svc-mini-q8_0.gguf")));
const REPO = "maker/Mini-GGUF";
const NAME = `${REPO}:Q8_0`;
const TIMEOUT_MS = 60_000;
setDefaultTimeout(TIMEOUT_MS);

const home = sharedFolder();
let hub: FakeHub;
beforeEach(async () => {
  hub = await FakeHub.start();
  hub.add(REPO, "mini-Q8_0.gguf", { content: MODEL });
});
afterEach(async () => {
  await hub[Symbol.asyncDispose]();
  rmSync(join(home, ".local/share/svc/models"), { recursive: true, force: true });
});

const environment = (more = {}) => ownEnvironment({ HOME: home, HF_ENDPOINT: hub.endpoint, ...more });

const start = (args: readonly string[], env = {}) =>
  Bun.spawn([...PROGRAM, ...args], { env: environment(env), stdin: "ignore", stdout: "pipe", stderr: "pipe" });

const finish = (args: readonly string[], env = {}) => runSvc(args, { env: environment(env) });

/** Waits until so many bytes were sent. */
async function sent(bytes: number): Promise<void> {
  while (hub.sent < bytes) await Bun.sleep(5);
}

const listed = async () => JSON.parse((await finish(["list", "--json"])).out);

test("a known set is asked for by its name, and only its very files are taken", async () => {
  const [{ repo, files }] = KOKORO.repos;
  hub.add(repo, files[0]?.path ?? "", { content: bytesContent(Buffer.from("something else")) });
  const { code, out, err } = await finish(["pull", "kokoro"]);
  expect([code, out]).toEqual([5, ""]);
  expect(err).toContain("is not the version that this svc expects");
  expect(await listed()).toMatchObject([{ name: "kokoro", complete: false, url: `https://huggingface.co/${repo}` }]);
});

test("a folder of models that cannot be read is told, not taken for an empty one", async () => {
  const folder = join(home, "unreadable");
  symlinkSync(folder, folder);
  const why = `svc: The folder of models ${folder}/manifests cannot be read: ELOOP.\n`;
  const flags = ["--models-dir", folder];
  expect(await finish(["list", ...flags])).toEqual({ code: 1, out: "", err: why });
  expect(await finish(["list", ...flags, "--log-level", "debug"])).toEqual({ code: 1, out: "", err: why });
  expect(await finish(["rm", NAME, ...flags])).toEqual({ code: 1, out: "", err: why });
  expect(await finish(["-s", "Hi", "--model", NAME, ...flags])).toEqual({ code: 3, out: "", err: why });
});

test.skipIf(process.getuid?.() === 0)("a folder of models without permission is told", async () => {
  const folder = join(home, "forbidden");
  mkdirSync(folder, { mode: 0 });
  const { code, err } = await finish(["list", "--models-dir", folder]);
  const why = `The folder of models ${folder}/manifests cannot be read: there is no permission.`;
  expect([code, err]).toEqual([1, `svc: ${why}\n`]);
});

test("data for text recognition is listed and removed like a model", async () => {
  const store = new ModelStore(join(home, ".local/share/svc/models"));
  const { bytes, sha256 } = bytesContent(Buffer.from("trained"));
  const path = "tessdata/deu.traineddata";
  await Bun.write(store.path(path), "trained");
  const pulled = "2026-01-02T03:04:05.000Z";
  await store.save({ name: "tessdata:deu", url: "", files: [{ path, bytes, sha256 }], pulled });
  expect((await finish(["list"])).out).toMatch(/^NAME .*\ntessdata:deu +7 bytes +2026-01-02 03:04\n$/);
  expect(await finish(["rm", "tessdata:deu"])).toMatchObject({ code: 0, out: expect.stringContaining("removed") });
  expect(await Bun.file(store.path(path)).exists()).toBe(false);
});

test("pull, list, serve by name, rm", async () => {
  expect(await finish(["pull", REPO])).toEqual({
    code: 0,
    out: `${NAME}: 4.6 MB downloaded. Serve it: svc --model ${NAME}\n`,
    err: expect.stringContaining("of 4.6 MB"),
  });
  expect((await finish(["pull", NAME])).out).toContain(`${NAME}: up to date`);
  expect((await finish(["list"])).out).toMatch(
    /^NAME +SIZE +QUANT +PULLED\nmaker\/Mini-GGUF:Q8_0 +4\.6 MB +Q8_0 +\d{4}-\d\d-\d\d \d\d:\d\d\n$/,
  );
  const path = join(home, ".local/share/svc/models/hub", REPO, "mini-Q8_0.gguf");
  expect(await listed()).toEqual([
    {
      name: NAME,
      bytes: MODEL.bytes,
      quant: "Q8_0",
      pulled: expect.any(String),
      complete: true,
      url: `https://huggingface.co/${REPO}`,
      files: [{ path, bytes: MODEL.bytes, sha256: MODEL.sha256 }],
      mmproj: null,
    },
  ]);
  // Nothing but the folder is needed.
  const question = ["-s", "What is the capital of France?", "-t", "0", "--max-tokens", "16"];
  const answer = await finish(["--model", "mini-gguf", ...question], { HF_ENDPOINT: "http://127.0.0.1:9" });
  expect(answer).toMatchObject({ code: 0, out: expect.stringContaining("Paris") });
  expect(await finish(["rm", NAME])).toEqual({ code: 0, out: `${NAME} removed, 4.6 MB freed.\n`, err: "" });
  expect((await finish(["list"])).out).toContain("No models in ");
  expect(await listed()).toEqual([]);
});

test.each([
  ["a server", async (ready: string) => ["serve", "--port", "0", "--ready-file", ready]],
  ["an agent's server", async () => ["launch", "codex", "--port", String(await freePort())]],
])("a model is not removed under %s that serves it", async (_, serving) => {
  await finish(["pull", REPO]);
  const ready = join(home, "ready");
  rmSync(ready, { force: true });
  writeFileSync(join(home, "codex"), `#!/bin/sh\ntouch ${ready}\nexec sleep 60\n`, { mode: 0o755 });
  const args = [...(await serving(ready)), "--model", NAME, "--ctx", "512"];
  const server = start(args, { PATH: `${home}:/usr/bin:/bin` });
  await until(() => existsSync(ready));
  const why = `svc: ${NAME} is being served by another svc at this moment; stop that first.\n`;
  expect(await finish(["rm", NAME])).toEqual({ code: 1, out: "", err: why });
  server.kill();
  await server.exited;
  expect(await finish(["rm", NAME])).toMatchObject({ code: 0 });
});

test("a download that is no model leaves nothing in the list", async () => {
  hub.add("maker/Text-GGUF", "text-Q8_0.gguf", { content: bytesContent(Buffer.from("some text")) });
  const { code, err } = await finish(["pull", "maker/Text-GGUF"]);
  expect([code, err]).toEqual([5, expect.stringContaining("was downloaded and deleted")]);
  expect(await listed()).toEqual([]);
});

test("a pull that is killed goes on where it was", async () => {
  hub.delay = 10;
  const child = start(["pull", REPO]);
  await sent(2_000_000);
  child.kill("SIGKILL");
  await child.exited;
  expect(await listed()).toMatchObject([{ name: NAME, complete: false, pulled: null }]);
  expect((await finish(["list"])).out).toContain("incomplete");
  const unready = await finish(["--model", NAME, "-s", "Hi"]);
  expect(unready).toMatchObject({
    code: 3,
    err: `svc: ${NAME} is not complete: svc pull ${NAME} downloads the rest, and so does this command with --pull.\n`,
  });
  hub.delay = 0;
  expect((await finish(["pull", NAME])).code).toBe(0);
  expect(Number(/\d+/.exec(hub.seen.at(-1)?.range ?? "")?.[0])).toBeGreaterThan(1_000_000);
  expect(await listed()).toMatchObject([{ complete: true, files: [{ sha256: MODEL.sha256 }] }]);
});

test("of two at once one downloads, and when it is killed the other takes over", async () => {
  hub.delay = 100;
  const first = start(["pull", REPO]);
  await sent(1);
  const second = start(["pull", REPO]);
  let told = "";
  const toldAll = (async () => {
    for await (const text of second.stderr.pipeThrough(new TextDecoderStream())) told += text;
  })();
  await until(() => told.includes("another svc downloads this file"), TIMEOUT_MS);
  expect(hub.seen.filter(({ origin }) => origin === "cdn")).toHaveLength(1);
  first.kill("SIGKILL");
  hub.delay = 0;
  expect(await second.exited).toBe(0);
  await toldAll;
  expect(await listed()).toMatchObject([{ complete: true, files: [{ sha256: MODEL.sha256 }] }]);
});

test("Ctrl+C ends it with 130 and says how to go on", async () => {
  hub.delay = 10;
  const child = start(["pull", REPO]);
  await sent(1_000_000);
  child.kill("SIGINT");
  expect(await child.exited).toBe(130);
  expect(await child.stderr.text()).toContain(
    `svc: Interrupted. svc pull ${REPO} continues where this download stopped.`,
  );
});

/** A speech recognition model that no other call returns. */
const whisper = () => bytesContent(whisperFile(BASE, crypto.randomUUID()));

test("speech recognition models by a short name, by their file and by URL; list and rm know them", async () => {
  const repo = "ggerganov/whisper.cpp";
  const [base, tiny] = [whisper(), whisper()];
  hub.add(repo, "ggml-base.bin", { content: base });
  hub.add(repo, "ggml-tiny-q5_1.bin", { content: tiny });
  const name = `${repo}:ggml-base`;
  const pulled = await finish(["pull", "whisper:base"]);
  expect(pulled).toMatchObject({
    code: 0,
    out: `${name}: ${base.bytes} bytes downloaded. Serve it: svc --transcription-model ${name}\n`,
  });
  expect((await finish(["pull", "whisper:base"])).out).toContain("up to date");
  expect((await finish(["pull", `${repo}/ggml-tiny-q5_1.bin`])).code).toBe(0);
  expect((await finish(["pull", `${hub.cdnUrl}/${repo}/ggml-base.bin`])).code).toBe(0);
  expect((await listed()).map((model: { name: string }) => model.name)).toEqual([
    name,
    `${repo}:ggml-tiny-q5_1`,
    "ggml-base",
  ]);
  // The hub's checksum counts.
  hub.faults = [{ corrupt: 100 }];
  hub.add(repo, "ggml-small.bin", { content: whisper() });
  expect(await finish(["pull", "whisper:small"])).toMatchObject({
    code: 5,
    err: expect.stringContaining("wrong checksum"),
  });
  expect(await finish(["pull", "whisper:bse"])).toMatchObject({
    code: 5,
    err: expect.stringMatching(/has no "ggml-bse"[^]*ggml-base/),
  });
  hub.add(repo, "ggml-html.bin", { content: bytesContent(Buffer.from("<html>")) });
  expect(await finish(["pull", "whisper:html"])).toMatchObject({
    code: 5,
    err: expect.stringContaining("deleted"),
  });
  const offline = { HF_ENDPOINT: "http://127.0.0.1:9" };
  const transcribe = (model: string) =>
    finish(["transcribe", import.meta.path, "--transcription-model", model], offline);
  expect(await transcribe("whisper:large")).toMatchObject({
    code: 3,
    err: expect.stringContaining("svc pull whisper:large downloads it"),
  });
  // The model is found; this file is no recording.
  expect((await transcribe("whisper:base")).code).toBe(1);
  expect((await finish(["rm", "whisper:base"])).out).toContain(`${name} removed`);
  expect((await listed()).map((model: { name: string }) => model.name)).not.toContain(name);
});

test("a transcription model of which the end is missing is refused at the start, as every other model", async () => {
  const path = join(home, "ggml-cut.bin");
  writeFileSync(path, whisperFile().subarray(0, 200));
  expect(await finish(["--transcription-model", path, "--port", "0"])).toEqual({
    code: 3,
    out: "",
    err: "svc: ggml-cut.bin is incomplete or corrupt (200 bytes in all); get the file again.\n",
  });
});

describe("refusals", () => {
  test.each([
    [["pull", "maker/none"], 5, "maker/none does not exist or is private (401)"],
    [["pull", `${REPO}:Q2_K`], 5, 'has no "Q2_K". It has these:\n  Q8_0 '],
    [["pull", "../../etc"], 2, "A model is named owner/repository"],
    [["pull", "tessdata:"], 2, "Data for text recognition is named tessdata:NAME"],
    [["pull", "tessdata:../x"], 2, "Data for text recognition is named tessdata:NAME"],
    [["pull", "tessdata"], 2, "Data for text recognition is named tessdata:NAME"],
    [["pull", "kokorro"], 2, "Did you mean kokoro?"],
    [["--json"], 2, "--json is for one answer (svc -s), svc say, svc models, svc upstreams and svc list."],
    [["rm", "maker/none"], 3, "There is no model maker/none in "],
    [["--model", "maker/none:Q8_0"], 3, "svc pull maker/none:Q8_0 downloads it, and so does this command with --pull."],
    [["--model", "hf.co/maker/none:Q8_0"], 3, "svc pull hf.co/maker/none:Q8_0 downloads it, "],
    [["--model", "hf:maker/none"], 3, "svc pull hf:maker/none downloads it, "],
    [["--model", "hf://maker/none:Q8_0"], 3, "svc pull hf://maker/none:Q8_0 downloads it, "],
    [["--model", "https://example.org/a/b.gguf"], 3, "svc pull https://example.org/a/b.gguf downloads it, "],
    [["--image-model", "flux2-klein", "--port", "0"], 3, "svc pull flux2-klein downloads it, "],
    [["--model", "none"], 3, "There is no file none and no model of this name"],
    [["wiat"], 3, "svc: There is no command, file or model wiat. Did you mean svc wait?\n"],
  ])("%j ends with %i", async (args, code, message) => {
    const result = await finish(args);
    expect(result).toMatchObject({ code, out: "" });
    expect(result.err).toContain(message);
  });

  test("a gated repository says what to do, and HF_TOKEN opens it", async () => {
    hub.gated.set(REPO, "hf_right");
    const { code, err } = await finish(["pull", REPO]);
    expect(code).toBe(5);
    expect(err).toContain(`is gated (401): accept its terms at ${hub.endpoint}/${REPO}, then set HF_TOKEN`);
    expect((await finish(["pull", REPO], { HF_TOKEN: "hf_right" })).code).toBe(0);
  });

  test("an address that is no URL, where it is needed", async () => {
    const noUrl = { HF_ENDPOINT: "mirror", NPM_CONFIG_REGISTRY: "registry" };
    const reasonOf = async (name: string) => (await finish(["pull", name], noUrl)).err;
    expect(await reasonOf(REPO)).toContain("HF_ENDPOINT must be");
    expect(await reasonOf("tessdata:deu")).toContain("NPM_CONFIG_REGISTRY must be");
    expect(await reasonOf("component:images")).toContain("no other to download");
  });

  test("a whole file that cannot be served is told at once, and stays", async () => {
    // A GGUF file with neither metadata nor tensors.
    const empty = Buffer.concat([Buffer.from("GGUF"), Buffer.from([3, 0, 0, 0]), Buffer.alloc(16)]);
    hub.add("maker/empty", "m-F16.gguf", { content: bytesContent(empty) });
    const { code, err } = await finish(["pull", "maker/empty"]);
    expect(code).toBe(3);
    expect(err).toContain("maker/empty:F16 was downloaded, but cannot be served: m-F16.gguf does not say");
  });
});

test("a file wins over a model of its name", async () => {
  mkdirSync(join(home, "maker"), { recursive: true });
  writeFileSync(join(home, "maker/model"), "no model");
  const { code, err } = await runSvc(["--model", "maker/model"], { cwd: home, env: { HOME: home } });
  expect([code, err]).toEqual([3, expect.stringContaining("model is not a GGUF file")]);
});

test("what gives vectors is served by another option, which takes its name", async () => {
  const metadata = Object.fromEntries(
    Object.entries(llama).map(([key, value]) => [key.replace("llama.", "bert."), value]),
  );
  const bert = ggufBytes({ metadata: { ...metadata, "general.architecture": { string: "bert" } } });
  hub.add("maker/bert", "bert-F16.gguf", { content: bytesContent(bert) });
  const { code, out } = await finish(["pull", "maker/bert"]);
  expect({ code, out }).toMatchObject({
    code: 0,
    out: expect.stringContaining("svc --embedding-model maker/bert:F16"),
  });
  const wrong = await finish(["serve", "--port", "0", "--rerank-model", "maker/bert"]);
  expect(wrong).toMatchObject({ code: 3, err: expect.stringContaining("bert-F16.gguf is not a reranker") });
  const none = await finish(["serve", "--port", "0", "--embedding-model", "maker/none"]);
  expect(none).toMatchObject({ code: 3, err: expect.stringContaining("svc pull maker/none") });
});

test("a draft model by name", async () => {
  await finish(["pull", REPO]);
  const question = ["-s", "What is the capital of France?", "-t", "0", "--max-tokens", "16"];
  const answer = await finish([...question, "--model", NAME, "--draft", "mini-gguf"]);
  expect(answer).toMatchObject({ code: 0, out: expect.stringContaining("Paris") });
  expect(await finish([...question, "--draft", "maker/none"])).toMatchObject({
    code: 3,
    err: expect.stringContaining("svc pull maker/none"),
  });
});
