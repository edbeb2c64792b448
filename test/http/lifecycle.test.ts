import { describe, expect, test } from "bun:test";
import { chatErrors, ErrorEnvelope } from "../../src/contract/errors.ts";
import { checker } from "../../src/contract/schema.ts";
import { SvcError, type ErrorCode } from "../../src/domain/errors.ts";
import { errorResponse } from "../../src/http/plugins/errors.ts";
import { until } from "../support/until.ts";
import { messages, serve, type TestServer } from "./harness.ts";
import { RawClient } from "./raw.ts";

const checkError = checker(ErrorEnvelope);
const path = "/v1/chat/completions";

const everywhere: readonly (readonly [name: string, method: string, path: string, init?: RequestInit])[] = [
  ["a JSON answer", "POST", path, { body: JSON.stringify({ messages }) }],
  ["a stream", "POST", path, { body: JSON.stringify({ messages, stream: true }) }],
  ["400", "POST", path, { body: "{" }],
  ["404", "GET", "/nowhere"],
  ["404 of a cancel", "POST", `${path}/x/cancel`],
  ["405", "GET", path],
  ["OPTIONS", "OPTIONS", path],
  ["403", "GET", "/nowhere", { headers: { origin: "https://evil.example" } }],
];

describe("correlation id", () => {
  const ids = (response: Response) => [response.headers.get("x-request-id"), response.headers.get("compat-request-id")];
  test.each(everywhere)("is echoed under both names on %s", async (_, method, where, init = {}) => {
    const server = serve();
    const headers = { ...init.headers, "X-Request-ID": "mine-1" };
    const response = await fetch(server.url + where, { ...init, method, headers });
    expect(ids(response)).toEqual(["mine-1", "mine-1"]);
    await response.text();
  });

  test("comes from Compat-Request-ID when X-Request-ID is absent, and is generated otherwise", async () => {
    const server = serve();
    const get = (headers: Record<string, string>) => fetch(`${server.url}/nowhere`, { headers });
    expect(ids(await get({ "compat-request-id": "b" }))).toEqual(["b", "b"]);
    expect(ids(await get({ "compat-request-id": "b", "x-request-id": "a" }))).toEqual(["a", "a"]);
    for (const bad of ["", " ", "has space", "x".repeat(129), "caf\u00e9"]) {
      const [first, second] = ids(await get({ "x-request-id": bad }));
      expect(first).toMatch(/^req_[0-9a-f]{12}$/);
      expect(second).toBe(first);
    }
    expect(ids(await get({ "x-request-id": "x".repeat(128) }))[0]).toHaveLength(128);
  });
});

describe("browsers are instructed", () => {
  test.each(everywhere)(
    "not to sniff the type of %s, nor to show it in another page",
    async (_, method, where, init = {}) => {
      const response = await fetch(serve().url + where, { ...init, method });
      await response.text();
      expect(response.headers.get("x-content-type-options")).toBe("nosniff");
      expect(response.headers.get("x-frame-options")).toBe("DENY");
      expect(response.headers.get("content-security-policy")).toBe("default-src 'none'; frame-ancestors 'none'");
    },
  );
});

test("a body with curl's default content type is read as JSON, but not one that a browser sends unasked", async () => {
  const server = serve();
  const send = async (path: string, headers: Record<string, string>) =>
    (await server.post(path, { messages }, { "content-type": "application/x-www-form-urlencoded", ...headers })).status;
  for (const path of ["/v1/chat/completions", "/api/chat"]) {
    expect(await send(path, {})).toBe(200);
    expect(await send(path, { "content-type": "text/plain" })).toBe(200);
    expect(await send(path, { origin: "http://localhost:3000" })).toBe(400);
    expect(await send(path, { "sec-fetch-site": "same-origin" })).toBe(400);
    expect(await send(path, { "content-type": "multipart/form-data; boundary=x" })).toBe(400);
  }
});

test("a form in place of JSON is refused by its type, and JSON with an error as such", async () => {
  const { url } = serve();
  const send = async (body: string) => {
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const response = await fetch(`${url}/v1/embeddings`, { method: "POST", body, headers });
    return ((await response.json()) as { error: { code: string; message: string } }).error;
  };
  const form = await send("model=x&input=hello");
  expect([form.code, form.message]).toEqual([
    "unsupported_media_type",
    expect.stringContaining("x-www-form-urlencoded"),
  ]);
  expect((await send('{"input": "hello",}')).code).toBe("invalid_json");
});

test("a body that is too long is refused with its size and the limit", async () => {
  const { post } = serve();
  const { error } = checkError(await (await post("/v1/audio/speech", " ".repeat(2 ** 20 + 1))).json());
  expect(error.message).toBe("The request body is too long: this route accepts 1 MiB; got 1048577 bytes.");
});

test("a `limit` that is not a number is refused with its length", async () => {
  const { error } = checkError(await (await fetch(`${serve().url}/v1/files?limit=all`)).json());
  expect(error.message).toBe("'limit' must be an integer from 1 to 10000; got a string of length 3.");
});

describe("unknown routes and methods", () => {
  test("are distinguished, in the error envelope", async () => {
    const server = serve();
    const ask = async (method: string, where: string) => {
      const response = await fetch(server.url + where, { method });
      const { error } = checkError(await response.json());
      return [response.status, error.code, response.headers.get("allow")];
    };
    expect(await ask("GET", "/nowhere")).toEqual([404, "not_found", null]);
    expect(await ask("POST", "/v1/chat/completionsx")).toEqual([404, "not_found", null]);
    expect(await ask("OPTIONS", "/nowhere")).toEqual([404, "not_found", null]);
    expect(await ask("GET", path)).toEqual([405, "method_not_allowed", "POST, OPTIONS"]);
    expect(await ask("DELETE", `${path}?x=1`)).toEqual([405, "method_not_allowed", "POST, OPTIONS"]);
    expect(await ask("PUT", `${path}/abc/cancel`)).toEqual([405, "method_not_allowed", "POST, OPTIONS"]);
  });

  test("get an error that names the nearest route and repeats nothing of the request", async () => {
    const server = serve();
    const told = async (where: string) =>
      checkError(await (await fetch(server.url + where)).json()).error.message.split("list all.")[1] ?? "";
    expect(await told("/v1/chat/completion")).toBe(" The nearest is /v1/chat/completions.");
    expect(await told("/openai/v1/chat/completions/")).toBe(" The nearest is /v1/chat/completions.");
    expect(await told("/V1/Modles")).toBe(" The nearest is /v1/models.");
    expect(await told("/v1/transcriptions")).toBe(" The nearest is /v1/audio/transcriptions.");
    expect(await told("/openai/v1/voices")).toBe(" The nearest is /v1/audio/voices.");
    // Their last segment is that of routes about a thing with an id.
    for (const other of ["/v1/cancel", "/zz/content"]) expect(await told(other)).toBe("");
    // Not compared, because of its length, whatever it ends with.
    expect(await told(`/v1/modles${"/".repeat(200)}`)).toBe("");
    for (const other of ["/zz2", "/zzicon.ico", `/${"z".repeat(500)}`]) expect(await told(other)).not.toContain("zz");
  });

  test("routes of /v1 also answer without the prefix, unless compatibility APIs are off", async () => {
    const server = serve();
    expect((await server.post("/chat/completions", { messages })).status).toBe(200);
    expect((await server.post("/completions", { prompt: "a" })).status).toBe(200);
    expect((await server.post("/embeddings", { input: "a" })).status).toBe(200);
    for (const where of ["/rerank", "/reranking", "/v1/reranking"]) {
      expect((await server.post(where, { query: "a", documents: ["b"] })).status).toBe(200);
    }
    expect((await fetch(`${server.url}/models`)).status).toBe(200);
    expect(await (await server.post("/messages", {})).json()).toHaveProperty("type", "error");
    const without = serve(undefined, { compatibilityApis: false });
    expect((await without.post("/chat/completions", { messages })).status).toBe(404);
  });

  test("a query string is accepted, and so is an allowed host name", async () => {
    const server = serve(undefined, { allowedHosts: ["nas"] });
    expect((await server.post(`${path}?beta=true`, { messages })).status).toBe(200);
    expect((await server.post(path, { messages }, { host: "nas" })).status).toBe(200);
  });
});

test("a probe without Host, as load balancers send it, is answered as with one", async () => {
  const { port } = serve();
  const answers = ["HTTP/1.0\r\n", "HTTP/1.0\r\nHost: localhost\r\n"].map(async (rest) => {
    const client = await RawClient.connect(port);
    client.socket.write(`GET /health?from=probe ${rest}X-Request-ID: probe\r\n\r\n`);
    await until(() => client.received.endsWith("}"));
    client.leave();
    // The length of the body depends on the digits of the times in it.
    return client.received.replace(/Date: .*|Content-Length: .*|"(?:uptime\w*|time\w*)":[\d.]+/g, "");
  });
  const [without, usual] = await Promise.all(answers);
  expect(usual).toStartWith("HTTP/1.1 200 ");
  expect(without).toBe(usual as string);
});

test("another request without Host is refused in the envelope", async () => {
  const client = await RawClient.connect(serve().port);
  client.socket.write("GET /v1/models HTTP/1.0\r\nX-Request-ID: old\r\n\r\n");
  await until(() => client.received.includes("}"));
  expect(client.received).toStartWith("HTTP/1.1 400 ");
  expect(client.received).toContain('"param":"Host"');
  expect(client.received).toContain("Compat-Request-ID: old");
  client.leave();
});

describe("browsers", () => {
  const call = (server: TestServer, headers: Record<string, string>) => server.post(path, { messages }, headers);

  test.each([
    "http://localhost",
    "http://localhost:3000",
    "https://127.0.0.1:8443",
    "http://[::1]:5173",
    "http://tauri.localhost",
    "tauri://localhost",
    "app://obsidian.md",
    "vscode-webview://0abc",
    "capacitor://localhost",
  ])("pages of %s may call", async (origin) => {
    const response = await call(serve(), { origin });
    expect(response.status).toBe(200);
    expect(response.headers.get("access-control-allow-origin")).toBe(origin);
    expect(response.headers.get("vary")).toContain("Origin");
    expect(response.headers.get("access-control-expose-headers")).toContain("X-Request-ID");
  });

  test.each([
    "https://example.com",
    "http://localhost.evil.example",
    "http://127.0.0.1.evil.example",
    "http://evil.example:9999",
    "null",
    "file://",
    "chrome-extension://abc",
    "http://192.168.1.5",
    "not a url",
  ])("pages of %s may not, with any method", async (origin) => {
    const server = serve();
    for (const method of ["GET", "POST", "OPTIONS", "DELETE"]) {
      const response = await fetch(server.url + path, { method, headers: { origin } });
      expect(response.status).toBe(403);
      expect(response.headers.get("access-control-allow-origin")).toBeNull();
      expect(checkError(await response.json()).error.code).toBe("forbidden_origin");
    }
    expect(server.engine.requests).toBeEmpty();
  });

  test("pages may read every header that errors have for their clients", async () => {
    const response = await call(serve(), { origin: "http://localhost" });
    const readable = response.headers.get("access-control-expose-headers")?.toLowerCase().split(", ");
    // Pages can always read content-type; the others are for the browser itself.
    const others = ["content-type", "connection", "upgrade", "www-authenticate"];
    for (const code of Object.keys(chatErrors) as ErrorCode[]) {
      const error = errorResponse(new SvcError(code, "", { retryAfterSeconds: 1 }), "id");
      const sent = [...error.headers.keys()].filter((name) => !others.includes(name));
      expect(readable).toEqual(expect.arrayContaining(sent));
    }
  });

  test("--cors-origin admits one origin or all", async () => {
    const one = serve(undefined, { corsOrigins: ["https://app.example"] });
    expect((await call(one, { origin: "https://app.example" })).headers.get("access-control-allow-origin")).toBe(
      "https://app.example",
    );
    expect((await call(one, { origin: "https://other.example" })).status).toBe(403);
    const all = serve(undefined, { corsOrigins: ["*"] });
    expect((await call(all, { origin: "https://other.example" })).headers.get("access-control-allow-origin")).toBe("*");
  });

  test("pages that --cors-origin admits may do nothing that is meant for this machine alone", async () => {
    const origin = "https://app.example";
    for (const corsOrigins of [[origin], ["*"]]) {
      const server = serve(undefined, { corsOrigins });
      for (const [method, where] of [
        ["POST", "/api/pull"],
        ["DELETE", "/api/delete"],
        ["POST", "/lora-adapters"],
        ["POST", "/upstreams/up/drain"],
      ] as const) {
        const asked = async (from: string) =>
          (await fetch(server.url + where, { method, body: "{", headers: { origin: from } })).status === 403;
        expect([where, await asked(origin), await asked(server.url)]).toEqual([where, true, false]);
      }
      await (await call(server, {})).text();
      const list = await fetch(`${server.url}/v1/requests`, { headers: { origin } });
      const [request] = ((await list.json()) as { data: { state: string }[] }).data;
      expect(request).toMatchObject({ state: "ended" });
      expect(request).not.toHaveProperty("id");
    }
  });

  test.each(["127.0.0.1", "0.0.0.0"])("bound to %s: a foreign Host is refused, known ones are not", async (bound) => {
    const server = serve(undefined, { host: bound, allowedHosts: ["Box.local"] });
    const local = { ...server, url: `http://127.0.0.1:${server.port}` };
    const ask = (host: string) => fetch(`${local.url}/v1/files`, { headers: { host } });
    for (const host of [
      "localhost",
      "localhost:1234",
      "127.0.0.1",
      "127.1.2.3:80",
      "[::1]:9999",
      "192.168.1.5:9999",
      "[fd00::5]",
      "box.local:9999",
      "LOCALHOST.",
    ]) {
      expect([host, (await ask(host)).status]).toEqual([host, 200]);
    }
    for (const host of [
      "evil.example",
      "evil.example:9999",
      "localhost.evil.example",
      "127.0.0.1.evil.example",
      "box",
    ]) {
      const response = await ask(host);
      expect([host, response.status]).toEqual([host, 403]);
      expect(checkError(await response.json()).error.code).toBe("forbidden_host");
    }
  });

  test("a page of another site can neither show nor link to data, only to public pages", async () => {
    const server = serve();
    const foreign = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" };
    const ask = async (where: string, more: Record<string, string> = {}) => {
      const response = await fetch(server.url + where, { headers: { ...foreign, ...more } });
      return [response.status, await response.text()] as const;
    };
    for (const where of ["/", "/docs", "/docs/", "/openapi.json", "/health"]) expect((await ask(where))[0]).toBe(200);
    for (const where of ["/v1/files", "/v1/batches", "/v1/models", "/metrics", "/props", "/nowhere"]) {
      const [status, body] = await ask(where);
      expect([where, status, checkError(JSON.parse(body)).error.code]).toEqual([where, 403, "forbidden_origin"]);
    }
    expect(JSON.parse((await ask("/v1/messages/count_tokens"))[1])).toMatchObject({
      type: "error",
      error: { type: "permission_error" },
    });
    expect(JSON.parse((await ask("/api/tags"))[1])).toEqual({ error: expect.any(String) });
    expect((await ask("/v1/files", { "sec-fetch-site": "none" }))[0]).toBe(200);
    expect((await ask("/v1/files", { "sec-fetch-site": "same-origin" }))[0]).toBe(200);
    expect((await ask("/v1/files", { origin: "http://localhost:3000" }))[0]).toBe(200);
  });

  test("--cors-origin allows such pages by their origin, or all of them", async () => {
    const headers = { "sec-fetch-site": "cross-site" };
    const origin = "https://app.example";
    const one = serve(undefined, { corsOrigins: [origin] });
    expect((await fetch(`${one.url}/v1/files`, { headers })).status).toBe(403);
    expect((await fetch(`${one.url}/v1/files`, { headers: { ...headers, origin } })).status).toBe(200);
    const all = serve(undefined, { corsOrigins: ["*"] });
    expect((await fetch(`${all.url}/v1/files`, { headers })).status).toBe(200);
  });

  test("errors after that check are readable for allowed pages", async () => {
    const response = await fetch(`${serve().url}/nowhere`, { headers: { origin: "http://localhost:3000" } });
    expect([response.status, response.headers.get("access-control-allow-origin")]).toEqual([
      404,
      "http://localhost:3000",
    ]);
  });

  test("bound to the network: the server's own pages may call by address, and by name only if the name is allowed", async () => {
    const server = serve(undefined, { host: "0.0.0.0", allowedHosts: ["box.local"] });
    const url = `http://127.0.0.1:${server.port}${path}`;
    const status = async (host: string, origin?: string) => {
      const headers = { host, ...(origin !== undefined && { origin }) };
      return (await fetch(url, { method: "POST", headers, body: JSON.stringify({ messages }) })).status;
    };
    expect(await status("192.168.1.5:9999")).toBe(200);
    expect(await status("192.168.1.5:9999", "http://192.168.1.5:9999")).toBe(200);
    expect(await status("192.168.1.5:9999", "http://192.168.1.6:9999")).toBe(403);
    expect(await status("box.local", "http://box.local")).toBe(200);
    expect(await status("evil.example", "http://evil.example")).toBe(403);
  });

  test("a preflight is answered with the requested method and headers", async () => {
    const response = await fetch(serve().url + path, {
      method: "OPTIONS",
      headers: {
        origin: "http://localhost:3000",
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type,x-stainless-lang",
        "access-control-request-private-network": "true",
      },
    });
    expect(response.status).toBe(204);
    expect(response.headers.get("access-control-allow-origin")).toBe("http://localhost:3000");
    expect(response.headers.get("access-control-allow-methods")).toBe("POST, OPTIONS");
    expect(response.headers.get("access-control-allow-headers")).toBe("content-type,x-stainless-lang");
    expect(response.headers.get("access-control-allow-private-network")).toBe("true");
  });
});

test("requests for status do not count as connections, whatever the spelling of their path", async () => {
  const server = serve();
  let seen = 0;
  server.metrics.connectionOpened = () => void seen++;
  const looks = [
    "/metrics",
    "/metrics/",
    "/health",
    "/openapi.json",
    "/docs",
    "/v1/requests",
    "/requests",
    "/upstreams",
  ];
  for (const where of looks) await fetch(server.url + where);
  expect(seen).toBe(0);
  await fetch(`${server.url}/nowhere`);
  expect(seen).toBe(1);
});
