// POST /slots/{id_slot}: answers in the form of llama-server, refusals, and the slot that a request names.

import { describe, expect, test } from "bun:test";
import { checker } from "../../src/contract/schema.ts";
import { SlotAnswer } from "../../src/contract/slots.ts";
import { SvcError } from "../../src/domain/errors.ts";
import { expectGolden } from "../http/golden.ts";
import { hello, messages, serve } from "../http/harness.ts";
import { until } from "../support/until.ts";
import { id } from "./asking.ts";

const check = checker(SlotAnswer);
const withSlots = () => serve(hello, { slotSavePath: "/slots" });

async function refused(response: Promise<Response>) {
  const { status, json } = await response.then(async (one) => ({ status: one.status, json: await one.json() }));
  const { error } = json as { error: { code: string; param: string | null; message: string } };
  return [status, error.code, error.param] as const;
}

test("save, restore and erase answer as llama-server does", async () => {
  const server = withSlots();
  let answers = "";
  for (const [action, body] of [
    ["save", { filename: "paris.bin" }],
    ["restore", { filename: "paris.bin" }],
    ["erase", {}],
  ] as const) {
    const response = await server.post(`/slots/3?action=${action}`, body, id);
    const text = await response.text();
    check(JSON.parse(text));
    answers += `${text}\n`;
  }
  expect(server.engine.slotActions).toEqual([
    { type: "save", slot: 3, filename: "paris.bin" },
    { type: "restore", slot: 3, filename: "paris.bin" },
    { type: "erase", slot: 3 },
  ]);
  await expectGolden("llama-slots.jsonl", answers);
});

test("erase needs no body", async () => {
  const server = withSlots();
  const response = await fetch(`${server.url}/slots/0?action=erase`, { method: "POST" });
  expect([response.status, await response.json()]).toEqual([200, { id_slot: 0, n_erased: 84 }]);
});

test("fail_on_no_slot requests 503 while all slots are computing", async () => {
  const gate = Promise.withResolvers<void>();
  const server = serve({ steps: [{ wait: gate.promise }] });
  const free = () => fetch(`${server.url}/slots?fail_on_no_slot=1`);
  const asked = [1, 2, 3].map(() => server.chat({}));
  await until(() => server.engine.live === 3);
  expect((await free()).status).toBe(200);
  asked.push(server.chat({}));
  await until(() => server.engine.live === 4);
  const refusal = await free();
  expect(refusal.headers.get("retry-after")).toBe("1");
  expect(await refused(Promise.resolve(refusal))).toEqual([503, "server_busy", null]);
  expect((await fetch(`${server.url}/slots`)).status).toBe(200);
  gate.resolve();
  await Promise.all(asked);
});

describe("refused", () => {
  test("is every action without a slot folder, before anything else is checked", async () => {
    const { post } = serve(hello);
    expect(await refused(post("/slots/x?action=save", {}))).toEqual([501, "mode_unavailable", null]);
  });

  test.each([
    ["/slots/x?action=save", "id_slot"],
    ["/slots/-1?action=save", "id_slot"],
    ["/slots/1.5?action=save", "id_slot"],
    ["/slots/%ff?action=save", "id_slot"],
    ["/slots/99999999999?action=save", "id_slot"],
    ["/slots/1", "action"],
    ["/slots/1?action=", "action"],
    ["/slots/1?action=toString", "action"],
  ])("is %s", async (path, param) => {
    const { post, engine } = withSlots();
    expect(await refused(post(path, { filename: "a" }))).toEqual([400, "invalid_value", param]);
    expect(engine.slotActions).toEqual([]);
  });

  test.each([
    [{}, "missing_required_parameter"],
    [{ filename: null }, "missing_required_parameter"],
    [{ filename: 5 }, "invalid_type"],
    ...[
      "",
      ".",
      "..",
      ".hidden",
      "../a",
      "a/b",
      "/etc/passwd",
      "a\\b",
      "a\u0000b",
      "a\nb",
      "C:a",
      "a*",
      " a",
      "a ",
      "a.",
    ].map((filename) => [{ filename }, "invalid_value"] as const),
    [{ filename: "ä".repeat(128) }, "invalid_value"],
    [{ filename: "a\ud800" }, "invalid_value"],
  ])("is the name in %j, without repeating it", async (body, code) => {
    const { post, engine } = withSlots();
    for (const action of ["save", "restore"]) {
      expect(await refused(post(`/slots/1?action=${action}`, body))).toEqual([400, code, "filename"]);
    }
    expect(engine.slotActions).toEqual([]);
  });

  test.each(["paris.bin", "a", "ü 1 (2).kv", "a..b", "ä".repeat(127)])("is not the valid name %s", async (filename) => {
    expect((await withSlots().post("/slots/1?action=save", { filename })).status).toBe(200);
  });

  test.each([
    ["invalid_value", 400],
    ["storage_full", 507],
    ["storage_unavailable", 503],
    ["engine_crashed", 500],
  ] as const)("is what the engine refuses with %s", async (code, status) => {
    const server = withSlots();
    server.engine.slotOutcome = () => {
      throw new SvcError(code, "It does not work.", { param: "filename" });
    };
    expect(await refused(server.post("/slots/1?action=restore", { filename: "a" }))).toEqual([
      status,
      code,
      "filename",
    ]);
  });

  test("are more actions than may wait, until others end", async () => {
    const server = withSlots();
    const gate = Promise.withResolvers<void>();
    const { slotOutcome } = server.engine;
    server.engine.slotOutcome = async (action) => {
      await gate.promise;
      return slotOutcome(action);
    };
    const statuses: number[] = [];
    const ask = async () => void statuses.push((await server.post("/slots/0?action=erase", {})).status);
    const first = Promise.all(Array.from({ length: 40 }, ask));
    await until(() => statuses.length === 8);
    expect(new Set(statuses)).toEqual(new Set([503]));
    gate.resolve();
    await first;
    await ask();
    expect(statuses.slice(8)).toEqual(Array.from({ length: 33 }, () => 200));
  });
});

describe("the slot of a request", () => {
  const routes: readonly (readonly [path: string, body: object])[] = [
    ["/completion", { prompt: "a" }],
    ["/infill", { input_prefix: "a", input_suffix: "b" }],
    ["/v1/completions", { prompt: "a" }],
    ["/v1/chat/completions", { messages }],
  ];
  test.each(routes)("is its id_slot on %s; null and -1 mean no slot", async (path, body) => {
    const { post, engine } = withSlots();
    for (const slot of [undefined, null, -1, 0, 7]) await post(path, { ...body, id_slot: slot });
    expect(engine.requests.map(({ slot }) => slot)).toEqual([undefined, undefined, undefined, 0, 7]);
    expect(await refused(post(path, { ...body, id_slot: -2 }))).toEqual([400, "invalid_value", "id_slot"]);
  });
});
