// `svc self-test`: what it tries, and what it says of that. test/e2e/unpacking.test.ts runs all of it.

import { expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sharedFolder } from "../support/folders.ts";
import { ownEnvironment } from "../support/own-environment.ts";
import { runToEnd } from "../support/program.ts";

setDefaultTimeout(120_000);

const MODEL = join(import.meta.dir, "../../vendor/svc-mini/svc-mini-q8_0.gguf");
const home = sharedFolder();

/** Runs the command from source. */
const selfTest = (...options: string[]) =>
  runToEnd([process.execPath, join(import.meta.dir, "../../src/main.ts"), "self-test", ...options], {
    env: ownEnvironment({ HOME: home }),
  });

test("self-test --chats tries svc-mini alone, with --no-model too", async () => {
  const { code, out } = await selfTest("--no-model", "--chats");
  expect(out).toStartWith("ok    model: svc-mini on ");
  expect(out.match(/^ok /gm)).toHaveLength(6);
  expect([out.split("\n").length, code]).toEqual([7, 0]);
});

test("self-test counts a model that does not load once", async () => {
  const file = join(home, "nameless.gguf");
  const bytes = readFileSync(MODEL);
  bytes.write("output_norx", bytes.indexOf("output_norm.weight"));
  writeFileSync(file, bytes);
  const { code, out, err } = await selfTest("--model", file, "--chats");
  expect(out.match(/^FAIL .*$/gm)).toEqual([expect.stringContaining("FAIL  model: ")]);
  expect(out).toContain("skip  GET /health: the model did not load\n");
  expect([code, err.trim().split("\n").at(-1)]).toEqual([1, "svc: 1 check failed."]);
});
