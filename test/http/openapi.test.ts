import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "bun:test";
import { contractVersion } from "../../src/config/version.ts";
import { decodeChat } from "../../src/dialect/chat/decode.ts";
import { isLimited } from "../../src/http/access.ts";
import type { OpenApiDocument } from "../../src/http/openapi/document.ts";
import { operations } from "../../src/http/openapi/operations.ts";
import { pngHeader } from "../media/files.ts";
import { hello, messages, serve, testConfig } from "./harness.ts";

const describeServer = async (url: string) => (await (await fetch(`${url}/openapi.json`)).json()) as OpenApiDocument;

/** Returns entries such as `POST /v1/chat/completions/{id}/cancel` for every operation. */
const listed = (document: OpenApiDocument) =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  );

function registered(): string[] {
  // Aliases of a route's path are not operations of their own.
  const described = serve().routes.filter(({ hooks }) => hooks.detail?.hide !== true);
  return described.map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, "{$1}")}`);
}

const OPEN = ["/", "/health", "/openapi.json", "/docs"];
/** Uploads have no example in the document. */
const RECORDING = { data: "c291bmQ=", document: { document_url: "data:,picture" } };
const LINE = '{"custom_id":"1","method":"POST","url":"/v1/chat/completions","body":{}}';

const PICTURE = pngHeader(64, 64);
const CHANGE = { prompt: "in blue", init_images: [Buffer.from(PICTURE).toString("base64")] };

function withPicture(fields: Readonly<Record<string, string>> = {}): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append("image", new Blob([PICTURE]), "image.png");
  return form;
}

const UPLOADS: Readonly<Record<string, object>> = {
  "/v1/images/edits": withPicture({ prompt: CHANGE.prompt }),
  "/v1/images/upscale": withPicture(),
  "/sdapi/v1/img2img": CHANGE,
};

async function withFile(url: string, example: unknown) {
  const { id } = (await (await fetch(`${url}/v1/files`, { method: "POST", body: LINE })).json()) as { id: string };
  return { ...(example as object), input_file_id: id };
}

/** Sends what an operation accepts; an id in its path names nothing. */
async function send(url: string, key: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  const [method = "", path = ""] = key.split(" ");
  if (method === "GET") return fetch(url + path, { headers });
  const example = operations[key]?.example;
  // Uploads have no example, and examples with an id name a resource that does not exist.
  if (path === "/v1/files") return fetch(url + path, { method, headers, body: LINE });
  const sent = path === "/v1/batches" ? await withFile(url, example) : (example ?? UPLOADS[path] ?? RECORDING);
  if (sent instanceof FormData) return fetch(url + path, { method, headers, body: sent });
  const json = { ...headers, "content-type": "application/json" };
  return fetch(url + path, { method, headers: json, body: JSON.stringify(sent) });
}

describe("GET /openapi.json", () => {
  test("is valid OpenAPI 3.1 with the contract's version", async () => {
    const document = await describeServer(serve().url);
    const result = await new Validator().validate({ ...document });
    expect(result).toEqual({ valid: true });
    expect([document.openapi, document.info.version]).toEqual(["3.1.0", contractVersion]);
    expect(contractVersion).toBe("0.9.19");
  });

  test("lists exactly the registered routes, each with a written description", async () => {
    const paths = listed(await describeServer(serve().url)).sort();
    expect(paths).toEqual(registered().sort());
    expect(paths).toEqual(Object.keys(operations).sort());
  });

  test("gives every operation an id, a listed tag, a summary, described answers and the request id headers", async () => {
    const document = await describeServer(serve().url);
    const all = Object.values(document.paths).flatMap((item) => Object.values(item));
    expect(new Set(all.map(({ operationId }) => operationId)).size).toBe(all.length);
    const tags = document["tags"] as readonly { readonly name: string }[];
    expect([...new Set(all.flatMap((operation) => operation["tags"]))].sort()).toEqual(
      tags.map(({ name }) => name).sort(),
    );
    for (const operation of all) {
      expect(operation["summary"]).toBeString();
      for (const response of Object.values(operation.responses)) {
        expect(response.description.length).toBeGreaterThan(5);
        expect(Object.keys(response.headers ?? {})).toContain("X-Request-ID");
      }
    }
  });

  test("describes the query parameters of routes that have some, and the conditions of files", async () => {
    const { paths } = await describeServer(serve().url);
    const given = (path: string, method = "get") =>
      (paths[path]?.[method]?.parameters ?? []).flatMap((one) => (one.in === "query" ? [one.name] : []));
    const page = ["limit", "order", "after"];
    expect(given("/v1/files")).toEqual([...page, "purpose"]);
    expect(given("/v1/files", "post")).toEqual(["purpose", "filename"]);
    expect(given("/v1/batches")).toEqual(page);
    expect(given("/v1/responses/{id}/input_items")).toEqual(page);
    expect(given("/v1/conversations/{id}/items")).toEqual(page);
    expect(given("/v1/responses/{id}")).toEqual(["stream", "starting_after"]);
    expect(given("/v1/models")).toEqual(["limit", "after_id", "before_id"]);
    expect(given("/v1/audio/voices")).toEqual(["locale"]);
    expect(given("/slots")).toEqual(["fail_on_no_slot"]);
    const { responses = {} } = paths["/v1/files/{id}/content"]?.["get"] ?? {};
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(["200", "206", "304", "416"]));
  });

  test("describes the answers that the server gives", async () => {
    const { url } = serve(undefined, { imageUpscaleModels: ["/esrgan.safetensors"] });
    const document = await describeServer(url);
    for (const [key, { answers, errors = {} }] of Object.entries(operations)) {
      const [method = "", path = ""] = key.split(" ");
      // Routes that fetch or delete by id need an existing resource.
      if (path.includes("{") || method === "DELETE") continue;
      // This route answers only upgrades: see `realtime-lifetime.test.ts`.
      if (path === "/v1/realtime") continue;
      const response = await send(url, key);
      const { responses } = document.paths[path]?.[method.toLowerCase()] ?? {};
      const keyed = { ...(!OPEN.includes(path) && { 401: "" }), ...(isLimited(method, path) && { 429: "" }) };
      expect(Object.keys(responses ?? {})).toEqual(Object.keys({ ...answers, ...errors, ...keyed }));
      // Routes that always refuse describe no other answer.
      expect(response.status).toBe(answers[200] === undefined ? 501 : 200);
      if (answers[200] === undefined) continue;
      const type = response.headers.get("content-type")?.split(";")[0];
      expect(Object.keys(responses?.["200"]?.content ?? {})).toContain(String(type));
    }
  });

  test.each([
    ["X-Svc-Client", "two words"],
    ["X-Svc-Deadline-Ms", "soon"],
  ])("lists %s at exactly the routes that read it", async (name, wrong) => {
    const { url } = serve(undefined, { imageUpscaleModels: ["/esrgan.safetensors"] });
    const { paths } = await describeServer(url);
    for (const key of Object.keys(operations)) {
      const [method = "", path = ""] = key.split(" ");
      const isListed = paths[path]?.[method.toLowerCase()]?.parameters?.some((one) => one.name === name);
      // This route reads headers only in upgrades: see `realtime-lifetime.test.ts`.
      if (path === "/v1/realtime") continue;
      const response = await send(url, key, { [name]: wrong });
      const isRead = response.status === 400 && (await response.text()).includes(`'${name}'`);
      expect([key, isListed]).toEqual([key, isRead]);
    }
  });

  test("describes the errors that the server gives", async () => {
    const { url } = serve(hello, { slotSavePath: "/slots" });
    const document = await describeServer(url);
    const ajv = new Ajv2020({ strict: false });
    const forms = new Set<string>();
    for (const [key, { errors = {}, example }] of Object.entries(operations)) {
      if (!errors[400] || example === undefined) continue;
      const [method = "", path = ""] = key.split(" ");
      const response = await fetch(url + path, { method, headers: { "content-type": "application/json" }, body: "{" });
      expect(response.status).toBe(400);
      const { schema } =
        document.paths[path]?.[method.toLowerCase()]?.responses["400"]?.content?.["application/json"] ?? {};
      const form = String(schema?.["$ref"]).split("/").at(-1) ?? "";
      const body = await response.json();
      expect([
        key,
        ajv.validate({ ...(document.components.schemas[form] as object), additionalProperties: false }, body),
      ]).toEqual([key, true]);
      forms.add(form);
    }
    expect([...forms].sort()).toEqual(["Error", "MessagesError", "OllamaError", "SdapiError"]);
  });

  test("describes the header about strict schemas that are not enforced, wherever an answer may have it", async () => {
    const { post } = serve();
    const schema = { type: "object", properties: { n: { multipleOf: 7 } } };
    const strict = { response_format: { type: "json_schema", json_schema: { name: "n", strict: true, schema } } };
    const chat = { messages, ...strict };
    const requests: Readonly<Record<string, object>> = {
      "/v1/chat/completions": chat,
      "/v1/responses": { input: "hi", text: { format: { type: "json_schema", name: "n", schema } } },
      "/v1/messages": { messages, max_tokens: 9, output_config: { format: { type: "json_schema", schema } } },
      "/v1/completions": { prompt: "hi", ...strict },
      "/v1/batch/completions": { requests: [{ custom_id: "a", body: chat }] },
      "/completion": { prompt: "hi", ...strict },
      "/infill": { input_prefix: "hi", input_suffix: "you", ...strict },
    };
    for (const [path, body] of Object.entries(requests)) {
      const response = await post(path, body);
      expect([path, response.headers.get("x-grammar-constraints")]).toEqual([path, "downgraded"]);
      await response.text();
    }
    const described = Object.entries(operations).filter(([, { headers = {} }]) => "X-Grammar-Constraints" in headers);
    expect(described.map(([key]) => key).toSorted()).toEqual(
      Object.keys(requests)
        .map((path) => `POST ${path}`)
        .toSorted(),
    );
  });

  test("names the ways to send an API key, and the routes that accept other credentials or need none", async () => {
    const document = await describeServer(serve().url);
    expect(document.components.securitySchemes).toMatchObject({
      bearer: { type: "http", scheme: "bearer" },
      apiKey: { type: "apiKey", in: "header", name: "x-api-key" },
    });
    expect(document["security"]).toEqual([{ bearer: [] }, { apiKey: [] }, {}]);
    const open = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.values(item).flatMap(({ security }) => (Array.isArray(security) && security.length === 0 ? path : [])),
    );
    const basic = Object.entries(document.paths).flatMap(([path, item]) =>
      JSON.stringify(item).includes(`"security":[{"basic":[]}`) ? path : [],
    );
    expect(basic.length).toBeGreaterThan(5);
    expect(basic.filter((path) => !path.startsWith("/sdapi/"))).toBeEmpty();
    expect(open.toSorted()).toEqual(OPEN.toSorted());
  });

  test("has a chat example that works", () => {
    expect(() => decodeChat(operations["POST /v1/chat/completions"]?.example, testConfig)).not.toThrow();
  });

  test("is the same document on every server and for every request", async () => {
    const { url } = serve();
    const document = await describeServer(url);
    expect(await describeServer(url)).toEqual(document);
    expect(await describeServer(serve().url)).toEqual(document);
  });
});
