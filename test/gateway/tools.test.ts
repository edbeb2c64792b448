// Tools and the choice among them at upstreams: what upstreams receive, and which of their answers are accepted.

import { describe, expect, test } from "bun:test";
import type { GenerateRequest, Tool } from "../../src/domain/generate.ts";
import { decodeChat } from "../../src/dialect/chat/decode.ts";
import { prefixKey } from "../../src/gateway/prefix-key.ts";
import { settings } from "../support/generation-settings.ts";
import { plainRequest } from "../support/request.ts";
import { chatServer, delta, eventStream, fixtureServer, serverOf, helloStream } from "./fixture-server.ts";
import { conversationsOf, finishOf, generate, remote, textOf } from "./remote.ts";

const parameters = { type: "object", properties: { city: { type: "string" } } };
const wire = (name: string, strict?: boolean) => ({
  type: "function",
  function: { name, description: "", parameters, ...(strict && { strict }) },
});
const tools = [wire("get_weather", true), wire("get_time")];
const asked = (fields: Record<string, unknown>): Partial<GenerateRequest> =>
  decodeChat({ messages: [{ role: "user", content: "hi" }], tools, ...fields }, settings).request;
const named = { type: "function", function: { name: "get_weather" } };

const call = (name: string, ...json: string[]) =>
  eventStream([
    delta({ tool_calls: [{ index: 0, id: "a", function: { name, arguments: "" } }] }),
    ...json.map((text) => delta({ tool_calls: [{ index: 0, function: { arguments: text } }] })),
    delta({}, "tool_calls"),
  ]);

describe("the request to the upstream", () => {
  test.each(["vllm", "sglang", "someone"])(
    "%s: all tools whatever the choice, so that its prompt stays the same",
    async (owner) => {
      const server = serverOf(owner, helloStream);
      const far = await remote([server.url]);
      const body = async (fields: Record<string, unknown>) => {
        await generate(far, asked(fields));
        const { tools: told, tool_choice, parallel_tool_calls } = server.asked.at(-1)?.body ?? {};
        return { tools: told, tool_choice, parallel_tool_calls };
      };
      expect(await body({})).toEqual({ tools, tool_choice: undefined, parallel_tool_calls: undefined });
      expect(await body({ tool_choice: "none" })).toEqual({
        tools,
        tool_choice: "none",
        parallel_tool_calls: undefined,
      });
      expect(await body({ tool_choice: named })).toEqual({ tools, tool_choice: named, parallel_tool_calls: undefined });
      expect(await body({ tool_choice: "required", parallel_tool_calls: false })).toEqual({
        tools,
        tool_choice: "required",
        parallel_tool_calls: false,
      });
    },
  );

  test("requires a call of the only tool from llama.cpp, which does not support names", async () => {
    const server = serverOf("llamacpp", helloStream);
    const far = await remote([server.url]);
    await generate(far, asked({ tool_choice: named }));
    expect(server.asked.at(-1)?.body).toMatchObject({ tools: [tools[0]], tool_choice: "required" });
    await generate(far, asked({ tool_choice: "none" }));
    expect(server.asked.at(-1)?.body).toMatchObject({ tools, tool_choice: "none" });
  });

  test("goes to the same replica of a conversation, whatever the tool choice", () => {
    const key = (fields: Record<string, unknown>) => prefixKey(plainRequest("hi", asked(fields)));
    expect(key({ tool_choice: "none" })).toBe(key({}));
    expect(key({ tool_choice: named })).toBe(key({}));
  });
});

describe("the answer of the upstream", () => {
  const weather: Tool = { name: "get_weather", description: "", parameters, enforced: parameters };
  const forced = { tools: [weather], toolChoice: "required" } as const;

  test("is tried at another replica when arguments are not an object", async () => {
    const wrong = chatServer(() => call("get_weather", "[", "]"));
    const right = chatServer(() => call("get_weather", " ", '{"city":', '"Oslo"}'));
    const far = await remote([wrong.url, right.url]);
    const own = conversationsOf(far, far.replicas[0], forced);
    for (let turn = 0; turn < 4; turn++) {
      const events = await generate(far, own.next().value);
      const calls = events.filter(({ type }) => type === "tool_call");
      expect(calls).toMatchObject([{ index: 0, id: "a", name: "get_weather" }]);
      const json = events.map((event) => (event.type === "tool_arguments" ? event.text : "")).join("");
      expect(json).toBe('{"city":"Oslo"}');
    }
    const [first] = far.replicas;
    expect(first?.stats.failures.get("upstream_error")).toBe(4);
    // The replica stays healthy.
    expect(first?.isWell).toBe(true);
  });

  test("is a failure when it calls another tool than the named one", async () => {
    const far = await remote([chatServer(() => call("rm_rf", "{}")).url]);
    const failure = await generate(far, forced).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "upstream_error", message: expect.stringContaining("another tool") });
    // With a free choice, the client sees calls of invented tools.
    const events = await generate(far, { tools: [weather] });
    expect(events).toContainEqual({ type: "tool_call", index: 0, id: "a", name: "rm_rf" });
  });

  test("has an empty object for a call without arguments, and no call when it broke off before the arguments", async () => {
    const far = await remote([chatServer(() => call("get_weather")).url]);
    const events = await generate(far, forced);
    expect(events).toContainEqual({ type: "tool_arguments", index: 0, text: "{}" });
    const cut = chatServer(() =>
      eventStream([
        delta({ tool_calls: [{ index: 0, id: "a", function: { name: "get_weather", arguments: "" } }] }, "length"),
      ]),
    );
    const other = await generate(await remote([cut.url]), forced);
    expect(other.map(({ type }) => type)).toEqual(["accepted", "started", "finish"]);
  });

  test.each(["stop", "tool_calls"])("has no calls with tool choice none, though it ends with %s", async (reason) => {
    const answer = () => eventStream([delta({ content: "Hi" }), ...callChunks(), delta({}, reason)]);
    const events = await generate(await remote([chatServer(answer).url]), { tools: [], allTools: [weather] });
    expect(textOf(events)).toBe("Hi");
    expect(events.map(({ type }) => type)).toEqual(["accepted", "started", "text", "finish"]);
    expect(finishOf(events)?.reason).toBe("stop");
  });
});

const callChunks = () => [
  delta({ tool_calls: [{ index: 0, id: "a", function: { name: "get_weather", arguments: "{}" } }] }),
];

test("an upstream that may not enforce a constraint is reported", async () => {
  const downgraded = async (owner: string, fields: Record<string, unknown>) => {
    const far = await remote([serverOf(owner, () => call("get_weather", "{}")).url]);
    return (await generate(far, asked(fields)))[0];
  };
  const cases = [
    // A strict tool that the model chooses by itself.
    ["vllm", {}, true],
    ["llamacpp", {}, false],
    // A named tool is enforced with its schema.
    ["vllm", { tool_choice: named }, false],
    ["sglang", { tool_choice: named }, false],
    ["someone", { tool_choice: named }, true],
    // Nothing here is strict.
    ["someone", { tool_choice: "required", tools: [wire("get_weather")] }, false],
    ["someone", { tools: [wire("get_weather")] }, false],
  ] as const;
  for (const [owner, fields, expected] of cases) {
    expect([owner, fields, await downgraded(owner, fields)]).toMatchObject([owner, fields, { downgraded: expected }]);
  }
});

test("choices and regular expressions reach vLLM and SGLang unchanged, and llama.cpp as a grammar", async () => {
  const bodyOf = async (owner: string, fields: Record<string, unknown>) => {
    const server = serverOf(owner, helloStream);
    await generate(await remote([server.url]), asked({ tools: [], ...fields }));
    return server.asked.at(-1)?.body ?? {};
  };
  const choice = { structured_outputs: { choice: ["yes", "no"] } };
  const regex = { guided_regex: "[a-c]+" };
  expect(await bodyOf("vllm", choice)).toMatchObject(choice);
  expect(await bodyOf("vllm", regex)).toMatchObject({ structured_outputs: { regex: "[a-c]+" } });
  expect(await bodyOf("vllm", { grammar: 'root ::= "x"' })).toMatchObject({
    structured_outputs: { grammar: 'root ::= "x"' },
  });
  expect(await bodyOf("sglang", choice)).toMatchObject({ ebnf: 'root ::= "yes" | "no"' });
  expect(await bodyOf("sglang", regex)).toMatchObject({ regex: "[a-c]+" });
  expect(await bodyOf("vllm", { regex: "[a-c]+" })).toMatchObject({ structured_outputs: { regex: "[a-c]+" } });
  expect(await bodyOf("sglang", { ebnf: 'root ::= "x"' })).toMatchObject({ ebnf: 'root ::= "x"' });
  expect(await bodyOf("llamacpp", choice)).toMatchObject({ grammar: 'root ::= "yes" | "no"' });
  // A server that compares them one by one would block all other requests.
  const many = { guided_choice: Array.from({ length: 1001 }, (_, at) => `choice ${at}`) };
  await expect(bodyOf("llamacpp", many)).rejects.toMatchObject({ code: "invalid_value" });
  expect(await bodyOf("vllm", many)).toMatchObject({ structured_outputs: { choice: many.guided_choice } });
});

test.each([
  ["vllm", { stop_token_ids: [5], bad_words: ["x"], cache_salt: "s", frequency_penalty: 0.5 }],
  ["sglang", { stop_regex: "x+", lora_path: "a", custom_params: { a: 1 }, stream_reasoning: false }],
])("fields of %s's own reach it, and are refused by name elsewhere", async (owner, own) => {
  const server = serverOf(owner, helloStream);
  await generate(await remote([server.url]), asked({ tools: [], ...own }));
  expect(server.asked.at(-1)?.body).toMatchObject(own);
  const far = await remote([serverOf("llamacpp", helloStream).url]);
  expect(await generate(far, asked(own)).catch((error: unknown) => error)).toMatchObject({
    code: "unsupported_parameter",
    details: { param: Object.keys(own)[0] },
  });
});

describe("a reasoning budget", () => {
  const budget = { tools: [], thinking_token_budget: 9 };
  const refusalBy = async (owner: string, answer: () => Response, fields: Partial<GenerateRequest>) =>
    generate(await remote([serverOf(owner, answer).url]), fields).catch((error: unknown) => error);

  test("of the client reaches vLLM, and is refused by name by servers without one", async () => {
    const vllm = serverOf("vllm", helloStream);
    await generate(await remote([vllm.url]), asked(budget));
    expect(vllm.asked.at(-1)?.body).toMatchObject({ thinking_token_budget: 9 });
    for (const owner of ["sglang", "someone"]) {
      expect(await refusalBy(owner, helloStream, asked(budget))).toMatchObject({
        code: "unsupported_parameter",
        details: { param: "thinking_token_budget" },
      });
    }
  });

  test("of the launch options fails no request", async () => {
    const vllm = serverOf("vllm", helloStream);
    await generate(await remote([vllm.url]), { reasoningBudget: 9 });
    expect(vllm.asked.at(-1)?.body).not.toHaveProperty("thinking_token_budget");
    expect(textOf(await generate(await remote([serverOf("someone", helloStream).url]), { reasoningBudget: 9 }))).toBe(
      "Hello",
    );
  });

  test("is refused with svc's own message when vLLM runs without reasoning", async () => {
    const message =
      "thinking_token_budget is set but reasoning_config is not configured. Please set --reasoning-config.";
    const answer = () => Response.json({ error: { message } }, { status: 400 });
    expect(await refusalBy("vllm", answer, asked(budget))).toMatchObject({
      code: "invalid_value",
      message: expect.stringContaining("--reasoning-config"),
      details: { param: "thinking_token_budget" },
    });
  });
});

describe("the capabilities of vLLM and SGLang", () => {
  const whole = { choices: [{ message: { content: "x" }, logprobs: { content: [] } }] };
  const server = (
    owner: string,
    paths: readonly string[],
    chat: (body: Record<string, unknown>) => Response,
    port?: number,
  ) =>
    fixtureServer(({ path, body }) => {
      if (path === "/v1/models")
        return Response.json({ data: [{ id: "bge-chat", owned_by: owner, created: Date.now() }] });
      if (path === "/openapi.json") return Response.json({ paths: Object.fromEntries(paths.map((one) => [one, {}])) });
      return path === "/v1/chat/completions" ? chat(body) : undefined;
    }, port);
  const found = async (...of: Parameters<typeof server>) =>
    (await remote([server(...of).url])).gateway.models().map(({ capabilities }) => capabilities)[0];
  const noTools = () =>
    Response.json({ error: { message: "tool_choice needs --enable-auto-tool-choice" } }, { status: 400 });

  test("are found by probing, whatever the name of the model", async () => {
    const paths = ["/v1/chat/completions"];
    expect(await found("vllm", paths, () => Response.json(whole))).toEqual(
      expect.arrayContaining(["chat", "structured_output", "tools", "logprobs"]),
    );
    const without = await found("vllm", paths, (body) => (body["tools"] ? noTools() : Response.json(whole)));
    expect(without).toContain("logprobs");
    expect(without).not.toContain("tools");
    expect(await found("vllm", ["/v1/embeddings"], noTools)).toEqual(["embeddings"]);
  });

  test("are empty for a model that neither generates text nor embeddings, which is then not listed or selected", async () => {
    const { gateway } = await remote([server("vllm", ["/rerank", "/score"], noTools).url]);
    expect(gateway.models()).toEqual([]);
    expect(gateway.find("up/bge-chat").embeddings).toBeUndefined();
  });

  test("are probed once, and again after the server was down", async () => {
    let count = 0;
    const vllm = server("vllm", ["/v1/chat/completions"], () => {
      count++;
      return Response.json(whole);
    });
    const time = { now: 0 };
    const { replicas } = await remote([vllm.url], { clock: { now: () => time.now, wall: () => 0 } });
    await replicas[0]?.refresh(0);
    expect(count).toBe(1);
    await vllm.stop();
    for (let look = 0; look < 2; look++) await replicas[0]?.refresh(0);
    expect(replicas[0]?.state).toBe("down");
    server(
      "vllm",
      ["/v1/chat/completions"],
      () => {
        count++;
        return Response.json(whole);
      },
      vllm.port,
    );
    time.now += 600_000;
    await replicas[0]?.refresh(0);
    expect([replicas[0]?.state, count]).toEqual(["up", 2]);
  });
});
