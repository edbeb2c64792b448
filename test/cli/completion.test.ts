// Completion scripts, in the shells that are installed.

import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { completion } from "../../src/cli/completion.ts";
import { temporaryFolder } from "../http/harness.ts";

/** What bash completes where these words are typed; an empty one is where the cursor is. */
async function completed(...words: string[]): Promise<string[]> {
  const folder = temporaryFolder();
  await Bun.write(join(folder, "model.gguf"), "");
  await Bun.write(join(folder, "notes.txt"), "");
  const quoted = ["svc", ...words].map((word) => `'${word}'`).join(" ");
  const script = `${completion("bash")}\nCOMP_WORDS=(${quoted}) COMP_CWORD=${words.length}\n_svc\nprintf '%s\\n' "\${COMPREPLY[@]}"`;
  const run = Bun.spawn(["bash", "-c", script], { cwd: folder, stdout: "pipe", stderr: "pipe" });
  const [out, err] = await Promise.all([run.stdout.text(), run.stderr.text()]);
  expect(err).toBe("");
  return out.trim().split("\n").toSorted();
}

describe("bash completes", () => {
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
    [["--port", ""], [""]],
  ])("%j", async (words, expected) => {
    expect(await completed(...words)).toEqual(expected);
  });
});

for (const shell of ["zsh", "fish"]) {
  const isThere = Bun.which(shell) !== null;
  if (!isThere) console.log(`The completion of ${shell} is not checked: ${shell} is not installed`);
  test.skipIf(!isThere)(`${shell} reads its script`, async () => {
    const path = join(temporaryFolder(), "completion");
    await Bun.write(path, completion(shell));
    const run = Bun.spawn([shell, "-n", path], { stderr: "pipe" });
    expect([await run.stderr.text(), await run.exited]).toEqual(["", 0]);
  });
}

test("other shells are refused", () => {
  expect(() => completion("tcsh")).toThrow("bash, zsh and fish");
  expect(() => completion("toString")).toThrow("bash, zsh and fish");
});
