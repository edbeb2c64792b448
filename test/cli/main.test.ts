// How the program ends with an error that only a fault of its own, or of the machine, brings about.

import { expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { sharedFolder } from "../support/folders.ts";
import { runToEnd } from "../support/program.ts";

setDefaultTimeout(60_000);

const ROOT = join(import.meta.dir, "../..");
const home = sharedFolder();

/** Runs svc with one function of a module below the project's folder replaced. */
function withBroken([module, name, body]: readonly [string, string, string], ...args: string[]) {
  const [path, preload] = [JSON.stringify(join(ROOT, module)), join(home, "broken.ts")];
  const replaced = `{ ...(await import(${path})), ${name}() { ${body} } }`;
  writeFileSync(preload, `import { mock } from "bun:test"; const all = ${replaced}; mock.module(${path}, () => all);`);
  return runToEnd([process.execPath, "--preload", preload, join(ROOT, "src/main.ts"), ...args], {
    env: { HOME: home },
  });
}

test("an unforeseen error is one line, and has a stack only with --log-level debug", async () => {
  const thrown = 'setInterval(() => {}, 1000); throw new TypeError("this is broken\\n  in two places");';
  const broken = ["src/cli/list.ts", "listStored", thrown] as const;
  const err = "svc: this is broken in two places\n";
  expect(await withBroken(broken, "list")).toMatchObject({ code: 1, err });
  expect(await withBroken(broken, "list", "--log-level", "debug")).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^svc: TypeError: this is broken[^]*\n +at .*main\.ts/),
  });
});

test("a cache folder that cannot be used is told without a stack", async () => {
  const broken = ["ffi/runtime/native-files.ts", "nativeFiles", 'throw new Error("No folder is writable.");'] as const;
  const run = await withBroken(broken, "self-test", "--log-level", "debug");
  expect(run).toMatchObject({ code: 1, err: "svc: No folder is writable.\n" });
});
