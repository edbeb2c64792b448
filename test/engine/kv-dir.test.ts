// --kv-dir with the embedded model, through running servers: a conversation goes on after a restart, as if nothing had been.
// `kv-dir.long.test.ts` does the same with other layouts, models and adapters.

import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FROM_SOURCE } from "../support/server.ts";
import { conversationTests, FLAGS, kvDirRig } from "./kv-dir-rig.ts";

setDefaultTimeout(240_000);

const rig = kvDirRig();
const UNIFIED = ["--kv-mode", "unified"];

describe("unified: a conversation", () => conversationTests(rig, "unified", UNIFIED));

describe("at start", () => {
  const refused = async (args: readonly string[]) => {
    const child = Bun.spawn([...FROM_SOURCE, ...FLAGS, "--port", "0", ...args], { stdin: "ignore", stderr: "pipe" });
    return { status: await child.exited, said: await child.stderr.text() };
  };

  test("a folder that others can look into is refused, and so is what is no folder", async () => {
    const open = mkdtempSync(join(rig.root, "open-"));
    chmodSync(open, 0o755);
    const { status, said } = await refused(["--kv-dir", open]);
    expect([status, said]).toEqual([1, expect.stringContaining("is open to other users (mode 755)")]);
    const file = join(rig.root, "file");
    writeFileSync(file, "");
    expect(await refused(["--kv-dir", file])).toEqual({
      status: 1,
      said: expect.stringContaining("cannot be used (EEXIST)"),
    });
  });

  test("options that leave it nothing to do are refused", async () => {
    const folder = join(rig.root, "unused");
    expect(await refused(["--kv-dir", folder, "--cache-ram", "0"])).toMatchObject({ status: 2 });
    expect(await refused(["--kv-dir", folder, "--no-prefix-cache"])).toMatchObject({ status: 2 });
  });

  test("the log tells what was found, and nothing of what was said", async () => {
    const folder = join(rig.root, "unified");
    const server = await rig.serve([...FLAGS, "--kv-dir", folder, ...UNIFIED]);
    await fetch(`${server.url}/health`);
    const said = await server.kill();
    expect(said).toMatch(/conversations on disk.*conversations=\d+.*tokens=\d+.*damaged=\d+/);
    expect(said).not.toContain("Ada");
  });
});
