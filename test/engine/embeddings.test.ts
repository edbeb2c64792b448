// The real program with an embedding model that takes minutes for a large request: cancelling, deadlines, crashes,
// idle unloading.

import { expect, setDefaultTimeout, test } from "bun:test";
import { basename, join } from "node:path";
import { makeModel } from "../bench/make-model.ts";
import { parseExposition } from "../support/exposition.ts";
import { errorOf } from "../support/fault.ts";
import { childrenOf } from "../support/processes.ts";
import { withServer, type TestServer } from "../support/server.ts";
import { until } from "../support/until.ts";

setDefaultTimeout(120_000);

const model = makeModel("60m", join(import.meta.dir, "../../vendor/.build/models"));
const FLAGS = ["--ctx", "2048", "--parallel", "2", "--threads", "1", "--embedding-model", model];
/** Far more than can be computed during the test. */
const LARGE = { input: Array.from({ length: 2048 }, (_, at) => `${at} ${"word ".repeat(90)}`) };

interface EngineLine {
  readonly kind: string;
  readonly state: string;
  readonly restarts: number;
  readonly running: number;
  readonly last_error?: string;
}

const embed = ({ url }: TestServer, body: object, headers: Record<string, string> = {}) =>
  fetch(`${url}/v1/embeddings`, { method: "POST", headers, body: JSON.stringify(body) });

async function engine({ url }: TestServer): Promise<EngineLine> {
  const { engines } = (await (await fetch(`${url}/health`)).json()) as { engines: EngineLine[] };
  const line = engines.find(({ kind }) => kind === "embedding");
  if (!line) throw new Error("the health has no line of the embedding engine");
  return line;
}

const isComputing = (server: TestServer) => until(async () => (await engine(server)).running === 1, 10_000);

test("a large request ends midway by its id, at its deadline, and when its client disconnects", async () => {
  await withServer(FLAGS, async (server) => {
    expect(await engine(server)).toMatchObject({ state: "unloaded", restarts: 0 });
    expect((await embed(server, { input: "warm" })).status).toBe(200);
    expect(await engine(server)).toMatchObject({ state: "ready", device: expect.stringContaining("CPU") });
    const listed = await (await fetch(`${server.url}/v1/models`)).json();
    expect(listed).toMatchObject({
      data: expect.arrayContaining([expect.objectContaining({ id: basename(model, ".gguf"), context_length: 2048 })]),
      models: expect.arrayContaining([expect.objectContaining({ capabilities: ["embeddings"], dimensions: 512 })]),
    });
    const cancelled = embed(server, LARGE, { "x-request-id": "large" });
    await isComputing(server);
    const cancel = await fetch(`${server.url}/v1/chat/completions/large/cancel`, { method: "POST" });
    expect(await cancel.json()).toMatchObject({ id: "large", cancelled: true });
    const ended = await cancelled;
    expect([ended.status, (await errorOf(ended)).code]).toEqual([499, "request_cancelled"]);

    const late = await embed(server, LARGE, { "x-svc-deadline-ms": "1500" });
    expect([late.status, (await errorOf(late)).code]).toEqual([504, "deadline_exceeded"]);

    const leave = new AbortController();
    const left = fetch(`${server.url}/v1/embeddings`, {
      method: "POST",
      body: JSON.stringify(LARGE),
      signal: leave.signal,
    }).catch(() => "left");
    await isComputing(server);
    leave.abort();
    expect(await left).toBe("left");

    // Nothing of the large request is computed any more: a small request finds the engine free.
    expect((await embed(server, { input: "free" })).status).toBe(200);
    expect((await engine(server)).running).toBe(0);
    const metrics = parseExposition(await server.metrics());
    const count = (name: string, label: string) =>
      metrics
        .get(name)
        ?.samples.find(({ labels }) => labels["engine"] === "embedding" && Object.values(labels).includes(label))
        ?.value;
    expect(count("svc_request_success_total", "stop")).toBe(2);
    expect(count("svc_request_success_total", "cancelled")).toBe(2);
    expect(count("svc_request_failure_total", "deadline_exceeded")).toBe(1);
  });
});

test("kill -9 midway gives a typed error, appears in health and metrics, and the next request is served", async () => {
  await withServer(FLAGS, async (server) => {
    const text = server.enginePid();
    const lost = embed(server, LARGE);
    await isComputing(server);
    for (const pid of childrenOf(server.pid)) if (pid !== text) process.kill(pid, "SIGKILL");
    const crashed = await lost;
    expect([crashed.status, (await errorOf(crashed)).code]).toEqual([500, "engine_crashed"]);
    expect(await engine(server)).toMatchObject({ last_error: expect.stringContaining("SIGKILL") });
    expect((await embed(server, { input: "again" })).status).toBe(200);
    expect(await engine(server)).toMatchObject({ state: "ready", restarts: 1 });
    const metrics = parseExposition(await server.metrics());
    const restarts = metrics
      .get("svc_engine_restarts_total")
      ?.samples.filter(({ labels }) => labels["engine"] === "embedding");
    expect(restarts?.map(({ value }) => value)).toEqual([1]);
  });
});

test("an idle model is unloaded with its process, and the next request loads it again", async () => {
  await withServer([...FLAGS, "--idle-unload", "0.005"], async (server) => {
    const before = childrenOf(server.pid).length;
    expect((await embed(server, { input: "a" })).status).toBe(200);
    await until(async () => (await engine(server)).state === "unloaded", 10_000);
    await until(async () => childrenOf(server.pid).length === before, 10_000);
    expect((await embed(server, { input: "b" })).status).toBe(200);
    expect(await engine(server)).toMatchObject({ restarts: 0 });
  });
});
