// The same as slots.test.ts with the other layouts, contexts of two lengths, and a model whose state cannot be cut.

import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { makeRecurrentModel } from "../models/make-recurrent-model.ts";
import { act, complete, slotsRig, slotTests } from "./slots-rig.ts";

setDefaultTimeout(240_000);

const rig = slotsRig();
const { root, serve } = rig;

describe.each(["unified", "streams"])("%s", (mode) => slotTests(rig, mode));

test("a file of a longer context is refused by name", async () => {
  const folder = join(root, "unified");
  const server = await serve(["--kv-mode", "unified", "--ctx", "512", "--slot-save-path", folder]);
  expect((await act(server, 0, "restore", "paris.bin")).status).toBe(200);
  await server.stop();
  const long = await serve(["--kv-mode", "unified", "--slot-save-path", folder]);
  await complete(long, "a b c d e f g h ".repeat(80), { id_slot: 0, n_predict: 1 });
  const { json: saved } = await act(long, 0, "save", "long.bin");
  await long.stop();
  const short = await serve(["--kv-mode", "unified", "--ctx", "512", "--slot-save-path", folder]);
  const { status, json } = await act(short, 0, "restore", "long.bin");
  expect([status, json.error.message]).toEqual([
    400,
    `'filename': the file holds ${saved.n_saved} tokens; the context has room for 512.`,
  ]);
  await short.stop();
});

test("a model whose state cannot be cut goes on with a whole conversation", async () => {
  const model = makeRecurrentModel(join(import.meta.dir, "../../vendor/.build/models"));
  const args = ["--model", model, "--slot-save-path", join(root, "recurrent")];
  const said = "a b c d e f g h ".repeat(8).trim();
  const first = await serve(args);
  // The one token is sampled and never computed: what is kept ends with the prompt.
  const { computed } = await complete(first, said, { id_slot: 0, n_predict: 1 });
  expect((await act(first, 0, "save", "a.bin")).json.n_saved).toBe(computed);
  const cold = await complete(first, `${said} x y z`, { cache_prompt: false });
  await first.stop();
  const second = await serve(args);
  expect((await act(second, 1, "restore", "a.bin")).json.n_restored).toBe(computed);
  expect((await complete(second, said.slice(0, -8))).cached).toBe(0);
  const after = await complete(second, `${said} x y z`);
  expect([after.text, after.cached]).toEqual([cold.text, computed]);
  await second.stop();
});
