import { describe, expect, test } from "bun:test";
import { until } from "../support/until.ts";
import { hello, serve } from "./harness.ts";
import { RawClient } from "./raw.ts";

const apiKeys = [
  { name: "ada", key: "ada-key" },
  { name: "ada", key: "ada-next-key" },
  { name: "eve", key: "eve-key" },
];
const serveKeyed = (overrides = {}) => serve(hello, { apiKeys, ...overrides });
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

describe("a request with one of the keys is answered", () => {
  test.each<[string, Record<string, string>]>([
    ["as bearer token", bearer("ada-key")],
    ["whatever the letters of the scheme", { authorization: "bearer  eve-key" }],
    ["in x-api-key", { "x-api-key": "ada-next-key" }],
    ["beside a token for somebody else", { ...bearer("other"), "x-api-key": "eve-key" }],
  ])("%s", async (_, headers) => {
    const server = serveKeyed();
    expect((await server.chat({}, headers)).status).toBe(200);
    expect((await fetch(`${server.url}/v1/files`, { headers })).status).toBe(200);
  });
});

describe("the API of Stable Diffusion's web interface takes a key through Basic authentication, as its clients send it", () => {
  const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString("base64")}` });
  const options = async ({ url }: { url: string }, headers: Record<string, string>) => {
    const response = await fetch(`${url}/sdapi/v1/options`, { headers });
    return [response.status, await response.text()] as const;
  };

  test.each(["user:eve-key", "eve-key:", "eve-key:anything", "eve-key", ":eve-key"])("%s", async (text) => {
    const server = serveKeyed();
    expect((await options(server, basic(text)))[0]).toBe(200);
    // Other routes do not take Basic authentication.
    expect((await fetch(`${server.url}/v1/models`, { headers: basic(text) })).status).toBe(401);
  });

  test.each([
    basic("user:wrong"),
    basic("wrong:eve-keyx"),
    basic(":"),
    basic("user:eve:key"),
    { authorization: "Basic eve-key" },
    { authorization: "Basic" },
    { authorization: "Basic ä" },
    {},
  ])("not %j", async (headers: Record<string, string>) => {
    const [status, text] = await options(serveKeyed(), headers);
    expect([status, JSON.parse(text)]).toEqual([401, expect.objectContaining({ error: "invalid_api_key" })]);
    expect(text).not.toContain("eve");
  });
});

describe("a request without a valid key is 401 on every route, and nothing is computed", () => {
  const wrong: Record<string, string>[] = [
    {},
    bearer("wrong"),
    bearer("ada-keyx"),
    bearer("ada-ke"),
    { authorization: "ada-key" },
    { authorization: "Basic ada-key" },
    { authorization: "Bearer" },
    { "x-api-key": "" },
    bearer("ada-key, eve-key"),
  ];
  test.each(wrong)("%j", async (headers) => {
    const server = serveKeyed();
    const asked: [string, string][] = [
      ["POST", "/v1/chat/completions"],
      ["POST", "/v1/embeddings"],
      ["POST", "/v1/chat/completions/x/cancel"],
      ["GET", "/v1/models"],
      ["GET", "/v1/files/x/content"],
      ["DELETE", "/v1/files/x"],
      ["GET", "/metrics"],
      ["GET", "/slots"],
      ["GET", "/nowhere"],
    ];
    for (const [method, path] of asked) {
      const response = await fetch(server.url + path, { method, headers });
      expect([path, response.status, response.headers.get("www-authenticate")]).toEqual([path, 401, "Bearer"]);
      const body = await response.text();
      expect(JSON.parse(body)).toEqual({
        error: {
          message: expect.any(String),
          type: "authentication_error",
          param: null,
          code: "invalid_api_key",
          request_id: response.headers.get("x-request-id"),
        },
      });
      for (const { key } of apiKeys) expect(body).not.toContain(key);
    }
    expect(server.engine.requests).toBeEmpty();
  });
});

test("public routes need no key, and the health names models and engines only to requests with a key", async () => {
  const { url } = serveKeyed();
  const open = ["/", "/docs", "/openapi.json", "/v1/health", "/docs/", "/health/"];
  for (const path of open) expect([path, (await fetch(url + path)).status]).toEqual([path, 200]);
  const health = async (headers = {}) =>
    Object.keys((await (await fetch(`${url}/health`, { headers })).json()) as object);
  expect(await health()).toEqual(["status", "timestamp", "version"]);
  expect(await health(bearer("wrong"))).toEqual(["status", "timestamp", "version"]);
  expect(await health(bearer("eve-key"))).toContain("engines");
});

describe("no spelling of a path makes another route public", () => {
  /** Returns the beginning of the answer to a request for this target, written as it is. */
  async function answerTo(target: string, rest: string): Promise<string> {
    const client = await RawClient.connect(serveKeyed().port);
    client.socket.write(`GET ${target} ${rest}\r\n\r\n`);
    await until(() => /\r\n\r\n./s.test(client.received));
    client.leave();
    return client.received;
  }

  test.each([
    "/health/../v1/models",
    "/v1/models#/../../health",
    "/health\\..\\v1\\models",
    "//health",
    "//page/v1/models",
    "/health//",
    "/docs/../metrics",
    // Bun drops the scheme and host of a target. If it kept them, the check and the router could read different paths.
    "http://x/v1/models",
    "http://x\\page/v1/models",
    "http://x#/v1/models",
    "HTTP://x#/v1/models",
    "https://page/v1/models",
    "http://x/page/../v1/models",
  ])("%s", async (target) => {
    for (const version of ["HTTP/1.1", "HTTP/1.0"])
      expect(await answerTo(target, `${version}\r\nHost: localhost`)).toStartWith("HTTP/1.1 401 Unauthorized\r\n");
    expect(await answerTo(target, "HTTP/1.0")).toStartWith("HTTP/1.1 400 Bad Request\r\n");
  });

  test.each(["https://props/", "http://x?/v1/models"])("%s is only the page", async (target) => {
    const answer = await answerTo(target, "HTTP/1.1\r\nHost: localhost");
    expect([answer.slice(0, 16), answer.split("\r\n\r\n")[1]]).toEqual([
      "HTTP/1.1 200 OK\r",
      expect.stringMatching(/^svc .* is running/),
    ]);
  });
});

test("a preflight needs no key, and its page can read that the request itself was refused", async () => {
  const { url, chat } = serveKeyed();
  const origin = "http://localhost:3000";
  const asking = { "access-control-request-method": "POST", "access-control-request-headers": "authorization" };
  const preflight = await fetch(`${url}/v1/chat/completions`, { method: "OPTIONS", headers: { origin, ...asking } });
  expect([preflight.status, preflight.headers.get("access-control-allow-headers")]).toEqual([204, "authorization"]);
  const refused = await chat({}, { origin });
  expect([refused.status, refused.headers.get("access-control-allow-origin")]).toEqual([401, origin]);
  expect((await chat({}, { origin, ...bearer("ada-key") })).status).toBe(200);
});

test("the name of the key is the client, for turns (whatever the request says), in the log and in the metrics", async () => {
  const server = serveKeyed();
  await server.chat({}, { ...bearer("ada-next-key"), "x-svc-client": "many" });
  await server.post("/v1/embeddings", { input: "hi" }, { "x-api-key": "eve-key" });
  await server.chat({});
  expect(server.engine.requests.map(({ client }) => client)).toEqual(["ada"]);
  await until(() => server.log.lines.length === 3);
  expect(server.log.lines.map(({ fields }) => fields["client"])).toEqual(["ada", "eve", "127.0.0.1"]);
  expect(server.metrics.answered).toEqual([
    "/v1/chat/completions 200 ada",
    "/v1/embeddings 200 eve",
    "/v1/chat/completions 401",
  ]);
  const told = JSON.stringify([server.log.lines, server.metrics.answered]);
  for (const { key } of apiKeys) expect(told).not.toContain(key);
});

test("without configured keys, a key in a request is ignored", async () => {
  expect((await serve().chat({}, { ...bearer("any"), "x-api-key": "thing" })).status).toBe(200);
});

test("lines of a batch need no key of their own", async () => {
  const server = serveKeyed();
  const headers = bearer("ada-key");
  const body = { messages: [{ role: "user", content: "hi" }] };
  const line = JSON.stringify({ custom_id: "1", method: "POST", url: "/v1/chat/completions", body });
  const json = async (response: Response) => (await response.json()) as Record<string, string>;
  const file = await json(await fetch(`${server.url}/v1/files`, { method: "POST", body: line, headers }));
  const asked = { input_file_id: file["id"], endpoint: "/v1/chat/completions", completion_window: "1h" };
  let batch = await json(await server.post("/v1/batches", asked, headers));
  while (batch["status"] !== "completed") {
    batch = await json(await fetch(`${server.url}/v1/batches/${batch["id"]}`, { headers }));
    await Bun.sleep(2);
  }
  const output = await fetch(`${server.url}/v1/files/${batch["output_file_id"]}/content`, { headers });
  expect(await output.text()).toContain('"status_code":200');
});
