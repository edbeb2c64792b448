// --kv-dir with the embedded model, through running servers: a conversation goes on after a restart, as if nothing had been.
// `kv-dir.long.test.ts` does the same with other layouts, models and adapters.

import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runSvc } from "../support/program.ts";
import { conversationTests, FLAGS, kvDirRig } from "./kv-dir-rig.ts";

setDefaultTimeout(240_000);

const rig = kvDirRig();
const UNIFIED = ["--kv-mode", "unified"];

describe("unified: a conversation", () => conversationTests(rig, "unified", UNIFIED));

describe("at start", () => {
  const refused = (...args: readonly string[]) => runSvc([...FLAGS, "--port", "0", ...args]);

  test("a folder that others can look into is refused, and so is what is no folder", async () => {
    const open = mkdtempSync(join(rig.root, "open-"));
    chmodSync(open, 0o755);
    expect(await refused("--kv-dir", open)).toMatchObject({
      code: 1,
      err: expect.stringContaining("is open to other users (mode 755)"),
    });
    const file = join(rig.root, "file");
    writeFileSync(file, "");
    expect(await refused("--kv-dir", file)).toMatchObject({
      code: 1,
      err: expect.stringContaining("cannot be used (EEXIST)"),
    });
  });

  test("options that leave it nothing to do are refused", async () => {
    const folder = join(rig.root, "unused");
    expect(await refused("--kv-dir", folder, "--cache-ram", "0")).toMatchObject({ code: 2 });
    expect(await refused("--kv-dir", folder, "--no-prefix-cache")).toMatchObject({ code: 2 });
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
