// The real program with files that crash llama.cpp while reading: it names the file, and other models continue to
// serve.

import { expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { makeEncoder } from "../models/make-encoder.ts";
import { makeVisionModel } from "../models/make-vision-model.ts";
import { isBuilt } from "../native/media-harness.ts";
import { sharedFolder } from "../support/folders.ts";
import { runSvc } from "../support/program.ts";
import { withServer } from "../support/server.ts";

setDefaultTimeout(60_000);
const folder = sharedFolder();
const { model, projector } = makeVisionModel("tiles", folder);

/** Returns a copy of a GGUF file with another value for this key. */
function damaged(path: string, key: string, value: number): string {
  const bytes = readFileSync(path);
  const at = bytes.indexOf(key);
  if (at < 0) throw new Error(`no ${key} in ${path}`);
  // The value follows the key and its type.
  bytes.writeUInt32LE(value, at + key.length + 4);
  const copy = join(folder, `damaged-${basename(path)}`);
  writeFileSync(copy, bytes);
  return copy;
}

/** Starts the program with these files, which fails, and returns its exit code and last line of output. */
async function refused(args: readonly string[]): Promise<{ code: number; said: string | undefined }> {
  const limits = ["--port", "0", "--threads", "1", "--ctx", "512", "--cache-dir", folder];
  const { code, err } = await runSvc([...args, ...limits]);
  return { code, said: err.trim().split("\n").at(-1) };
}

const crashed = (file: string) => ({
  code: 3,
  said: expect.stringMatching(
    new RegExp(
      `^svc: ${file} could not be loaded: The engine process (was killed by signal|ended with code) .* while loading`,
    ),
  ),
});

test("a draft model that crashes its reader is named instead of the main model", async () => {
  const file = damaged(model, "llama.block_count", 1000);
  expect(await refused(["--model", model, "--draft", file, "-s", "hello"])).toEqual(crashed(file));
});

test.if(isBuilt)("a projector that crashes its reader is named instead of the model", async () => {
  const file = damaged(projector, "clip.vision.image_size", 0);
  expect(await refused(["--model", model, "--mmproj", file])).toEqual(crashed(file));
});

test("other models answer while one model crashes its engine", async () => {
  const file = damaged(makeEncoder("mean", folder), "bert.pooling_type", 1000);
  await withServer(["--threads", "1", "--ctx", "512", "--embedding-model", file], async (server) => {
    const chat = { messages: [{ role: "user", content: "Hello" }], max_tokens: 8 };
    const vectors = server.post("/v1/embeddings", { input: "the sky" });
    expect((await server.post("/v1/chat/completions", chat)).status).toBe(200);
    const refusal = await vectors;
    expect(refusal.status).toBe(503);
    // Only the operator sees the path.
    expect(await refusal.text()).not.toContain(folder);
    expect((await server.post("/v1/chat/completions", chat)).status).toBe(200);
    expect(await server.health()).toMatchObject({
      engine: { state: "ready", restarts: 0 },
      engines: expect.arrayContaining([
        expect.objectContaining({ kind: "embedding", last_error: expect.stringContaining(`${file} could not be`) }),
      ]),
    });
  });
});
