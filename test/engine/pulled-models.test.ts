// The real program with --pulled-models: what is in the folder of downloaded models is offered, as soon as it is there
// and as long as it is.

import { expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, rmSync } from "node:fs";
import { ModelStore } from "../../src/store/models/model-store.ts";
import { makeEncoder } from "../models/make-encoder.ts";
import { MODEL } from "../native/harness.ts";
import { bytesContent, FakeHub } from "../store/models/fake-hub.ts";
import { streamChat } from "../support/chat-client.ts";
import { temporaryFolder } from "../support/folders.ts";
import { childrenOf } from "../support/processes.ts";
import { PROGRAM, withServer, type TestServer } from "../support/server.ts";
import { storeModel } from "../support/store-model.ts";
import { until } from "../support/until.ts";
import { ask, chatNames, LIMITS, listed, MODELS, PARIS, SCRAMBLED } from "./chat-models-rig.ts";

setDefaultTimeout(120_000);

const OTHER = "maker/Other-GGUF:Q8_0";
const MINI = "maker/Mini-GGUF:Q8_0";
const pulledFrom = (folder: string) => [...LIMITS, "--pulled-models", "--models-dir", folder];

const noEngine = ({ pid }: TestServer) => until(() => childrenOf(pid).length === 0);

test("a downloaded model is listed, and answers under its name, loaded by the first request", async () => {
  const folder = temporaryFolder();
  await storeModel(folder, OTHER, SCRAMBLED);
  await withServer([...pulledFrom(folder), "--alias", "first", "--model", MODEL], async (server) => {
    const capabilities = expect.arrayContaining(["chat", "tools", "reasoning"]);
    expect(await listed(server, OTHER)).toMatchObject({ loaded: false, capabilities });
    expect(await ask(server, "first")).toEqual([200, "first", PARIS]);
    const [status, model, text] = await ask(server, OTHER);
    expect([status, model]).toEqual([200, OTHER]);
    expect(text).not.toContain("Paris");
    expect(await listed(server, OTHER)).toMatchObject({ loaded: true, context_length: 2048 });
    for (const name of ["other-gguf", "maker/other-gguf", `hf.co/${OTHER}`, "hf.co/maker/Other-GGUF:latest"])
      expect(await ask(server, name)).toEqual([200, OTHER, text]);
    expect((await fetch(`${server.url}/v1/models/${OTHER}`)).status).toBe(200);
    const shown = await server.post("/api/show", { model: "maker/Other-GGUF" });
    expect(await shown.json()).toMatchObject({ details: { family: "qwen3" } });
    expect(await (await fetch(`${server.url}/api/ps`)).json()).toMatchObject({
      models: expect.arrayContaining([expect.objectContaining({ name: OTHER })]),
    });
    for (const name of [undefined, "gpt-4"]) expect(await ask(server, name)).toEqual([200, "first", PARIS]);
    // Adapters belong to the model of --model.
    expect(await ask(server, OTHER, { lora: [{ id: 0, scale: 1 }] })).toEqual([400, "invalid_value", undefined]);
    await server.post("/api/generate", { model: OTHER, keep_alive: 0 });
    await until(async () => (await listed(server, OTHER)).loaded === false);
    expect(await ask(server, OTHER)).toEqual([200, OTHER, text]);
    expect(await server.metrics()).toMatch(`svc_requests_started_total{model_name="${OTHER}",engine="text"} 6`);
    expect(await server.health()).toMatchObject({
      status: "healthy",
      engines: expect.arrayContaining([expect.objectContaining({ model: OTHER, state: "ready" })]),
    });
  });
});

test("a model is offered from its download, by whichever process, until its removal; the first one is the default", async () => {
  const folder = temporaryFolder();
  await using hub = await FakeHub.start();
  hub.add("maker/Mini-GGUF", "mini-Q8_0.gguf", { content: bytesContent(readFileSync(MODEL)) });
  const command = ["env", `HF_ENDPOINT=${hub.endpoint}`, ...PROGRAM];
  const work = async (server: TestServer) => {
    expect(await ask(server)).toEqual([503, "upstream_unavailable", undefined]);
    expect(await ask(server, MINI)).toEqual([404, "model_not_found", undefined]);
    const lines = (await (await server.post("/api/pull", { model: "maker/Mini-GGUF" })).text()).trimEnd().split("\n");
    expect(await chatNames(server)).toEqual([MINI]);
    expect(lines.slice(-2)).toEqual([
      JSON.stringify({ status: `served from now on as ${MINI}` }),
      JSON.stringify({ status: "success" }),
    ]);
    expect(await ask(server, MINI)).toEqual([200, MINI, PARIS]);
    await storeModel(folder, "a/First-By-Name:Q8_0", SCRAMBLED, "9999-01-01T00:00:00.000Z");
    expect((await ask(server, "a/First-By-Name:Q8_0")).slice(0, 2)).toEqual([200, "a/First-By-Name:Q8_0"]);
    expect(await ask(server)).toEqual([200, MINI, PARIS]);
    expect(await ask(server, "gpt-4")).toEqual([404, "model_not_found", undefined]);
    expect(childrenOf(server.pid)).toHaveLength(2);
    const body = JSON.stringify({ model: MINI });
    expect((await fetch(`${server.url}/api/delete`, { method: "DELETE", body })).status).toBe(200);
    await until(() => childrenOf(server.pid).length === 1);
    expect(await ask(server, MINI)).toEqual([404, "model_not_found", undefined]);
    expect((await ask(server)).slice(0, 2)).toEqual([200, "a/First-By-Name:Q8_0"]);
    rmSync(`${folder}/hub`, { recursive: true });
    expect(await chatNames(server)).toEqual([]);
    await noEngine(server);
  };
  await withServer([...pulledFrom(folder), "--no-model"], work, command);
});

test("a model that is replaced and removed while it answers goes on to the end of the answer, and its process ends then", async () => {
  const folder = temporaryFolder();
  await storeModel(folder, MINI, SCRAMBLED);
  await withServer([...pulledFrom(folder), "--no-model"], async (server) => {
    const begun = Promise.withResolvers<void>();
    const messages = [{ role: "user", content: "Tell me a story." }];
    const fields = { model: MINI, messages, max_tokens: 1200, ignore_eos: true };
    const answer = streamChat(server.url, fields, { onText: () => begun.resolve() });
    await begun.promise;
    const [first] = childrenOf(server.pid);
    if (first === undefined) throw new Error("no engine answers");
    // Lest the answer ends too early.
    process.kill(first, "SIGSTOP");
    const replaced = await storeModel(folder, MINI, MODEL);
    expect(await ask(server, MINI)).toEqual([200, MINI, PARIS]);
    // Two lines of one name would make the whole answer invalid.
    expect((await server.metrics()).match(/svc_engine_up\{model_name="maker\S*/g)).toHaveLength(1);
    await new ModelStore(folder).remove(replaced);
    expect(await chatNames(server)).toEqual([]);
    const working = expect.objectContaining({ model: MINI, running: 1 });
    expect(await server.health()).toMatchObject({ engines: expect.arrayContaining([working]) });
    process.kill(first, "SIGCONT");
    expect(await answer).toMatchObject({ status: 200, finishReason: "length", done: true });
    await noEngine(server);
  });
});

test("a downloaded model that another option offers is offered once, and its name means that one", async () => {
  const folder = temporaryFolder();
  await storeModel(folder, MINI, MODEL);
  await storeModel(folder, OTHER, SCRAMBLED);
  const options = ["--model", "maker/mini-gguf", "--alias", "first", "--chat-model", OTHER];
  await withServer([...pulledFrom(folder), ...options], async (server) => {
    expect(await chatNames(server)).toEqual(["first", "Q8_0"]);
    for (const name of [OTHER, "other-gguf"]) expect((await ask(server, name)).slice(0, 2)).toEqual([200, "Q8_0"]);
    expect(await ask(server, MINI)).toEqual([200, "first", PARIS]);
  });
});

test("a downloaded embedding model and a downloaded reranker answer on their routes, not in chats", async () => {
  const folder = temporaryFolder();
  await storeModel(folder, "maker/Embed-GGUF:F16", makeEncoder("causal-last", MODELS));
  await storeModel(folder, "maker/Rank-GGUF:F16", makeEncoder("causal-rank", MODELS));
  await withServer([...pulledFrom(folder), "--no-model"], async (server) => {
    expect(await chatNames(server)).toEqual([]);
    expect(await ask(server, "maker/Embed-GGUF:F16")).toEqual([404, "model_not_found", undefined]);
    const vectors = await server.post("/v1/embeddings", { model: "maker/Embed-GGUF", input: "a" });
    expect(await vectors.json()).toMatchObject({ model: "maker/Embed-GGUF:F16", data: [{ index: 0 }] });
    const ranking = await server.post("/v1/rerank", { query: "a", documents: ["b"] });
    expect(await ranking.json()).toMatchObject({ model: "maker/Rank-GGUF:F16", results: [{ index: 0 }] });
  });
});
