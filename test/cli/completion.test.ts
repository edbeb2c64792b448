// Completion scripts, in the shells that are installed.

import { describe, expect, test } from "bun:test";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { completion } from "../../src/cli/completion.ts";
import { temporaryFolder } from "../support/folders.ts";
import { runToEnd } from "../support/program.ts";

/** Stands in for svc and prints what was downloaded. */
const LIST = "svc() { printf 'NAME              SIZE\\nmaker/tiny:Q8_0   1 GB\\nmine/other:Q4_0   1 GB\\n'; }";

const whole = (word: string) => [word];
/** Splits a word as bash does, except bash 3.2. */
const parted = (word: string) => (word === "" ? [word] : word.split(/([:=]+)/).filter((part) => part !== ""));

/** Returns bash's completions for these words; the cursor is at the last one, which may be empty. */
async function completed(words: readonly string[], split = parted, first = ""): Promise<string[]> {
  const folder = temporaryFolder();
  await Bun.write(join(folder, "model.gguf"), "");
  await Bun.write(join(folder, "notes.txt"), "");
  await Bun.write(join(folder, "a model.gguf"), "");
  const parts = words.flatMap(split);
  const quoted = ["svc", ...parts].map((part) => `'${part}'`).join(" ");
  const script = `${LIST}\n${first}\n${completion("bash")}\nCOMP_WORDS=(${quoted}) COMP_CWORD=${parts.length}\n_svc\nprintf '%s\\n' "\${COMPREPLY[@]}"`;
  const { out, err } = await runToEnd(["bash", "-c", script], { cwd: folder });
  expect(err).toBe("");
  return out.trim().split("\n").toSorted();
}

test("the name of a shell that was probably meant is suggested", () => {
  expect(() => completion("bsh")).toThrow('svc completion knows bash, zsh and fish, not "bsh". Did you mean bash?');
  expect(() => completion("BASH")).toThrow("Did you mean bash?");
  expect(() => completion("tcsh-6")).toThrow(/not "tcsh-6"\.$/);
});

describe.each([
  ["bash", parted],
  ["bash 3.2", whole],
])("%s completes", (_, split) => {
  test.each([
    [["--max-q"], ["--max-queue", "--max-queue-tokens"]],
    [["--no-mm"], ["--no-mmap"]],
    [
      ["--kv-mode", ""],
      ["auto", "paged", "streams", "unified"],
    ],
    [["--model", "mo"], ["model.gguf"]],
    [["se"], ["self-test", "serve"]],
    [["mo"], ["model.gguf", "models"]],
    [["wait", "--time"], ["--timeout"]],
    [["draw", "--si"], ["--size"]],
    [["transcribe", "no"], ["notes.txt"]],
    [["transcribe", "a m"], ["a model.gguf"]],
    [
      ["transcribe", ""],
      ["a model.gguf", "model.gguf", "notes.txt"],
    ],
    [["--model", "a m"], ["a model.gguf"]],
    [["-o", "a m"], ["a model.gguf"]],
    [["--tls-cert", "a m"], ["a model.gguf"]],
    [["a m"], ["a model.gguf"]],
    [["serve", "a m"], ["a model.gguf"]],
    [["a.gguf", "a m"], ["a model.gguf"]],
    [["--port", ""], [""]],
    [["-p", ""], [""]],
    [["-"], expect.arrayContaining(["-m", "-p", "-h", "--port"])],
    [
      ["launch", ""],
      ["aider", "claude", "codex", "opencode"],
    ],
    [["completion", "z"], ["zsh"]],
    [["wait", ""], [""]],
    [["rm", "mak"], ["maker/tiny:Q8_0"]],
    [["rm", "maker/tiny:"], ["Q8_0"]],
    [["rm", "maker/tiny:Q"], ["Q8_0"]],
    [["-m", "mine/other:Q"], ["Q4_0"]],
    [["--model=maker/tiny:Q"], ["Q8_0"]],
    [["--model=mo"], ["model.gguf"]],
    [["--kv-mode=pa"], ["paged"]],
    [["--kv-mode="], ["auto", "paged", "streams", "unified"]],
    [["--port="], [""]],
    [["mo:"], ["a model.gguf", "model.gguf", "notes.txt"]],
    [
      ["-m", "m"],
      ["maker/tiny:Q8_0", "mine/other:Q4_0", "model.gguf"],
    ],
  ])("%j", async (words, expected) => {
    expect(await completed(words, split)).toEqual(expected);
  });
});

test("bash completes a whole name where : is no break", async () => {
  expect(await completed(["rm", "maker/tiny:Q"], whole, "COMP_WORDBREAKS=' ='")).toEqual(["maker/tiny:Q8_0"]);
});

const hasZsh = Bun.which("zsh") !== null;
test.skipIf(!hasZsh).each(["_arguments", "compdef"])("zsh: %s comes first, autoloaded or sourced", async (first) => {
  const folder = temporaryFolder();
  await Bun.write(join(folder, "_svc"), completion("zsh"));
  // The file of a package is autoloaded and must complete at its first call.
  const begin = first === "compdef" ? "source ./_svc" : "fpath=(.); autoload -U _svc; words=(svc launch); _svc";
  const script = `_arguments() { print _arguments; print -r -- "$@" }; compdef() { print compdef }; ${begin}`;
  const { out, err } = await runToEnd(["zsh", "-fc", script], { cwd: folder });
  expect([out.split("\n")[0], err]).toEqual([first, ""]);
  expect(out.includes("*:operand:(codex claude opencode aider)")).toBe(first === "_arguments");
});

test.skipIf(Bun.which("fish") === null).each([
  ["svc launch ", ["aider", "claude", "codex", "opencode"]],
  ["svc rm mak", ["maker/tiny:Q8_0"]],
  ["svc -m mine", ["mine/other:Q4_0"]],
  ["svc wait ", []],
])("fish completes %j", async (line, expected) => {
  const folder = temporaryFolder();
  await Bun.write(join(folder, "svc"), `#!/bin/sh\n${LIST}\nsvc\n`);
  chmodSync(join(folder, "svc"), 0o755);
  await Bun.write(join(folder, "svc.fish"), completion("fish"));
  const script = `source svc.fish; complete -C ${JSON.stringify(line)}`;
  const env = { ...process.env, HOME: folder, PATH: `${folder}:${process.env["PATH"]}` };
  const { out, err } = await runToEnd(["fish", "-c", script], { cwd: folder, env });
  expect(err).toBe("");
  const names = out.split("\n").map((one) => one.split("\t")[0] ?? "");
  expect(names.filter((name) => name !== "").toSorted()).toEqual(expected);
});

for (const shell of ["zsh", "fish"]) {
  const isThere = Bun.which(shell) !== null;
  if (!isThere) console.log(`The completion of ${shell} is not checked: ${shell} is not installed`);
  test.skipIf(!isThere)(`${shell} reads its script`, async () => {
    const path = join(temporaryFolder(), "completion");
    await Bun.write(path, completion(shell));
    expect(await runToEnd([shell, "-n", path])).toMatchObject({ code: 0, err: "" });
  });
}

test("other shells are refused", () => {
  expect(() => completion("tcsh")).toThrow("bash, zsh and fish");
  expect(() => completion("toString")).toThrow("bash, zsh and fish");
});
