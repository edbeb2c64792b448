import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { modelTable } from "../../src/cli/models.ts";
import { readTls } from "../../src/config/tls.ts";
import { serve } from "../http/harness.ts";
import { freePort } from "../support/free-port.ts";
import { runSvc } from "../support/program.ts";

setDefaultTimeout(30_000);

const models = (port: number, ...more: string[]) => ask("models", port, ...more);

const ask = (command: string, port: number, ...more: string[]) =>
  runSvc([command, "--port", String(port), ...more], { env: { HOME: "/nonexistent" } });

test("svc models prints the models of the running server", async () => {
  const { code, out } = await models(serve().port);
  expect(code).toBe(0);
  expect(out).toMatch(/^NAME\s+OWNER\s+LOADED\s+CONTEXT\s+CAPABILITIES\nfake-model\s+svc\s+yes\s+4096\s+chat, /);
});

test("svc models --json prints the server's own listing", async () => {
  const { port } = serve();
  const { code, out } = await models(port, "--json");
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    object: "list",
    data: expect.arrayContaining([expect.objectContaining({ id: "fake-model" })]),
  });
});

test("svc models sends the first of its API keys, and reports when the server requires another", async () => {
  const { port } = serve(undefined, { apiKeys: [{ name: "ada", key: "secret" }] });
  expect((await models(port, "--api-key", "ada=secret")).out).toContain("fake-model");
  const { code, err } = await models(port, "--api-key", "wrong");
  expect([code, err]).toEqual([1, expect.stringContaining("requires an API key")]);
  expect(err).not.toContain("wrong");
});

test.each(["models", "upstreams", "wait"])("svc %s tells at once why a server refuses it", async (command) => {
  const message =
    "This server does not accept the host name in the Host header. Start svc with --allowed-host NAME to accept it.";
  const answers = [
    Response.json({ error: { message, code: "forbidden_host" } }, { status: 403 }),
    new Response("", { status: 403 }),
    Response.json({ error: { message: "No key." } }, { status: 401 }),
  ];
  using server = Bun.serve({ port: 0, fetch: () => answers.shift() ?? new Response("", { status: 500 }) });
  const { port = 0 } = server;
  const refusal = async () => {
    const { code, out, err } = await ask(command, port);
    expect([code, out]).toEqual([1, ""]);
    return err;
  };
  const url = `http://127.0.0.1:${port}`;
  expect(await refusal()).toBe(`svc: ${url} refuses this request: ${message}\n`);
  expect(await refusal()).toBe(`svc: ${url} refuses this request: 403 Forbidden.\n`);
  expect(await refusal()).toStartWith(`svc: ${url} requires an API key`);
});

test("svc wait waits for a server that is loading", async () => {
  const answers = [
    Response.json({ status: "loading" }, { status: 503 }),
    Response.json({ error: { message: "Starting." } }, { status: 503 }),
  ];
  using server = Bun.serve({ port: 0, fetch: () => answers.shift() ?? Response.json({ status: "healthy" }) });
  const { port = 0 } = server;
  expect(await ask("wait", port)).toEqual({ code: 0, out: `http://127.0.0.1:${port}\n`, err: "" });
});

const down = { name: "gpu", state: "down" };
const failed = { state: "failed", last_error: "It ran out of memory." };

test.each([
  ["an upstream is down", { engine: { state: "ready" }, upstreams: [down] }],
  ["a model that is loaded on first use failed", { engine: { state: "ready" }, engines: [failed] }],
  ["one of a gateway's upstreams is down", { engine: { state: "none" }, upstreams: [down, { state: "up" }] }],
  ["a gateway's model that is loaded on first use failed", { engine: { state: "none" }, engines: [failed] }],
])("svc wait does not wait for the rest when %s", async (_, health) => {
  using server = Bun.serve({ port: 0, fetch: () => Response.json({ status: "degraded", ...health }) });
  const url = `http://127.0.0.1:${server.port}`;
  const err = `svc: The server at ${url} is degraded: ${url}/health names what fails.\n`;
  expect(await ask("wait", server.port ?? 0)).toEqual({ code: 0, out: `${url}\n`, err });
});

test.each([
  ["its model failed", { engine: failed }, ""],
  ["its model is still loading", { engine: { state: "loading" }, upstreams: [down] }, ""],
  ["it has no model, and no upstream answers", { engine: { state: "none" }, upstreams: [down] }, ""],
  ["it says no more without an API key", {}, " With an API key, svc wait sees whether its model serves."],
])("svc wait fails for a degraded server when %s", async (_, health, hint) => {
  using server = Bun.serve({ port: 0, fetch: () => Response.json({ status: "degraded", ...health }) });
  const { code, out, err } = await ask("wait", server.port ?? 0, "--timeout", "1");
  const sentence = `svc: The server is degraded at http://127.0.0.1:${server.port} after 1 s.${hint}\n`;
  expect([code, out, err]).toEqual([1, "", sentence]);
});

test.each([
  ["that is silent at last by what it said before", () => new Promise<never>(() => {}), "The server is loading"],
  ["that is gone at last as gone", () => new Response("<html>", { status: 502 }), "No svc answers"],
])("svc wait reports a server %s", async (_, afterwards, found) => {
  let asked = 0;
  const loading = () => Response.json({ status: "loading" }, { status: 503 });
  using server = Bun.serve({ port: 0, idleTimeout: 0, fetch: () => (asked++ === 0 ? loading() : afterwards()) });
  const { err } = await ask("wait", server.port ?? 0, "--timeout", "1");
  expect(err).toBe(`svc: ${found} at http://127.0.0.1:${server.port} after 1 s.\n`);
});

test("svc wait gives up after its timeout, also when a server accepts the request and is silent", async () => {
  using server = Bun.serve({ port: 0, idleTimeout: 0, fetch: () => new Promise<never>(() => {}) });
  const { port = 0 } = server;
  const asked = ask("wait", port, "--timeout", "0.2");
  const inTime = Bun.sleep(8000).then(() => "still waiting");
  const err = `svc: No svc answers at http://127.0.0.1:${port} after 0.2 s.\n`;
  expect(await Promise.race([asked, inTime])).toEqual({ code: 1, out: "", err });
});

test("svc models uses HTTPS for a server with a certificate, and refuses a different certificate", async () => {
  const fixture = (name: string) => join(import.meta.dir, "../fixtures/tls", name);
  const [cert, key] = [fixture("cert.pem"), fixture("key.pem")];
  const tls = readTls({ cert, key });
  const { port } = serve(undefined, tls && { tls });
  expect((await models(port, "--tls-cert", cert, "--tls-key", key)).out).toContain("fake-model");
  const another = readTls({ cert: fixture("another.pem"), key });
  const server = serve(undefined, another && { tls: another });
  const given = ["--api-key", "secret", "--tls-cert", cert, "--tls-key", key];
  expect((await models(server.port, ...given)).err).toContain("No model server answers");
  expect(server.log.lines).toEqual([]);
});

test.each(["models", "upstreams", "wait"])("svc %s says at once whether a server uses HTTPS", async (command) => {
  const fixture = (name: string) => join(import.meta.dir, "../fixtures/tls", name);
  const [cert, key] = [fixture("cert.pem"), fixture("key.pem")];
  const tls = readTls({ cert, key });
  const { port } = serve(undefined, tls && { tls });
  const { code, err } = await ask(command, port);
  const sentence = `svc: The server at https://127.0.0.1:${port} uses HTTPS: give the --tls-cert and --tls-key that it was started with.\n`;
  expect([code, err]).toEqual([1, sentence]);
  const plain = serve();
  const hint = `svc: The server at http://127.0.0.1:${plain.port} does not use HTTPS: leave out --tls-cert and --tls-key.\n`;
  expect(await ask(command, plain.port, "--tls-cert", cert, "--tls-key", key)).toEqual({ code: 1, out: "", err: hint });
});

test("svc models says where it looked when there is no server", async () => {
  const port = await freePort();
  const { code, out, err } = await models(port);
  expect([code, out]).toEqual([1, ""]);
  expect(err).toContain(`http://127.0.0.1:${port}`);
});

test("a name of another program sends the terminal nothing, and begins no line", () => {
  expect(modelTable({ data: [{ id: "far/\u001b[2Ja\nb", owned_by: "vllm" }] })).toBe(
    "NAME         OWNER  LOADED  CONTEXT  CAPABILITIES\nfar/ [2Ja b  vllm   yes\n",
  );
});

test("columns are aligned, and unknown values are left empty", () => {
  const table = modelTable({
    data: [
      { id: "far/very-long-name", owned_by: "vllm", loaded: false },
      { id: "a", owned_by: "svc", loaded: true, max_context_length: 4096 },
    ],
    models: [{ name: "a", capabilities: ["chat", "tools"] }],
  });
  expect(table).toBe(
    [
      "NAME                OWNER  LOADED  CONTEXT  CAPABILITIES",
      "far/very-long-name  vllm   no",
      "a                   svc    yes     4096     chat, tools",
      "",
    ].join("\n"),
  );
});

test("on a terminal, capabilities continue below, or stand below where names leave no room", () => {
  const listing = {
    data: [
      { id: "fake", owned_by: "svc", max_context_length: 4096 },
      { id: "bare", owned_by: "svc" },
    ],
    models: [{ name: "fake", capabilities: ["chat", "completion", "streaming", "tools"] }],
  };
  expect(modelTable(listing, 56).split("\n")).toEqual([
    "NAME  OWNER  LOADED  CONTEXT  CAPABILITIES",
    "fake  svc    yes     4096     chat, completion,",
    "                              streaming, tools",
    "bare  svc    yes",
    "",
  ]);
  expect(modelTable(listing, 40).split("\n")).toEqual([
    "NAME  OWNER  LOADED  CONTEXT",
    "    CAPABILITIES",
    "fake  svc    yes     4096",
    "    chat, completion, streaming, tools",
    "bare  svc    yes",
    "",
  ]);
});
