// LoRA adapters with a real model, through a running server: who gets which, and that nothing of one reaches another.

import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { startServer } from "../support/server.ts";
import { A, adaptersRig, B, HALF_A, LONG, SETS, sideBySideTests, STORY } from "./adapters-rig.ts";

// Other processes may have the cores.
setDefaultTimeout(60_000);

interface Answer {
  readonly model: string;
  readonly choices: readonly { readonly message: { readonly content: string } }[];
  readonly usage: { readonly prompt_tokens_details: { readonly cached_tokens: number } };
  readonly error?: { readonly code: string; readonly param: string; readonly message: string };
}

const rig = adaptersRig();
const OFF = [{ id: 0, scale: 0 }];

const post = (path: string, body: object, server = rig.server) => server.post(path, body);

async function ask(fields: object, content = STORY, from = rig.server): Promise<Answer> {
  const messages = [{ role: "user", content }];
  const response = await post("/v1/chat/completions", { messages, temperature: 0, max_tokens: 40, ...fields }, from);
  return (await response.json()) as Answer;
}

const tell = async (fields: object, content = STORY, from = rig.server): Promise<string> =>
  (await ask(fields, content, from)).choices[0]?.message.content ?? "";

describe("choosing", () => {
  test("each set has its own answer; a name is the same as its number; scale 0 is off", async () => {
    const stories = new Map<string, string>();
    for (const [name, fields] of Object.entries(SETS)) stories.set(name, await tell(fields));
    expect(new Set(stories.values()).size).toBe(Object.keys(SETS).length);
    expect(await tell({ model: "tone" })).toBe(stories.get("A") ?? "");
    expect(await tell({ model: "style" })).toBe(stories.get("B") ?? "");
    for (const fields of [
      { lora: OFF },
      { lora: [] },
      { lora: null },
      { model: "any" },
      { model: "tone", lora: OFF },
    ]) {
      expect(await tell(fields)).toBe(stories.get("base") ?? "");
    }
  });

  test("by name in every convention, and the answer bears that name", async () => {
    const messages = [{ role: "user", content: STORY }];
    const expected = await tell({ model: "tone" });
    expect((await ask({ model: "tone" })).model).toBe("tone");
    expect((await ask({ model: "any" })).model).toBe("svc-mini");
    const calls: [string, object][] = [
      ["/v1/responses", { input: STORY, max_output_tokens: 40, temperature: 0 }],
      ["/v1/messages", { messages, max_tokens: 40, temperature: 0 }],
      ["/api/chat", { messages, stream: false, options: { num_predict: 40, temperature: 0 } }],
    ];
    for (const [path, body] of calls) {
      const answer = (await (await post(path, { ...body, model: "tone" })).json()) as { model: string };
      expect([path, answer.model]).toEqual([path, "tone"]);
      expect(JSON.stringify(answer)).toContain(JSON.stringify(expected).slice(1, -1));
    }
    const { prompt } = (await (await post("/apply-template", { messages })).json()) as { prompt: string };
    const { tokens } = (await (await post("/tokenize", { content: prompt })).json()) as { tokens: number[] };
    const texts: { model: string; choices: { text: string }[] }[] = [];
    // One by one: in a batch of another shape, a story may go another way.
    for (const fields of [{ model: "tone" }, { lora: A }, {}]) {
      const response = await post("/v1/completions", { prompt: tokens, max_tokens: 20, temperature: 0, ...fields });
      texts.push((await response.json()) as (typeof texts)[number]);
    }
    expect(texts.map(({ model }) => model)).toEqual(["tone", "svc-mini", "svc-mini"]);
    expect(texts[0]?.choices[0]?.text).toBe(texts[1]?.choices[0]?.text ?? "");
    expect(texts[0]?.choices[0]?.text).not.toBe(texts[2]?.choices[0]?.text ?? "");
  });

  test.each([
    [[{ id: 2, scale: 1 }], "lora.0.id", "invalid_value"],
    [[...A, { id: 7, scale: 1 }], "lora.1.id", "invalid_value"],
    [[...A, ...HALF_A], "lora.1.id", "invalid_value"],
    [[{ id: -1, scale: 1 }], "lora.0.id", "invalid_value"],
    [[{ id: "tone", scale: 1 }], "lora.0.id", "invalid_type"],
    [[{ id: 0 }], "lora.0.scale", "missing_required_parameter"],
    [[{ id: 0, scale: 1e9 }], "lora.0.scale", "invalid_value"],
    [{ id: 0, scale: 1 }, "lora", "invalid_type"],
    ["tone", "lora", "invalid_type"],
  ])("%j is refused by name", async (lora, param, code) => {
    expect((await ask({ lora })).error).toMatchObject({ param, code });
  });
});

test("what is offered is listed: as models, in llama.cpp's form, in Ollama's, and counted", async () => {
  const get = async (path: string) => (await fetch(rig.server.url + path)).json();
  const { data } = (await get("/v1/models")) as { data: { id: string; parent?: string; root?: string }[] };
  expect(data.slice(0, 3).map(({ id, parent, root }) => [id, parent, root])).toEqual([
    ["svc-mini", undefined, undefined],
    ["tone", "svc-mini", "svc-mini"],
    ["style", "svc-mini", "svc-mini"],
  ]);
  expect(await get("/v1/models/style")).toEqual(data[2]);
  expect(await get("/lora-adapters")).toEqual([
    { id: 0, path: expect.stringMatching(/^lora-1\.v\d+\.gguf$/), scale: 0, task_name: "task 1", prompt_prefix: "" },
    { id: 1, path: "style.gguf", scale: 0, task_name: "task 2", prompt_prefix: "" },
  ]);
  const { models } = (await get("/api/tags")) as { models: { name: string; details: { parent_model: string } }[] };
  expect(models.slice(0, 3).map(({ name, details }) => [name, details.parent_model])).toEqual([
    ["svc-mini", ""],
    ["tone", "svc-mini"],
    ["style", "svc-mini"],
  ]);
  const count = async () =>
    Number(/svc_lora_requests_total\{[^}]*lora_name="style"[^}]*\} (\d+)/.exec(await rig.server.metrics())?.[1] ?? 0);
  const before = await count();
  await ask({ lora: [...A, ...B] });
  await ask({ model: "tone" });
  expect(await count()).toBe(before + 1);
});

describe("side by side, unified", () => sideBySideTests(rig, "unified"));

describe("what is computed once", () => {
  test("what was computed with other adapters is not used, neither while it runs nor later", async () => {
    const cached = async (fields: object) =>
      (await ask(fields, `${LONG.replaceAll("dog", "cat")} ${STORY}`)).usage.prompt_tokens_details.cached_tokens;
    const together = await Promise.all(Object.values(SETS).map(cached));
    // The template's own beginning may be known from the tests before.
    for (const tokens of together) expect(tokens).toBeLessThan(60);
    for (const fields of Object.values(SETS)) expect(await cached(fields)).toBeGreaterThan(150);
    expect(await cached({ lora: [{ id: 0, scale: 0.25 }] })).toBe(0);
  });
});

test("default scales apply when a request selects no adapter, by name too; others keep their choice", async () => {
  // "tone" alone.
  const flags = rig.flags.slice(0, -2);
  const tuned = await startServer(flags.with(-1, `${flags.at(-1)}:0.5`));
  try {
    const half = await tell({ lora: HALF_A });
    expect(await tell({}, STORY, tuned)).toBe(half);
    expect(await tell({ model: "tone" }, STORY, tuned)).toBe(half);
    expect(await tell({ lora: A }, STORY, tuned)).toBe(await tell({ lora: A }));
    expect(await tell({ lora: OFF }, STORY, tuned)).toBe(await tell({}));
    expect(await (await fetch(`${tuned.url}/lora-adapters`)).json()).toMatchObject([{ id: 0, scale: 0.5 }]);
  } finally {
    await tuned.stop();
  }
});
