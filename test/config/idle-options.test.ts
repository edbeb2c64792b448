import { beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArguments } from "../../src/cli/arguments.ts";
import { idleOptions } from "../../src/config/idle-options.ts";
import { readLayers } from "../../src/config/read-config.ts";
import { resolveConfig } from "../../src/config/resolve.ts";
import { sharedFolder } from "../support/folders.ts";

const home = sharedFolder();
const file = join(home, "svc.toml");
beforeAll(() => writeFileSync(file, 'mmproj = "p.gguf"\nimage-lora = []\n'));

function notesFor(args: readonly string[]): string[] {
  const layers = readLayers(parseArguments(args).values, { HOME: home }, home);
  return idleOptions(layers, resolveConfig(layers, { HOME: home }));
}

test.each([
  ["--instructions text", "without a prompt (-s)", undefined],
  ["--gateway-port 8000", "without --gateway", "--gateway"],
  [`--piper-voices ${home}`, "with --no-host-voices", "--host-voices"],
  ["--image-vae vae", "without --image-model", "--image-model flux"],
  ["--image-text-encoder t5", "without --image-model", "--image-model flux"],
  ["--image-taesd taesd", "without --image-model", "--image-model flux"],
  ["--image-lora a=a.safetensors", "without --image-model", "--image-model flux"],
  ["--mmproj p.gguf", "with --no-model", "--model m.gguf"],
  ["--draft d.gguf", "with --no-model", "--model m.gguf"],
  ["--alias mine", "with --no-model", "--model m.gguf"],
  ["--kv-dir kv", "with --no-model", "--model m.gguf"],
  ["--slot-save-path slots", "with --no-model", "--model m.gguf"],
  ["--trace-file trace.json", "with --no-model", "--model m.gguf"],
  ["--chat-template chatml", "with --no-model", "--model m.gguf"],
])("a server reports that %s has no effect %s", (given, circumstance, remedy) => {
  const sentence = `${given.replace(/ .*/, "")} has no effect ${circumstance}.`;
  const cause = circumstance.startsWith("with --") ? [circumstance.slice("with ".length)] : [];
  expect(notesFor(["serve", ...given.split(" "), ...cause])).toEqual([sentence]);
  if (remedy !== undefined) expect(notesFor(["serve", ...given.split(" "), ...remedy.split(" ")])).toEqual([]);
});

test("a server reports a prompt of the environment, which it does not answer", () => {
  const layers = readLayers(new Map(), { HOME: home, SVC_PROMPT: "Hi" }, home);
  expect(idleOptions(layers, resolveConfig(layers, {}))).toEqual(["--prompt has no effect on a server."]);
});

test("a server reports a key without its upstream, and does not show the key", () => {
  const given = ["serve", "--upstream", "gpu=http://10.0.0.1", "--upstream-key", "gqu=hunter2"];
  expect(notesFor(given)).toEqual(['--upstream-key for "gqu" has no effect: no upstream has that name.']);
  expect(notesFor([...given.slice(0, -1), "gpu=hunter2"])).toEqual([]);
});

test("options of a config file are reported too, and empty lists are not", () => {
  expect(notesFor(["serve", "--config", file, "--no-model"])).toEqual(["--mmproj has no effect with --no-model."]);
  writeFileSync(file, 'model = "m.gguf"\nlora = ["l.gguf"]\nworker = ["10.0.0.2"]\n');
  expect(notesFor(["serve", "--config", file])).toEqual([]);
  expect(notesFor(["serve", "--config", file, "--no-model"])).toEqual(
    ["model", "lora", "worker"].map((name) => `--${name} has no effect with --no-model.`),
  );
});
