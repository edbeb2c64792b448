// --slot-save-path with real models, through running servers: what llama-server's clients do with slots.
// `slots.long.test.ts` does the same with other layouts and models.

import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runSvc } from "../support/program.ts";
import { act, complete, FLAGS, france, germany, slotsRig, slotTests } from "./slots-rig.ts";

setDefaultTimeout(240_000);

const rig = slotsRig();
const { root, serve } = rig;

describe("paged", () => slotTests(rig, "paged"));

describe("a file that cannot be restored", () => {
  test("is refused by name, and the server goes on", async () => {
    const folder = join(root, "paged");
    const server = await serve(["--kv-mode", "paged", "--slot-save-path", folder]);
    const good = readFileSync(join(folder, "paris.bin"));
    const put = (name: string, bytes: Uint8Array) => writeFileSync(join(folder, name), bytes);
    put("header.bin", good.with(100, (good.at(100) ?? 0) ^ 1));
    put("state.bin", good.with(good.length - 20, (good.at(-20) ?? 0) ^ 1));
    put("cut.bin", good.subarray(0, good.length / 2));
    put("empty.bin", new Uint8Array());
    put("zeros.bin", new Uint8Array(5000));
    const unified = await serve(["--kv-mode", "unified", "--slot-save-path", folder]);
    await complete(unified, france, { id_slot: 0, n_predict: 1 });
    await act(unified, 0, "save", "layout.bin");
    await unified.stop();
    const names = ["header", "state", "cut", "empty", "zeros", "layout", "missing"];
    for (const name of names) {
      const { status, json } = await act(server, 0, "restore", `${name}.bin`);
      expect([name, status, json.error.param]).toEqual([name, 400, "filename"]);
    }
    const { status } = await act(server, 0, "restore", "paris.bin");
    expect(status).toBe(200);
    expect((await complete(server, france)).cached).toBeGreaterThan(20);
    expect((await server.health()).engine.restarts).toBe(0);
    await server.stop();
  });
});

test("where the folder cannot be written, nothing is left there", async () => {
  const folder = join(root, "locked");
  const server = await serve(["--slot-save-path", folder]);
  await complete(server, france, { id_slot: 0 });
  rmSync(folder, { recursive: true });
  expect((await act(server, 0, "save", "a.bin")).status).toBe(503);
  writeFileSync(folder, "");
  expect((await act(server, 0, "restore", "a.bin")).status).toBe(503);
  expect((await complete(server, france, { id_slot: 0 })).cached).toBeGreaterThan(20);
  await server.stop();
});

test("saving and restoring beside running requests changes no answer", async () => {
  const folder = join(root, "busy");
  const server = await serve(["--slot-save-path", folder]);
  const fields = { n_predict: 60, id_slot: 1 };
  const alone = await complete(server, france, fields);
  await act(server, 1, "save", "x");
  const running = Promise.all(
    Array.from({ length: 6 }, (_, at) => complete(server, at % 2 ? france : germany, { ...fields, id_slot: at % 2 })),
  );
  const actions = Array.from({ length: 12 }, (_, at) =>
    act(server, at % 2, ["save", "restore", "erase"][at % 3] ?? "", "x"),
  );
  const statuses = (await Promise.all(actions)).map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([200]));
  const texts = (await running).filter((_, at) => at % 2).map(({ text }) => text);
  expect(new Set(texts)).toEqual(new Set([alone.text]));
  expect(readdirSync(folder)).toEqual(["x"]);
  await server.stop();
});

test("a folder that others can look into is refused at start, and so is a server without a prefix cache", async () => {
  const refused = async (...args: string[]) => {
    const { code, err } = await runSvc([...FLAGS, "--port", "0", ...args]);
    return [code, err];
  };
  const open = mkdtempSync(join(root, "open-"));
  chmodSync(open, 0o755);
  expect(await refused("--slot-save-path", open)).toEqual([1, expect.stringContaining("is open to other users")]);
  const cacheless = await refused("--slot-save-path", join(root, "none"), "--no-prefix-cache");
  expect(cacheless).toEqual([2, expect.stringContaining("exclude each other")]);
});
