// The real program with several chat models: selected by name, loaded on first use, each in a process of its own.

import { expect, setDefaultTimeout, test } from "bun:test";
import { makeAdapter } from "../models/make-adapter.ts";
import { MODEL } from "../native/harness.ts";
import { PROGRAM, withServer } from "../support/server.ts";
import { until } from "../support/until.ts";
import { ask, LIMITS, listed, MODELS, PARIS, SCRAMBLED } from "./chat-models-rig.ts";

setDefaultTimeout(120_000);

const OTHER = "scrambled-svc-mini-q8_0";

test("a further chat model answers under its name, once it is loaded; the first one answers all other requests", async () => {
  await withServer([...LIMITS, "--alias", "first", "--model", MODEL, "--chat-model", SCRAMBLED], async (server) => {
    const capabilities = expect.arrayContaining(["chat", "tools", "reasoning"]);
    expect(await listed(server, OTHER)).toMatchObject({ loaded: false, capabilities });
    expect(await ask(server, "first")).toEqual([200, "first", PARIS]);
    expect(await listed(server, OTHER)).toMatchObject({ loaded: false });
    const [status, model, text] = await ask(server, OTHER);
    expect([status, model]).toEqual([200, OTHER]);
    expect(text).not.toContain("Paris");
    expect(await listed(server, OTHER)).toMatchObject({ loaded: true, context_length: 2048 });
    expect(await ask(server)).toEqual([200, "first", PARIS]);
    expect(await ask(server, "gpt-4")).toEqual([200, "first", PARIS]);
    // Ollama's way to unload a model.
    const unload = { model: OTHER, keep_alive: 0 };
    await fetch(`${server.url}/api/generate`, { method: "POST", body: JSON.stringify(unload) });
    await until(async () => (await listed(server, OTHER)).loaded === false);
    expect(await ask(server, OTHER)).toEqual([200, OTHER, text]);
  });
});

test("without a model that is always loaded, the first chat model is the default, and an unknown name is an error", async () => {
  await withServer([...LIMITS, "--no-model", "--chat-model", MODEL, "--chat-model", SCRAMBLED], async (server) => {
    expect((await ask(server, OTHER)).slice(0, 2)).toEqual([200, OTHER]);
    expect(await ask(server)).toEqual([200, "svc-mini-q8_0", PARIS]);
    expect(await ask(server, "gpt-4")).toEqual([404, "model_not_found", undefined]);
  });
});

test("an adapter of the first model is refused for a further one, which goes on", async () => {
  const lora = makeAdapter(MODELS, 1);
  await withServer(
    [...LIMITS, "--model", MODEL, "--lora", `one=${lora}`, "--chat-model", SCRAMBLED],
    async (server) => {
      expect((await ask(server, OTHER)).slice(0, 2)).toEqual([200, OTHER]);
      expect(await ask(server, OTHER, { lora: [{ id: 0, scale: 1 }] })).toEqual([400, "invalid_value", undefined]);
      expect((await ask(server, OTHER)).slice(0, 2)).toEqual([200, OTHER]);
      expect(await (await fetch(`${server.url}/health`)).text()).not.toMatch(/"restarts":[^0]/);
    },
  );
});

test("one model may serve chats and embeddings under one name", async () => {
  await withServer([...LIMITS, "--chat-model", SCRAMBLED, "--embedding-model", SCRAMBLED], async (server) => {
    expect((await ask(server, OTHER)).slice(0, 2)).toEqual([200, OTHER]);
    const body = JSON.stringify({ model: OTHER, input: "a" });
    const response = await fetch(`${server.url}/v1/embeddings`, { method: "POST", body });
    expect(((await response.json()) as { model: string }).model).toBe(OTHER);
  });
});

test.each([
  ["--model", 2, "--chat-model cannot give the name svc-mini-q8_0: it selects another model of this server."],
  ["--chat-model", 3, "Two chat models have the name svc-mini-q8_0; clients could select only one of them."],
])("a further chat model with the name of that of %s is refused", async (option, code, why) => {
  const command = [...PROGRAM, "--port", "0", "--chat-model", MODEL, option, MODEL];
  const child = Bun.spawn(command, { stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  expect([await child.stderr.text(), await child.exited]).toEqual([expect.stringContaining(why), code]);
});
