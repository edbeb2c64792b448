import { expect, test } from "bun:test";
import { join } from "node:path";
import { readTls } from "../../src/config/tls.ts";
import { until } from "../support/until.ts";
import { messages, serve } from "./harness.ts";

const fixture = (name: string) => join(import.meta.dir, "../fixtures/tls", name);
const tls = readTls({ cert: fixture("cert.pem"), key: fixture("key.pem") });
if (!tls) throw new Error("no certificate");
const trusting = { tls: { ca: tls.cert } };

test("with a certificate everything is served over HTTPS only", async () => {
  const server = serve(undefined, { tls });
  expect(server.url).toStartWith("https://127.0.0.1:");
  const body = JSON.stringify({ messages, stream: true });
  const answer = await fetch(`${server.url}/v1/chat/completions`, { method: "POST", body, ...trusting });
  expect(await answer.text()).toEndWith("data: [DONE]\n\n");
  expect(await (await fetch(`${server.url}/docs`, trusting)).text()).toContain("<title>svc API</title>");
  await expect(fetch(server.url)).rejects.toThrow();
  await expect(fetch(server.url.replace("https:", "http:"))).rejects.toThrow();
});

test("a client that disconnects is noticed through the encryption", async () => {
  const server = serve({ steps: [{ text: "Hel" }, { wait: new Promise(() => {}) }] }, { tls });
  const leave = new AbortController();
  const body = JSON.stringify({ messages, stream: true });
  const { signal } = leave;
  const answer = await fetch(`${server.url}/v1/chat/completions`, { method: "POST", body, signal, ...trusting });
  await answer.body?.getReader().read();
  leave.abort();
  await until(() => server.engine.live === 0 && server.metrics.connections === 0);
});

test("the server's own pages may call, and foreign host names are refused", async () => {
  const server = serve(undefined, { tls, allowedHosts: ["nas"] });
  const ask = (headers: Record<string, string>) => fetch(`${server.url}/v1/models`, { headers, ...trusting });
  expect((await ask({ origin: server.url })).status).toBe(200);
  expect((await ask({ host: "nas" })).status).toBe(200);
  expect((await ask({ host: "evil.example" })).status).toBe(403);
});

test("a query after a short host name is not taken for the path", async () => {
  const server = serve(undefined, { tls, allowedHosts: ["pc"], apiKeys: [{ name: "ada", key: "ada-key" }] });
  const ask = (path: string, host: string) => fetch(server.url + path, { headers: { host }, ...trusting });
  for (const host of ["pc", "pc:443"]) expect((await ask("/health?/v1/models", host)).status).toBe(403);
  expect((await ask("/health?/v1/models", `pc:${server.port}`)).status).toBe(200);
  expect((await ask("/v1/models", `pc:${server.port}`)).status).toBe(401);
});
