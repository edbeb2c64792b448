// LoRA adapters with a real model, through a running server: who gets which, and that nothing of one reaches another.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeAdapter } from "../models/make-adapter.ts";
import { askWithLogprobs, type Ask, type LogprobAnswer } from "../support/logprob-chat.ts";
import { compareAnswers } from "../support/same-answer.ts";
import { startServer, type ServerProcess } from "../support/server.ts";

// Other processes may have the cores.
setDefaultTimeout(60_000);

interface Answer {
  readonly model: string;
  readonly choices: readonly { readonly message: { readonly content: string } }[];
  readonly usage: { readonly prompt_tokens_details: { readonly cached_tokens: number } };
  readonly error?: { readonly code: string; readonly param: string; readonly message: string };
}

const STORY = "Tell me a story.";
const LONG = "The dog is red and the boat is blue.".repeat(20);
const A = [{ id: 0, scale: 1 }];
const HALF_A = [{ id: 0, scale: 0.5 }];
const B = [{ id: 1, scale: 1 }];
const OFF = [{ id: 0, scale: 0 }];
const SETS = {
  base: {},
  A: { lora: A },
  "half of A": { lora: HALF_A },
  B: { lora: B },
  "A and B": { lora: [...A, ...B] },
};

const folder = mkdtempSync(join(tmpdir(), "svc-lora-"));
let server: ServerProcess;
let flags: string[];

beforeAll(async () => {
  flags = ["--threads", "1", "--ctx", "8192", "--lora", `tone=${makeAdapter(folder, 1)}`];
  server = await startServer([...flags, "--lora", makeAdapter(folder, 2, "style"), "--parallel", "6"]);
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

const post = (path: string, body: object, { url } = server) =>
  fetch(url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

async function ask(fields: object, content = STORY, from = server): Promise<Answer> {
  const messages = [{ role: "user", content }];
  const response = await post("/v1/chat/completions", { messages, temperature: 0, max_tokens: 40, ...fields }, from);
  return (await response.json()) as Answer;
}

const tell = async (fields: object, content = STORY, from = server): Promise<string> =>
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
    const texts = await Promise.all(
      [{ model: "tone" }, { lora: A }, {}].map(async (fields) => {
        const response = await post("/v1/completions", { prompt: tokens, max_tokens: 20, temperature: 0, ...fields });
        return (await response.json()) as { model: string; choices: { text: string }[] };
      }),
    );
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
  const get = async (path: string) => (await fetch(server.url + path)).json();
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
    Number(/svc_lora_requests_total\{[^}]*lora_name="style"[^}]*\} (\d+)/.exec(await metricsText())?.[1] ?? 0);
  const metricsText = async () => (await fetch(`${server.url}/metrics`)).text();
  const before = await count();
  await ask({ lora: [...A, ...B] });
  await ask({ model: "tone" });
  expect(await count()).toBe(before + 1);
});

describe.each(["unified", "streams"])("side by side, %s", (mode) => {
  let shared: ServerProcess;
  beforeAll(async () => {
    // So little room that what is not used moves to host memory, or has to be computed again.
    const tight = [...flags, "--lora", makeAdapter(folder, 2, "style"), "--parallel", "4", "--kv-mode", mode];
    shared = await startServer([...tight.with(3, "2048"), "--cache-ram", "64"]);
  });
  afterAll(() => shared.stop());

  test("everyone gets the answer that they get alone, again and again", async () => {
    const questions = [STORY, "Count from 1 to 20.", `${LONG} ${STORY}`];
    const asked = questions.flatMap((content) =>
      Object.values(SETS).map((fields): Ask => ({ ...fields, messages: [{ role: "user", content }], maxTokens: 24 })),
    );
    const alone: LogprobAnswer[] = [];
    for (const one of asked) alone.push(await askWithLogprobs(server.url, one, { kind: "whole" }));
    let same = 0;
    for (const kind of ["whole", "stream"] as const) {
      const together = await Promise.all(asked.map((one) => askWithLogprobs(shared.url, one, { kind })));
      for (const [at, answer] of together.entries()) {
        const { likeness, margin = 0 } = compareAnswers(answer, alone[at] ?? answer);
        if (likeness === "same") same++;
        // In a story, a batch of another shape alone moves what the model is not sure of by so much.
        else expect(margin).toBeLessThan(0.2);
      }
    }
    expect(same).toBeGreaterThan(asked.length);
  });
});

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

test("a default scale is for who chooses nothing, by name too; others keep their choice", async () => {
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
