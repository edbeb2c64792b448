// An upstream with only Ollama's API: svc itself with all other routes hidden.

import { expect, test } from "bun:test";
import { decodeChat } from "../../src/dialect/chat/decode.ts";
import type { FakeScript } from "../support/fake-text-engine.ts";
import { settings } from "../support/generation-settings.ts";
import { toolCall } from "../support/tool-call.ts";
import { serve } from "../http/harness.ts";
import { fixtureServer } from "./fixture-server.ts";
import { finishOf, generate, remote, textOf } from "./remote.ts";

function ollamaOnly(script: FakeScript) {
  const server = serve(script);
  const hidden = fixtureServer(async ({ path, body }, request) => {
    if (!path.startsWith("/api/")) return undefined;
    const sent = request.method === "POST" ? { method: "POST", body: JSON.stringify(body) } : {};
    const { signal } = request;
    const answer = await fetch(server.url + path, { ...sent, headers: { "content-type": "application/json" }, signal });
    const type = answer.headers.get("content-type") ?? "";
    return new Response(answer.body, { status: answer.status, headers: { "content-type": type } });
  });
  return { server, hidden };
}

test("models are listed with capabilities and context length", async () => {
  const { hidden } = ollamaOnly({ steps: [] });
  const { gateway, replicas } = await remote([hidden.url]);
  expect(replicas[0]?.kind).toBe("ollama");
  expect(gateway.models()).toEqual([
    {
      id: "up/fake-model",
      created: 1_700_000_000,
      ownedBy: "ollama",
      loaded: true,
      capabilities: ["chat", "completion", "streaming", "tools", "reasoning"],
      contextLength: 4096,
      remote: true,
    },
    {
      id: "up/fake-embedding",
      created: 1_700_000_000,
      ownedBy: "ollama",
      loaded: false,
      capabilities: ["embeddings"],
      contextLength: 32,
      remote: true,
    },
  ]);
});

test("a model whose description failed is queried again, and one that was described is not", async () => {
  let failures = 1;
  const server = fixtureServer(({ path }) => {
    if (path === "/api/tags") return Response.json({ models: [{ name: "far", modified_at: "2026-01-01T00:00:00Z" }] });
    if (path !== "/api/show") return undefined;
    return failures-- > 0
      ? new Response(null, { status: 500 })
      : Response.json({ capabilities: ["completion", "tools", "constructor"] });
  });
  const { replicas } = await remote([server.url]);
  const tells = () => replicas[0]?.model("far")?.capabilities;
  expect(tells()).toEqual(["chat", "completion", "streaming"]);
  for (let time = 0; time < 2; time++) {
    await replicas[0]?.refresh(0);
    expect(tells()).toEqual(["chat", "completion", "streaming", "tools"]);
  }
  expect(server.asked.filter(({ path }) => path === "/api/show")).toHaveLength(2);
});

test("a conversation with tools, reasoning and settings is translated in both directions", async () => {
  const calls = [...toolCall("add", ['{"a":1}']), ...toolCall("add", ['{"a":2}'], 1)];
  const { server, hidden } = ollamaOnly({
    steps: [{ type: "reasoning", text: "hm" }, { text: "Let me see." }, ...calls],
    reason: "tool_calls",
  });
  const parameters = { type: "object", properties: { a: { type: "integer" } } };
  const events = await generate(await remote([hidden.url]), {
    messages: [
      { role: "user", content: "Add." },
      { role: "assistant", content: "", toolCalls: [{ id: "c1", name: "add", arguments: '{"a":0}' }] },
      { role: "tool", content: "0", name: "add", toolCallId: "c1" },
    ],
    tools: [{ name: "add", description: "adds", parameters, enforced: parameters }],
    thinking: true,
    sampling: { temperature: 0, topK: 5, repetitionPenalty: 1.1 },
    maxTokens: 20,
    stop: ["END"],
  });
  expect(textOf(events)).toBe("Let me see.");
  expect(events.filter(({ type }) => type === "tool_call" || type === "tool_arguments")).toEqual(calls);
  expect(finishOf(events)).toMatchObject({ reason: "tool_calls", usage: { promptTokens: 12 } });
  expect(server.engine.requests.at(-1)).toMatchObject({
    model: "fake-model",
    messages: [
      { role: "user", content: "Add." },
      { role: "assistant", toolCalls: [{ name: "add", arguments: '{"a":0}' }] },
      { role: "tool", content: "0", name: "add", toolCallId: "c1" },
    ],
    tools: [{ name: "add", description: "adds", parameters }],
    thinking: true,
    sampling: { temperature: 0, topK: 5, repetitionPenalty: 1.1 },
    maxTokens: 20,
    stop: ["END"],
  });
});

test("a schema, raw text and log probabilities are translated", async () => {
  const token = { token: "Hi", logprob: -0.1, bytes: [72, 105], top: [] };
  const { server, hidden } = ollamaOnly({ steps: [{ text: "Hi", logprobs: [token] }] });
  const far = await remote([hidden.url]);
  const schema = { type: "object", properties: { a: { type: "string" } } };
  const events = await generate(far, { constraint: { schema, strict: true, inexpressible: false }, topLogprobs: 0 });
  expect(events).toContainEqual({ type: "text", text: "Hi", logprobs: [token] });
  expect(server.engine.requests.at(-1)).toMatchObject({ constraint: { schema }, topLogprobs: 0 });
  expect(textOf(await generate(far, { messages: [], prompt: "Say: " }))).toBe("Hi");
  expect(server.engine.requests.at(-1)).toMatchObject({ prompt: "Say: ", messages: [] });
});

test("images are sent in base64 without the head of their data URL, and refused where they are not in base64", async () => {
  const server = fixtureServer(({ path }) => {
    if (path === "/api/tags") return Response.json({ models: [{ name: "far" }] });
    if (path === "/api/show") return Response.json({ capabilities: ["completion", "vision"] });
    return path === "/api/chat" ? new Response('{"message":{"content":"Hi"},"done":true}\n') : undefined;
  });
  const far = await remote([server.url]);
  const param = "messages.0.content.0.image_url";
  const see = (url: string) => {
    const content = [{ type: "media" as const, source: { kind: "image", url, detail: "auto" } as const, param }];
    return generate(far, { messages: [{ role: "user", content }] });
  };
  expect(textOf(await see("DATA:image/png;base64,AA=="))).toBe("Hi");
  expect(server.asked.at(-1)?.body).toMatchObject({ messages: [{ images: ["AA=="] }] });
  const refused = { code: "unsupported_media_input", details: { param } };
  await expect(see("data:image/png,a;base64,AA==")).rejects.toMatchObject(refused);
});

test("fields that the API does not have are refused", async () => {
  const { hidden } = ollamaOnly({ steps: [] });
  const far = await remote([hidden.url]);
  const parameters = { type: "object" };
  const tools = [{ name: "f", description: "", parameters, enforced: parameters }];
  const refused = (param: string) => ({ code: "unsupported_parameter", details: { param } });
  await expect(generate(far, { tools, toolChoice: "required" })).rejects.toMatchObject(refused("tool_choice"));
  await expect(generate(far, { sampling: { logitBias: [[1, 2]] } })).rejects.toMatchObject(refused("logit_bias"));
  await expect(generate(far, { messages: [], prompt: [1, 2] })).rejects.toMatchObject(refused("prompt"));
});

test("template values of a request are refused, and those of a launch option are for models that take them", async () => {
  const { hidden } = ollamaOnly({ steps: [{ text: "Hi" }] });
  const far = await remote([hidden.url]);
  const asked = (fields: object, templateKwargs: object) => {
    const messages = [{ role: "user", content: "hi" }];
    return decodeChat({ messages, ...fields }, { ...settings, templateKwargs: { ...templateKwargs } }).request;
  };
  const refused = generate(far, asked({ chat_template_kwargs: { tone: "dry" } }, {}));
  await expect(refused).rejects.toMatchObject({ details: { param: "chat_template_kwargs" } });
  const thinking = { chat_template_kwargs: { enable_thinking: false, reasoning_effort: "low" } };
  for (const fields of [{}, thinking]) expect(textOf(await generate(far, asked(fields, { tone: "dry" })))).toBe("Hi");
});

test("settings that a request itself makes idle are no reason to refuse it", async () => {
  const { hidden } = ollamaOnly({ steps: [{ text: "Hi" }] });
  const far = await remote([hidden.url]);
  const off = { mirostat: 0, xtcProbability: 0, dryMultiplier: 0, dynatempRange: 0 } as const;
  const idle = { mirostatTau: 5, mirostatEta: 0.1, xtcThreshold: 0.1, dryBase: 1.75, dynatempExponent: 1 };
  const sampling = { ...off, ...idle, drySequenceBreakers: ["\n"], logitBias: [] };
  expect(textOf(await generate(far, { sampling }))).toBe("Hi");
  const refused = generate(far, { sampling: { ...sampling, mirostat: 2 } });
  await expect(refused).rejects.toMatchObject({ code: "unsupported_parameter" });
});

test("a failure within the stream is reported", async () => {
  const { hidden } = ollamaOnly({ steps: [{ text: "Hi" }, { fail: new Error("bug") }] });
  await expect(generate(await remote([hidden.url]))).rejects.toMatchObject({ code: "upstream_error" });
});
