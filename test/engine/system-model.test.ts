// The real program: the system model next to a given model, without one, and where svc-mini itself is served.

import { join } from "node:path";
import { expect, setDefaultTimeout, test } from "bun:test";
import { makeAdapter } from "../models/make-adapter.ts";
import { temporaryFolder } from "../support/folders.ts";
import { childrenOf } from "../support/processes.ts";
import { withServer, type TestServer } from "../support/server.ts";

setDefaultTimeout(60_000);

const GIVEN = join(import.meta.dir, "../../vendor/svc-mini/svc-mini-q8_0.gguf");
const LIMITS = ["--ctx", "2048", "--parallel", "2", "--threads", "1", "--kv-mode", "unified"];

interface Listed {
  readonly data: readonly {
    readonly id: string;
    readonly owned_by: string;
    readonly loaded: boolean;
    readonly context_length?: number;
  }[];
}

const listed = async ({ url }: TestServer) => {
  const { data } = (await (await fetch(`${url}/v1/models`)).json()) as Listed;
  const chats = data.filter(({ id }) => ["mine", "svc-mini", "svc-system"].includes(id));
  return chats.map(({ id, owned_by, loaded }) => `${id} ${owned_by} ${loaded}`);
};
async function ask(server: TestServer, body: object) {
  const response = await server.post("/v1/chat/completions", {
    model: "svc-system",
    messages: [{ role: "user", content: "What is the capital of France?" }],
    temperature: 0,
    ...body,
  });
  return { status: response.status, answer: (await response.json()) as Record<string, any> };
}

test("next to a given model, the system model is listed before it is loaded, and has its own engine", async () => {
  await withServer([...LIMITS, "--model", GIVEN, "--alias", "mine"], async (server) => {
    expect(await listed(server)).toEqual(["mine svc true", "svc-system system false"]);
    const headers = { "anthropic-version": "2023-06-01" };
    const given = await (await fetch(`${server.url}/v1/models/mine`, { headers })).json();
    expect(given).toMatchObject({ id: "mine", display_name: "svc-mini" });
    expect(childrenOf(server.pid)).toHaveLength(1);
    const { answer } = await ask(server, { top_k: 1, logprobs: true, presence_penalty: 1 });
    expect([answer["model"], answer["choices"][0].message.content]).toEqual([
      "svc-system",
      expect.stringContaining("Paris"),
    ]);
    expect(childrenOf(server.pid)).toHaveLength(2);
    expect(await listed(server)).toEqual(["mine svc true", "svc-system system true"]);
    expect((await ask(server, { model: "mine" })).answer["model"]).toBe("mine");
    const refused = await ask(server, { grammar: 'root ::= "a"' });
    expect([refused.status, refused.answer["error"].param]).toEqual([400, "grammar"]);
  });
});

test("where svc-mini is served, the system model is the same engine", async () => {
  await withServer(LIMITS, async (server) => {
    expect(await listed(server)).toEqual(["svc-mini svc true", "svc-system system true"]);
    expect((await ask(server, {})).answer["model"]).toBe("svc-system");
    expect(childrenOf(server.pid)).toHaveLength(1);
  });
});

test("the system model ignores options for the given model", async () => {
  const folder = temporaryFolder();
  const adapter = `${makeAdapter(folder, 1)}:20`;
  const flags = ["--parallel", "2", "--threads", "1", "--kv-mode", "streams", "--kv-type", "q8_0", "--lora", adapter];
  await withServer([...flags, "--ctx", "2048", "--model", GIVEN, "--alias", "mine"], async (server) => {
    for (const lora of [[], [{ id: 0, scale: 20 }]]) {
      const { status, answer } = await ask(server, { lora });
      expect([status, answer["choices"]?.[0].message.content]).toEqual([200, expect.stringContaining("Paris")]);
    }
    const models = (await (await fetch(`${server.url}/v1/models`)).json()) as Listed;
    expect(models.data.find(({ id }) => id === "svc-system")?.context_length).toBe(4096);
  });
});
