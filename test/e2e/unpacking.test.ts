// What the compiled binary writes to disk, when, and what it does when that fails.

import { expect, setDefaultTimeout, test } from "bun:test";
import { chownSync, mkdirSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { binaryIn, inventory, withSandbox } from "../support/binary.ts";
import { MODEL } from "../native/harness.ts";
import { runToEnd } from "../support/program.ts";
import { streamChat } from "../support/chat-client.ts";
import { withServer } from "../support/server.ts";

// One thread, because several wait for each other on a busy machine.
const PROMPT = ["--threads", "1", "--temperature", "0", "--max-tokens", "8", "-s", "What is the capital of France?"];
setDefaultTimeout(60_000);
const ANSWER = /Paris/;

test("--version and --help unpack nothing", () =>
  withSandbox(async ({ command, empty, root }) => {
    const version = await runToEnd([...command(), "--version"]);
    expect(version).toMatchObject({ code: 0, err: "" });
    expect(version.out).toMatch(/^svc \d+\.\d+\.\d+ \([0-9a-f]{7,}\)\n$/);
    expect((await runToEnd([...command(), "--help"])).out).toContain("--model");
    expect(readdirSync(empty)).toEqual([]);
    expect(readdirSync(root)).toEqual(["empty"]);
  }));

test("the first start writes only what it unpacks, and the second writes nothing", () =>
  withSandbox(async ({ command, empty, cacheDir }) => {
    const first = await runToEnd([...command(), ...PROMPT]);
    expect(first).toMatchObject({ code: 0, out: expect.stringMatching(ANSWER) });
    expect(readdirSync(cacheDir)).toEqual([expect.stringMatching(/^lib-[0-9a-f]{16}$/)]);
    const before = await inventory(cacheDir);
    const second = await runToEnd([...command(), ...PROMPT]);
    expect(second).toMatchObject({ code: 0, out: first.out });
    expect(await inventory(cacheDir)).toEqual(before);
    expect(readdirSync(empty)).toEqual([]);
  }));

const setpriv = process.getuid?.() === 0 ? Bun.which("setpriv") : null;
if (setpriv === null) console.log("a user without a name is not tried: root and setpriv are needed");
test.skipIf(setpriv === null)("a user without a password entry, as in containers, gets an answer", () =>
  withSandbox(async ({ root, cacheDir }) => {
    const uid = 54_321;
    mkdirSync(cacheDir);
    for (const folder of [root, cacheDir]) chownSync(folder, uid, uid);
    const as = ["setpriv", `--reuid=${uid}`, `--regid=${uid}`, "--clear-groups", "env", "-i"];
    const folders = ["--cache-dir", cacheDir, "--data-dir", join(root, "data")];
    const run = await runToEnd([...as, binaryIn(root), ...folders, ...PROMPT]);
    expect(run).toMatchObject({ code: 0, out: expect.stringMatching(ANSWER), err: "" });
  }),
);

test("three first starts at the same time all answer, and leave one folder", () =>
  withSandbox(async ({ command, cacheDir }) => {
    const runs = await Promise.all([1, 2, 3].map(() => runToEnd([...command(), ...PROMPT])));
    for (const run of runs) expect(run).toMatchObject({ code: 0, out: expect.stringMatching(ANSWER) });
    expect(readdirSync(cacheDir)).toHaveLength(1);
  }));

test("a truncated library is replaced at the next start", () =>
  withSandbox(async ({ command, cacheDir }) => {
    await runToEnd([...command(), ...PROMPT]);
    const [folder = ""] = readdirSync(cacheDir);
    const library = readdirSync(join(cacheDir, folder)).find((name) => name.startsWith("libsvc_llama")) ?? "";
    truncateSync(join(cacheDir, folder, library), 1000);
    const again = await runToEnd([...command(), ...PROMPT]);
    expect(again).toMatchObject({ code: 0, out: expect.stringMatching(ANSWER) });
    expect(readdirSync(cacheDir)).toEqual([folder]);
  }));

test("a cache folder that is emptied under a running server is filled again by the next engine", () =>
  withSandbox(({ command, cacheDir }) =>
    withServer(
      ["--threads", "1"],
      async (server) => {
        for (const name of readdirSync(cacheDir)) rmSync(join(cacheDir, name), { recursive: true });
        process.kill(server.enginePid(), "SIGKILL");
        const question = { messages: [{ role: "user", content: "What is the capital of France?" }], temperature: 0 };
        const answer = await streamChat(server.url, question);
        expect(answer).toMatchObject({ status: 200, done: true, text: expect.stringMatching(ANSWER) });
        expect(readdirSync(cacheDir)).toHaveLength(1);
      },
      command(),
    ),
  ));

test("a cache folder that is not writable is replaced by a temporary one, with a message to the operator", () =>
  withSandbox(async ({ command, root }) => {
    writeFileSync(join(root, "file"), "");
    mkdirSync(join(root, "tmp"));
    const cacheDir = join(root, "file/cache");
    const run = await runToEnd([...command({ cacheDir, variables: [`TMPDIR=${join(root, "tmp")}`] }), ...PROMPT]);
    expect(run).toMatchObject({ code: 0, out: expect.stringMatching(ANSWER) });
    expect(run.err).toContain(cacheDir);
    expect(run.err).toContain(join(root, "tmp"));
  }));

test("when nothing can be written anywhere, the error names --cache-dir", () =>
  withSandbox(async ({ command, root }) => {
    writeFileSync(join(root, "file"), "");
    const nowhere = join(root, "file/cache");
    const run = await runToEnd([...command({ cacheDir: nowhere, variables: [`TMPDIR=${nowhere}`] }), ...PROMPT]);
    expect(run.code).toBe(1);
    expect(run.out).toBe("");
    expect(run.err.trim().split("\n")).toHaveLength(1);
    expect(run.err).toContain("--cache-dir");
  }));

test("files in the working directory change nothing", () =>
  withSandbox(async ({ command, empty }) => {
    writeFileSync(join(empty, ".env"), "SVC_MAX_TOKENS=nonsense\n");
    writeFileSync(join(empty, "bunfig.toml"), 'preload = ["./intruder.ts"]\n');
    writeFileSync(join(empty, "intruder.ts"), 'console.log("intruder");');
    writeFileSync(join(empty, "libggml-cpu-x64.so"), "not a library");
    const run = await runToEnd([...command(), ...PROMPT]);
    expect(run.out).not.toContain("intruder");
    expect(run).toMatchObject({ code: 0, out: expect.stringMatching(ANSWER), err: "" });
  }));

test(
  "the binary's self-test tries all that is inside without the options and data of the user, and a model given too",
  () =>
    withSandbox(async ({ command, root }) => {
      const modelsDir = join(root, "own-models");
      mkdirSync(join(modelsDir, "tessdata"), { recursive: true });
      writeFileSync(join(modelsDir, "tessdata/eng.traineddata"), "damaged");
      const whisper = ["--alias", "whisper-base", "--transcription-model", join(root, "own.bin")];
      const options = ["--threads", "1", "--model", MODEL, ...whisper, "--models-dir", modelsDir];
      const { code, out, err } = await runToEnd([...command(), ...options, "self-test"]);
      const lines = out.trimEnd().split("\n");
      // A build without pip lacks some models, as the build says.
      const others = lines.filter((line) => !line.startsWith("ok    ") && !line.endsWith(": not in this build"));
      expect([code, err, others, lines.length]).toEqual([0, "", [], 17]);
      expect(lines.filter((line) => line.startsWith("ok    model: "))).toHaveLength(2);
      for (const route of ["cancel", "embeddings", "speech", "transcriptions", "ocr", "images"])
        expect(out).toContain(`/${route}`);
    }),
  120_000,
);
