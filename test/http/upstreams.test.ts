// Upstreams as operators see them: GET /upstreams, draining, /health and /metrics.

import { expect, test } from "bun:test";
import { Health } from "../../src/contract/health.ts";
import { checker } from "../../src/contract/schema.ts";
import { Upstream, UpstreamList } from "../../src/contract/upstreams.ts";
import { systemClock } from "../../src/domain/clock.ts";
import { PrometheusMetrics } from "../../src/telemetry/prometheus.ts";
import { chatServer, delta, eventStream, fixtureServer, helloStream, modelList } from "../gateway/fixture-server.ts";
import { remote } from "../gateway/remote.ts";
import { parseExposition } from "../support/exposition.ts";
import { until } from "../support/until.ts";
import { hello, serve } from "./harness.ts";

const checkList = checker(UpstreamList);
const checkUpstream = checker(Upstream);
const checkHealth = checker(Health);
const read = async (response: Response | Promise<Response>) => (await response).json();

test("/upstreams reports the state and counts of each replica, and keeps them when a replica dies", async () => {
  const [first, second] = [chatServer(helloStream), chatServer(helloStream)];
  const far = await remote([first.url, second.url]);
  const server = serve(hello, {}, [far.gateway]);
  await server.chat({ model: "up/far" });
  const list = async () => checkList(await read(fetch(`${server.url}/upstreams`))).data[0];
  const before = await list();
  expect(before).toMatchObject({ name: "up", configured: true });
  expect(before?.replicas.map(({ state }) => state)).toEqual(["up", "up"]);
  expect(before?.replicas.reduce((sum, { completion_tokens }) => sum + completion_tokens, 0)).toBe(2);
  const health = async () => checkHealth(await read(fetch(`${server.url}/health`)));
  expect(await health()).toMatchObject({
    status: "healthy",
    upstreams: [{ name: "up", state: "up", replicas: 2, down: [], slow: [] }],
  });

  await first.stop();
  for (let look = 0; look < 2; look++) await far.replicas[0]?.refresh(0);
  // The other replica continues to serve.
  expect(await health()).toMatchObject({ status: "healthy", upstreams: [{ state: "up", down: [first.url] }] });
  expect((await server.chat({ model: "up/far" })).status).toBe(200);
  await second.stop();
  for (let look = 0; look < 2; look++) await far.replicas[1]?.refresh(0);
  expect(await health()).toMatchObject({ status: "degraded", upstreams: [{ name: "up", state: "down" }] });
  const after = await list();
  expect(after?.replicas[0]).toMatchObject({
    state: "down",
    outages: 1,
    last_error: "The server of this model cannot be reached: nothing listens at its address.",
  });
  expect(after?.replicas[0]?.retry_ms).toBeGreaterThan(0);
});

test("the log names the replica that answered, the number of failures before, and what failed", async () => {
  let count = 0;
  const full = () => Response.json({ error: { message: "private words" } }, { status: 503 });
  const far = fixtureServer(({ path }) => {
    if (path === "/v1/models") return Response.json(modelList("far", "bge-m3"));
    if (count++ % 2 === 0) return full();
    return path === "/v1/embeddings" ? Response.json({ data: [{ index: 0, embedding: [1] }] }) : helloStream();
  });
  const { gateway, log } = await remote([far.url]);
  const server = serve(hello, {}, [gateway]);
  const id = { "x-request-id": "mine" };
  expect((await server.chat({ model: "up/far" }, id)).status).toBe(200);
  expect((await server.post("/v1/embeddings", { model: "up/bge-m3", input: "a" }, id)).status).toBe(200);
  const requests = () => server.log.lines.filter(({ message }) => message === "request");
  await until(() => requests().length === 2);
  for (const { fields } of requests()) expect(fields).toMatchObject({ replica: far.url, retries: 1 });
  const failed = log.lines.filter(({ level }) => level === "verbose");
  const why = "The server of this model is at capacity.";
  expect(failed.map(({ fields }) => fields)).toEqual(
    [1, 2].map(() => ({ id: "mine", replica: far.url, code: "server_busy", why, ms: expect.any(Number) })),
  );
});

test("/health names slow replicas", async () => {
  const far = chatServer(() => eventStream([delta({ content: "Hel" })], { hold: true }));
  const time = { now: 0 };
  const { gateway, replicas } = await remote([far.url], { clock: { now: () => time.now, wall: () => 0 } });
  const server = serve(hello, {}, [gateway]);
  const leave = new AbortController();
  const body = JSON.stringify({ model: "up/far", stream: true, messages: [{ role: "user", content: "hi" }] });
  void fetch(`${server.url}/v1/chat/completions`, { method: "POST", body, signal: leave.signal }).catch(() => {});
  await until(() => replicas[0]?.stats.firstTokens.count === 1);
  time.now = 11_000;
  expect(checkHealth(await read(fetch(`${server.url}/health`)))).toMatchObject({
    status: "healthy",
    upstreams: [{ state: "up", down: [], slow: [far.url] }],
  });
  leave.abort();
  await until(() => server.requests.activeCount === 0);
});

test("an upstream or one replica can be drained and resumed", async () => {
  const far = chatServer(helloStream);
  const { gateway } = await remote([far.url]);
  const server = serve(hello, { serveModel: false }, [gateway]);
  const drained = checkUpstream(await read(server.post("/upstreams/up/drain", { replica: far.url })));
  expect(drained.replicas.map(({ state }) => state)).toEqual(["drained"]);
  const refused = await server.chat({ model: "up/far" });
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "30"]);
  const health = async () => checkHealth(await read(fetch(`${server.url}/health`)));
  expect(await health()).toMatchObject({ status: "degraded", upstreams: [{ name: "up", state: "drained", down: [] }] });
  // The body is optional.
  const resumed = await fetch(`${server.url}/upstreams/up/resume`, { method: "POST" });
  expect(await resumed.json()).toMatchObject({ replicas: [{ state: "up" }] });
  expect(await health()).toMatchObject({ status: "healthy", upstreams: [{ state: "up" }] });
  expect((await server.chat({ model: "up/far" })).status).toBe(200);

  const failures = [
    ["/upstreams/nobody/drain", {}, 404, "not_found"],
    ["/upstreams/up/drain", { replica: "http://127.0.0.1:1" }, 404, "not_found"],
    ["/upstreams/up/drain", { replica: 1 }, 400, "invalid_type"],
    ["/upstreams/up/drain", "{", 400, "invalid_json"],
  ] as const;
  for (const [path, body, status, code] of failures) {
    const answer = await server.post(path, body);
    expect([answer.status, await answer.json()]).toMatchObject([status, { error: { code } }]);
  }
  expect((await server.post("/upstreams/up/drain", { replica: null })).status).toBe(200);
});

test("the query can name a replica, as the body does", async () => {
  const [first, second] = [chatServer(helloStream), chatServer(helloStream)];
  const { gateway } = await remote([first.url, second.url]);
  const server = serve(hello, { serveModel: false }, [gateway]);
  const only = (url: string) => `?replica=${encodeURIComponent(url)}`;
  const states = async (path: string, body?: object) => {
    const answer = await (body ? server.post(path, body) : fetch(server.url + path, { method: "POST" }));
    return checkUpstream(await read(answer)).replicas.map(({ state }) => state);
  };
  expect(await states(`/upstreams/up/drain${only(second.url)}`)).toEqual(["up", "drained"]);
  expect(await states(`/upstreams/up/drain${only(first.url)}`, {})).toEqual(["drained", "drained"]);
  expect(await states(`/upstreams/up/resume${only(first.url)}`, { replica: first.url })).toEqual(["up", "drained"]);

  const refused = async (query: string, body: object) => {
    const answer = await server.post(`/upstreams/up/drain${query}`, body);
    const { error } = (await read(answer)) as { readonly error: { readonly code: string } };
    return [answer.status, error.code];
  };
  expect(await refused(only(first.url), { replica: second.url })).toEqual([400, "invalid_value"]);
  expect(await refused("?replica=", {})).toEqual([404, "not_found"]);
  expect(gateway.status()[0]?.replicas.map(({ state }) => state)).toEqual(["up", "drained"]);
});

test("draining is allowed from this machine, and from elsewhere with an API key", async () => {
  const far = chatServer(helloStream);
  const { gateway } = await remote([far.url]);
  const open = serve(hello, { host: "0.0.0.0" }, [gateway]);
  const local = open.url.replace("0.0.0.0", "127.0.0.1");
  expect((await fetch(`${local}/upstreams/up/drain`, { method: "POST" })).status).toBe(403);
  expect(gateway.status()[0]?.replicas[0]?.state).toBe("up");
  const key = { name: "ops", key: "secret" };
  const closed = serve(hello, { host: "0.0.0.0", apiKeys: [key] }, [gateway]);
  const there = `${closed.url.replace("0.0.0.0", "127.0.0.1")}/upstreams`;
  expect((await fetch(there)).status).toBe(401);
  const drain = (headers: Record<string, string>) => fetch(`${there}/up/drain`, { method: "POST", headers });
  expect((await drain({})).status).toBe(401);
  expect((await drain({ authorization: "Bearer secret" })).status).toBe(200);
});

test("requests to upstreams appear in the metrics under the names of their models and replicas", async () => {
  const far = chatServer(() => eventStream([delta({ content: "Hel" })], { hold: true }));
  const { gateway, replicas } = await remote([far.url]);
  const server = serve(hello, {}, [gateway]);
  const counters = new PrometheusMetrics(systemClock);
  server.metrics.render = (levels) => counters.render(levels);
  const leave = new AbortController();
  const body = (model: string) => ({
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model, stream: true, messages: [{ role: "user", content: "hi" }] }),
    signal: leave.signal,
  });
  for (let count = 0; count < 8; count++)
    void fetch(`${server.url}/v1/chat/completions`, body("up/far")).catch(() => {});
  // A model name that the upstream does not have gets no label.
  void fetch(`${server.url}/v1/chat/completions`, body("up/made-up")).catch(() => {});
  await until(() => replicas[0]?.stats.firstTokens.count === 9);
  const families = parseExposition(await (await fetch(`${server.url}/metrics`)).text());
  const samples = (name: string) => families.get(name)?.samples;
  expect(samples("svc_num_requests_running")).toContainEqual({
    name: "svc_num_requests_running",
    labels: { model_name: "up/far", engine: "text" },
    value: 8,
  });
  const labels = { upstream: "up", replica: far.url };
  expect(samples("svc_upstream_requests_running")).toEqual([
    { name: "svc_upstream_requests_running", labels, value: 9 },
  ]);
  expect(samples("svc_upstream_up")).toEqual([{ name: "svc_upstream_up", labels, value: 1 }]);
  expect(samples("svc_upstream_time_to_first_token_seconds")?.at(-1)).toMatchObject({ labels, value: 9 });
  expect(JSON.stringify([...families.values()])).not.toContain("made-up");
  leave.abort();
  await until(() => server.requests.activeCount === 0);
});
