// The list of models, as clients of Anthropic's API and other clients request it.

import { describe, expect, test } from "bun:test";
import { MessagesModelList, ModelList } from "../../src/contract/model.ts";
import { checker } from "../../src/contract/schema.ts";
import { encodeMessagesModels, encodeModelPage } from "../../src/dialect/messages/models.ts";
import { expectGolden } from "../http/golden.ts";
import { serve } from "../http/harness.ts";
import { fakeModel } from "../support/fake-text-engine.ts";

const version = { "anthropic-version": "2023-06-01", "x-request-id": "golden" };
const check = checker(MessagesModelList);

interface Refusal {
  readonly type?: string;
  readonly error: Readonly<Record<string, unknown>>;
}

const ask = async (path: string, headers: Record<string, string> = version, server = serve()) =>
  fetch(`${server.url}${path}`, { headers });
const refusal = async (response: Response) => [response.status, (await response.json()) as Refusal] as const;

describe("with anthropic-version", () => {
  test("the models that answer messages are listed in the form of that API", async () => {
    const response = await ask("/v1/models");
    expect(response.headers.get("request-id")).toBe("golden");
    const text = await response.text();
    expect(check(JSON.parse(text)).data[0]).toMatchObject({
      display_name: "Fake 1B",
      created_at: new Date(fakeModel.created * 1000).toISOString(),
      max_input_tokens: fakeModel.maxModelLen,
    });
    await expectGolden("models.json", text);
  });

  test("one model is described by its id, also on the path without /v1, and unknown ids are refused", async () => {
    const text = await (await ask("/v1/models/fake-model")).text();
    await expectGolden("model.json", text);
    expect(await (await ask("/models/fake-model")).text()).toBe(text);
    const [status, { type, error }] = await refusal(await ask("/v1/models/fake-whisper"));
    expect([status, type, error["type"], error["code"]]).toEqual([404, "error", "not_found_error", "model_not_found"]);
  });

  test("a model without a display name, such as an adapter, is shown with its id", async () => {
    const lora = [{ name: "poet", path: "/poet.gguf", scale: 1 }];
    const { data } = check(await (await ask("/v1/models", version, serve(undefined, { lora }))).json());
    expect(data.map(({ display_name: name }) => name)).toEqual(["Fake 1B", "poet"]);
  });

  test("an invalid limit is refused with its name and range", async () => {
    const response = await ask("/v1/models?limit=1001");
    const text = await response.clone().text();
    const [status, { type, error }] = await refusal(response);
    expect([status, type, error["type"], error["param"]]).toEqual([400, "error", "invalid_request_error", "limit"]);
    expect(error["message"]).toBe("'limit' must be an integer from 1 to 1000; got 1001.");
    await expectGolden("models-refused.json", text);
    for (const limit of ["0", "-1", "1.5", "many", ""]) {
      expect((await ask(`/v1/models?limit=${limit}`)).status).toBe(400);
    }
    for (const limit of ["1", "1000"]) expect((await ask(`/v1/models?limit=${limit}`)).status).toBe(200);
  });

  test.each(["after_id", "before_id"])("an unknown model in %s is refused", async (param) => {
    const [status, { error }] = await refusal(await ask(`/v1/models?${param}=secret`));
    expect([status, error["type"], error["param"]]).toEqual([404, "not_found_error", param]);
    expect(JSON.stringify(error)).not.toContain("secret");
  });

  test("a request without an API key, or with another method, is refused in the form of that API", async () => {
    const server = serve(undefined, { apiKeys: [{ name: "ada", key: "secret" }] });
    const [status, { type }] = await refusal(await ask("/v1/models", version, server));
    expect([status, type]).toEqual([401, "error"]);
    const [wrong, { type: other }] = await refusal(await serve().post("/v1/models", {}, version));
    expect([wrong, other]).toEqual([405, "error"]);
  });
});

describe("without anthropic-version", () => {
  test("form, query and errors are those of OpenAI's API", async () => {
    const response = await ask("/v1/models?limit=0&after_id=none", {});
    expect(response.headers.get("request-id")).toBeNull();
    const list = checker(ModelList)(await response.json());
    expect(list.data.map(({ id }) => id)).toContain("fake-whisper");
    expect(Object.keys(list)).toEqual(["object", "data", "models"]);
    expect(list.data[0]).not.toHaveProperty("display_name");
    const [status, { type }] = await refusal(await ask("/v1/models/none", {}));
    expect([status, type]).toEqual([404, undefined]);
  });
});

describe("pages", () => {
  const capabilities = ["chat"];
  const models = encodeMessagesModels(
    ["a", "b", "c", "d", "e"].map((id) => ({ id, created: 0, ownedBy: "svc", loaded: true, capabilities })),
  );
  const page = (limit: number, bounds: { readonly after?: string; readonly before?: string } = {}) => {
    const { after, before } = bounds;
    const { data, has_more: more, first_id: first, last_id: last } = encodeModelPage(models, { limit, after, before });
    return [data.map(({ id }) => id).join(""), more, first, last];
  };

  test("go forwards from the start or an id", () => {
    expect(page(20)).toEqual(["abcde", false, "a", "e"]);
    expect(page(2)).toEqual(["ab", true, "a", "b"]);
    expect(page(2, { after: "b" })).toEqual(["cd", true, "c", "d"]);
    expect(page(2, { after: "c" })).toEqual(["de", false, "d", "e"]);
    expect(page(2, { after: "e" })).toEqual(["", false, null, null]);
  });

  test("go backwards from an id", () => {
    expect(page(2, { before: "e" })).toEqual(["cd", true, "c", "d"]);
    expect(page(2, { before: "c" })).toEqual(["ab", false, "a", "b"]);
    expect(page(2, { before: "a" })).toEqual(["", false, null, null]);
    expect(page(1, { after: "a", before: "d" })).toEqual(["c", true, "c", "c"]);
  });
});
