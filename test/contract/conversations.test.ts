// /v1/conversations, and responses that use a conversation.

import { describe, expect, test } from "bun:test";
import { Conversation } from "../../src/contract/conversations.ts";
import { checker } from "../../src/contract/schema.ts";
import { expectGolden } from "../http/golden.ts";
import { serve } from "../http/harness.ts";
import { until } from "../support/until.ts";
import { id as named } from "./asking.ts";
import { scripts } from "./scripts.ts";

interface Body {
  readonly id: string;
  readonly data: readonly { readonly id: string; readonly type: string; readonly content: unknown }[];
  readonly has_more: boolean;
  readonly deleted: boolean;
  readonly metadata: unknown;
  readonly conversation: { readonly id: string };
  readonly error: { readonly code: string; readonly param: string };
}

const json = async (response: Response | Promise<Response>) => (await (await response).json()) as Body;
const check = checker(Conversation);

function server(...options: Parameters<typeof serve>) {
  const { url, post, engine } = serve(...options);
  const create = (body: object = {}) => json(post("/v1/conversations", body));
  const get = (path: string) => fetch(`${url}/v1/conversations/${path}`);
  const remove = (path: string) => fetch(`${url}/v1/conversations/${path}`, { method: "DELETE" });
  const texts = async (id: string) => {
    const { data } = await json(get(`${id}/items?order=asc&limit=100`));
    return data.map(({ type, content }) => [type, (content as readonly { text: string }[] | undefined)?.[0]?.text]);
  };
  return { url, post, engine, create, get, remove, texts };
}

const bob = { role: "user", content: "My name is Bob." };

describe("a conversation", () => {
  test("can be created, fetched, changed and deleted", async () => {
    const { post, get, remove } = server();
    const made = await (await post("/v1/conversations", { items: [bob], metadata: { topic: "names" } }, named)).text();
    await expectGolden("conversations-whole.json", made.replace(/conv_[0-9a-f]{32}/, "conv_ID"));
    const { id } = check(JSON.parse(made));
    expect<unknown>(await json(get(id))).toEqual(JSON.parse(made));
    expect((await json(post(`/v1/conversations/${id}`, { metadata: { topic: "tea" } }))).metadata).toEqual({
      topic: "tea",
    });
    expect((await json(post(`/v1/conversations/${id}`, { metadata: null }))).metadata).toEqual({});
    expect<unknown>(await json(remove(id))).toEqual({ id, object: "conversation.deleted", deleted: true });
    expect([(await get(id)).status, (await remove(id)).status]).toEqual([404, 404]);
  });

  test("is created empty by a request without a body", async () => {
    const { url, texts } = server();
    const { id } = await json(fetch(`${url}/v1/conversations`, { method: "POST" }));
    expect(await texts(id)).toEqual([]);
  });

  test("has items that can be added, listed by pages, fetched and removed", async () => {
    const { create, post, get, remove, texts } = server();
    const { id } = await create({ items: [bob] });
    const items = [
      { role: "assistant", content: "Hello Bob." },
      { type: "function_call", call_id: "c", name: "f", arguments: "{}" },
      { type: "function_call_output", call_id: "c", output: "done" },
    ];
    const added = await (await post(`/v1/conversations/${id}/items`, { items }, named)).text();
    await expectGolden("conversations-items.json", added);
    expect(await texts(id)).toEqual([
      ["message", "My name is Bob."],
      ["message", "Hello Bob."],
      ["function_call", undefined],
      ["function_call_output", undefined],
    ]);
    const newest = await json(get(`${id}/items?limit=3`));
    expect([newest.data.map(({ type }) => type), newest.has_more]).toEqual([
      ["function_call_output", "function_call", "message"],
      true,
    ]);
    const after = await json(get(`${id}/items?after=${newest.data[2]?.id}`));
    expect([after.data.length, after.has_more]).toEqual([1, false]);
    const hello = newest.data[2] as { id: string };
    expect<unknown>(await json(get(`${id}/items/${hello.id}`))).toEqual(hello);
    expect((await json(remove(`${id}/items/${hello.id}`))).id).toBe(id);
    expect((await get(`${id}/items/${hello.id}`)).status).toBe(404);
    expect((await texts(id)).length).toBe(3);
  });

  test.each([
    [{ items: [{ role: "user" }] }, "missing_required_parameter", "items.0.content"],
    [{ items: [{ role: "user", content: 7 }] }, "invalid_type", "items.0.content"],
    [{ items: [{ type: "item_reference", id: "msg_none" }] }, "not_found", "items.0.id"],
    [{ items: "a" }, "invalid_type", "items"],
    [{ metadata: { a: 1 } }, "invalid_type", "metadata.a"],
    [{ metadata: { a: "x".repeat(513) } }, "invalid_value", "metadata.a"],
    [{ metadata: { ["k".repeat(65)]: "" } }, "invalid_value", "metadata"],
    [{ items: [{ type: "bogus" }] }, "invalid_value", "items.0.type"],
    [{ metadata: Object.fromEntries(Array.from({ length: 17 }, (_, n) => [n, ""])) }, "invalid_value", "metadata"],
  ])("%j is refused", async (body, code, param) => {
    const { post, create } = server();
    const { id } = await create();
    const paths = ["/v1/conversations", ...("items" in body ? [`/v1/conversations/${id}/items`] : [])];
    for (const path of paths) expect((await json(post(path, body))).error).toMatchObject({ code, param });
  });

  test("gives an item without an id, or with a used one, a new id, so that paging ends", async () => {
    const { post, create, get } = server();
    const [first, second] = [1, 2].map((n) => ({ ...bob, id: "msg_dup", content: `${n}` }));
    const { id } = await create({ items: [first, second] });
    const added = await json(post(`/v1/conversations/${id}/items`, { items: [first, { ...bob, id: "" }] }));
    expect(added.data.map((item) => item.id)).toEqual([0, 1].map(() => expect.stringMatching(/^item_/)));
    const seen: string[] = [];
    for (let after = "", more = true; more && seen.length < 9; after = `&after=${seen.at(-1)}`) {
      const page = await json(get(`${id}/items?order=asc&limit=1${after}`));
      seen.push(...page.data.map((item) => item.id));
      more = page.has_more;
    }
    expect(seen[0]).toBe("msg_dup");
    expect([seen.length, new Set(seen).size]).toEqual([4, 4]);
    for (const item of seen) expect((await get(`${id}/items/${item}`)).status).toBe(200);
  });

  test("that does not exist is 404 on every route", async () => {
    const { get, remove, post } = server();
    const bodies = { "/v1/conversations/conv_x": { metadata: {} }, "/v1/conversations/conv_x/items": { items: [] } };
    const answers = [
      ...["conv_x", "conv_x/items", "conv_x/items/msg_x", "%zz"].map(get),
      ...["conv_x", "conv_x/items/msg_x"].map(remove),
      ...Object.entries(bodies).map(([path, body]) => post(path, body)),
      post("/v1/responses", { input: "hi", conversation: "conv_x" }),
      post("/v1/responses/input_tokens", { input: "hi", conversation: "conv_x" }),
    ];
    for (const answer of answers) expect((await json(answer)).error.code).toBe("not_found");
  });

  test("that exceeds the storage limit is refused without changes, and the least recently used one is evicted first", async () => {
    const { create, post, texts, get } = server(scripts.text, { storedResponses: { count: 2, bytes: 2000 } });
    const { id } = await create({ items: [bob] });
    const large = { role: "user", content: "x".repeat(2000) };
    const metadata = Object.fromEntries(["a", "b", "c", "d", "e"].map((key) => [key, "x".repeat(500)]));
    const answers = [
      post("/v1/conversations", { items: [large] }),
      post(`/v1/conversations/${id}/items`, { items: [large] }),
      post("/v1/responses", { input: [large], conversation: id }),
      post("/v1/conversations", { metadata }),
      post(`/v1/conversations/${id}`, { metadata }),
    ];
    for (const answer of answers) expect((await json(answer)).error.code).toBe("payload_too_large");
    expect((await texts(id)).length).toBe(1);
    const { id: second } = await create();
    await post(`/v1/conversations/${id}`, { metadata: {} });
    await create();
    expect([(await get(id)).status, (await get(second)).status]).toEqual([200, 404]);
  });

  test("of many small values counts with the memory that these take", async () => {
    const { create } = server(scripts.text, { storedResponses: { count: 2, bytes: 2000 } });
    const items = (blob: object) => [{ type: "web_search_call", blob }];
    expect((await create({ items: items(Array(100).fill("a,[{")) })).error.code).toBe("payload_too_large");
    expect((await create({ items: items(["a,[{".repeat(300)]) })).id).toStartWith("conv_");
  });

  test("has at most 10,000 items, with those of answers", async () => {
    const { create, post, remove, get } = server(scripts.text, { storedResponses: { count: 9, bytes: 1e7 } });
    const calls = (count: number) => Array.from({ length: count }, (_, at) => ({ type: "a_call", id: `call_${at}` }));
    expect((await create({ items: calls(10_001) })).error.code).toBe("payload_too_large");
    const { id } = await create({ items: calls(9999) });
    const refused = [
      post(`/v1/conversations/${id}/items`, { items: [bob, bob] }),
      post("/v1/responses", { input: [bob, bob], conversation: id }),
    ];
    for (const answer of refused) expect((await json(answer)).error.code).toBe("payload_too_large");
    const newest = async () => {
      await (await post("/v1/responses", { input: [bob], conversation: id })).text();
      return (await json(get(`${id}/items?limit=3`))).data.map(({ type }) => type);
    };
    expect(await newest()).toEqual(["a_call", "a_call", "a_call"]);
    await remove(`${id}/items/call_0`);
    expect(await newest()).toEqual(["message", "message", "a_call"]);
    expect((await post(`/v1/conversations/${id}`, { metadata: { a: "b" } })).status).toBe(200);
  });

  test("into which an answer does not fit stays unchanged, and so do the others", async () => {
    const long = { steps: [{ text: "x".repeat(3000) }] };
    const { create, post, texts } = server(long, { storedResponses: { count: 9, bytes: 3000 } });
    const { id: other } = await create({ items: [bob] });
    const { id } = await create({ items: [bob] });
    await (await post("/v1/responses", { input: "Hi!", conversation: id })).text();
    expect([(await texts(id)).length, (await texts(other)).length]).toEqual([1, 1]);
  });

  test("cannot be created when nothing is stored", async () => {
    const { create } = server(scripts.text, { storedResponses: { count: 0, bytes: 2000 } });
    expect((await create()).error.code).toBe("payload_too_large");
  });
});

describe("responses with a conversation", () => {
  const answering = { steps: [{ text: "Hello." }] };

  test("list an input item under its id in the conversation", async () => {
    const { url, create, post, get } = server(answering);
    const { id } = await create();
    const response = await json(post("/v1/responses", { input: "Hi!", conversation: id }));
    const { data: input } = await json(fetch(`${url}/v1/responses/${response.id}/input_items`));
    const { data: items } = await json(get(`${id}/items?order=asc`));
    expect(items[0]?.id).toBe(input[0]?.id ?? "none");
  });

  test.each([false, true])(
    "continue from its items, and add to them before the client has read the end; stream %j",
    async (stream) => {
      const { create, post, texts, engine } = server(answering);
      const { id } = await create({ items: [bob] });
      const ask = async (input: unknown, conversation: unknown) =>
        (await post("/v1/responses", { input, conversation, stream, instructions: "Be brief." })).text();
      expect(await ask("Hi!", id)).toContain(`"conversation":{"id":"${id}"}`);
      expect(await texts(id)).toEqual([
        ["message", "My name is Bob."],
        ["message", "Hi!"],
        ["message", "Hello."],
      ]);
      await ask([{ role: "user", content: "Who am I?" }], { id });
      expect(engine.requests.at(-1)?.messages).toEqual([
        { role: "system", content: "Be brief." },
        { role: "user", content: "My name is Bob.\n\nHi!" },
        { role: "assistant", content: "Hello." },
        { role: "user", content: "Who am I?" },
      ]);
      expect((await texts(id)).length).toBe(5);
    },
  );

  test("keep calls whose outputs come later, and the items that references name", async () => {
    const { create, post, texts, engine } = server(scripts["tool-call"]);
    const { id } = await create();
    const tools = [{ type: "function", name: "weather", parameters: { type: "object" } }];
    await post("/v1/responses", { input: "Weather?", conversation: id, tools, store: false });
    expect((await texts(id)).map(([type]) => type)).toEqual(["message", "message", "function_call"]);
    const input = [{ type: "function_call_output", call_id: "call_1", output: "sunny" }];
    const { output } = (await (await post("/v1/responses", { input, conversation: id, tools })).json()) as {
      output: readonly { id: string }[];
    };
    expect(engine.requests[1]?.messages).toMatchObject([
      { role: "user", content: "Weather?" },
      { role: "assistant", content: "I look.", toolCalls: [{ id: "call_1", name: "weather" }] },
      { role: "tool", toolCallId: "call_1", content: "sunny" },
    ]);
    const reference = { type: "item_reference", id: output[0]?.id };
    const { id: other } = await create({ items: [reference, reference] });
    expect(await texts(other)).toEqual([["message", "I look."]]);
  });

  test("add nothing when they are cancelled, or when the conversation was deleted", async () => {
    const { create, post, texts, engine, remove, get } = server({
      steps: [{ text: "a" }, { wait: new Promise(() => {}) }],
    });
    const { id } = await create();
    const begun = await json(post("/v1/responses", { input: "hi", conversation: id, background: true }));
    await until(() => engine.live === 1);
    await remove(id);
    await post(`/v1/responses/${begun.id}/cancel`, "");
    expect((await get(id)).status).toBe(404);
    const { id: other } = await create();
    const second = await json(post("/v1/responses", { input: "hi", conversation: other, background: true }));
    await post(`/v1/responses/${second.id}/cancel`, "");
    expect(await texts(other)).toEqual([]);
  });

  test("accept either a conversation or a previous response", async () => {
    const { create, post } = server(answering);
    const { id } = await create();
    const first = await json(post("/v1/responses", { input: "hi" }));
    const refused = await post("/v1/responses", { input: "hi", conversation: id, previous_response_id: first.id });
    expect([refused.status, (await json(refused)).error.param]).toEqual([400, "previous_response_id"]);
    for (const conversation of [7, {}, { id: 7 }]) {
      expect((await post("/v1/responses", { input: "hi", conversation })).status).toBe(400);
    }
    expect((await json(post("/v1/responses", { input: "hi", conversation: null }))).conversation).toBeUndefined();
  });

  test("need no input when the conversation has items, and those are counted", async () => {
    const { create, post } = server(answering);
    const { id } = await create({ items: [bob] });
    const { id: empty } = await create();
    expect((await post("/v1/responses", { conversation: id })).status).toBe(200);
    expect((await post("/v1/responses", { conversation: empty })).status).toBe(400);
    const count = async (body: object) =>
      ((await (await post("/v1/responses/input_tokens", body)).json()) as { input_tokens: number }).input_tokens;
    expect(await count({ input: "hi", conversation: id })).toBeGreaterThan(await count({ input: "hi" }));
  });
});
