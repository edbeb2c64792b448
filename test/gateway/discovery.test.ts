import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Discovery } from "../../src/gateway/discovery.ts";
import { Gateway } from "../../src/gateway/gateway.ts";
import { parseSockets } from "../../src/gateway/listening-ports.ts";
import { isCandidate, KNOWN_PORTS } from "../../src/gateway/known-servers.ts";
import { systemClock } from "../../src/domain/clock.ts";
import { serve } from "../http/harness.ts";
import { RecordingLog } from "../support/recording-log.ts";
import { until } from "../support/until.ts";
import { chatServer, fixtureServer, helloStream, modelList } from "./fixture-server.ts";
import { remote } from "./remote.ts";
import { Replica } from "../../src/gateway/replica.ts";
import { Upstream } from "../../src/gateway/upstream.ts";
import { plainRequest } from "../support/request.ts";

const timeouts = { connectMs: 1000, silenceMs: 2000 };

/** Starts a server at a port that is not well-known but is probed; the kernel does not always assign one. */
function serverAtCandidate() {
  for (let port = 61_000; isCandidate(port); port++) {
    try {
      return chatServer(helloStream, port);
    } catch {
      // The port is taken by another process.
    }
  }
  throw new Error("no port is free");
}

/** Probes only these ports: tests never probe the well-known ones. */
function gatewayAt(ports: readonly number[]) {
  const discovery = new Discovery({
    ports,
    named: [],
    names: [],
    listeningPorts: async () => [],
    timeouts,
    clock: systemClock,
  });
  const gateway = new Gateway({ configured: [], discovery, clock: systemClock, log: new RecordingLog() });
  return { discovery, gateway };
}

test("docs/gateway.md names the ports that are probed", () => {
  const page = readFileSync(join(import.meta.dir, "../../docs/gateway.md"), "utf8").replaceAll(/\s+/g, " ");
  for (const [port, kind] of KNOWN_PORTS) expect(page).toContain(`${port} (\`${kind}\`)`);
  const [, text = ""] = /every other port where a program listens from ([^.]*)\./.exec(page) ?? [];
  const ranges = text.split(/, (?:and )?/).map((range) => range.match(/\d+/g)?.map(Number) ?? []);
  const named = (port: number) => ranges.some(([first = 0, last = first]) => first <= port && port <= last);
  const ports = Array.from({ length: 65_536 }, (_, port) => port);
  expect(ports.filter((port) => named(port) !== isCandidate(port))).toEqual([]);
});

test("servers at the given ports are found under their address, and servers without models are not", async () => {
  const far = chatServer(helloStream);
  const svc = serve();
  const web = fixtureServer(() => new Response("<html>hello</html>"));
  const ports = [web.port, far.port, svc.port].toSorted((a, b) => a - b);
  const { discovery, gateway } = gatewayAt(ports);
  await gateway.start();
  const found = () => gateway.models().map(({ id, ownedBy }) => `${id} ${ownedBy}`);
  const near = ["fake-model", "fake-embedding"].map((model) => `localhost:${svc.port}/${model} svc`);
  const expected = [`localhost:${far.port}/far someone`, ...near];
  expect(found().toSorted()).toEqual(expected.toSorted());
  expect(found()).toEqual(found());
  expect(gateway.find("far")?.chat?.model).toBe(`localhost:${far.port}/far`);
  expect(gateway.find(`localhost:${far.port}/other`).chat).toBeUndefined();
  expect(gateway.find("other").chat).toBeUndefined();

  // A server that stops is shown as not loaded before it is forgotten.
  await far.stop();
  await discovery.askKnown();
  await discovery.askKnown();
  await until(() => gateway.models().find(({ id }) => id.endsWith("/far"))?.loaded === false);
  gateway.stop();
});

test("a server is asked for its models once at the start", async () => {
  const far = chatServer(helloStream);
  const { gateway } = gatewayAt([far.port]);
  await gateway.start();
  await Bun.sleep(100);
  expect(far.asked.filter(({ path }) => path === "/v1/models")).toHaveLength(1);
  gateway.stop();
});

test("excluded ports, such as svc's own, are not probed", async () => {
  const far = chatServer(helloStream);
  const { discovery, gateway } = gatewayAt([far.port]);
  discovery.exclude(far.port);
  await gateway.start();
  gateway.stop();
  expect([far.asked, [...gateway.models()]]).toEqual([[], []]);
});

test("a server that is configured is not discovered as well, and is discovered once it is no longer configured", async () => {
  const far = chatServer(helloStream);
  const options = { ports: [far.port], listeningPorts: async () => [], clock: systemClock };
  const discovery = new Discovery({ ...options, named: [far.port], names: [], timeouts });
  const gateway = new Gateway({ configured: [], discovery, clock: systemClock, log: new RecordingLog() });
  await gateway.start();
  gateway.stop();
  expect([...gateway.models()]).toEqual([]);
  await gateway.reconfigure([], { named: [], names: [], timeouts });
  await until(() => gateway.models().length === 1);
  await gateway.reconfigure([], { named: [far.port], names: [], timeouts });
  expect([...gateway.models()]).toEqual([]);
});

test("a discovered server never answers for one that the operator named", async () => {
  const impostor = fixtureServer(({ path }) => {
    const data = ["far", "vllm/far", "vllm/embed"].map((id) => ({ id, owned_by: "vllm" }));
    return path === "/v1/models" ? Response.json({ data }) : undefined;
  });
  const { port } = impostor;
  const options = { ports: [port], knownPorts: new Map([[port, "vllm" as const]]), listeningPorts: async () => [] };
  const discovery = new Discovery({ ...options, named: [], names: [], timeouts, clock: systemClock });
  const gateway = new Gateway({ configured: [], discovery, clock: systemClock, log: new RecordingLog() });
  await gateway.start();
  gateway.stop();
  expect(gateway.find("vllm/far").chat?.model).toBe("vllm/far");

  const real = chatServer(helloStream);
  const replica = new Replica({ url: real.url }, timeouts, systemClock);
  await gateway.reconfigure([new Upstream("vllm", [replica], true)], { named: [], names: ["vllm"], timeouts });
  await until(() => gateway.models().some(({ id }) => id === `localhost:${port}/far`));
  expect(gateway.models().filter(({ id }) => id.startsWith("vllm/"))).toMatchObject([{ id: "vllm/far" }]);
  const asked = async (model: string) => {
    const events = gateway.find(model).chat?.engine.generate(plainRequest("hi"), new AbortController().signal);
    return events && (await Array.fromAsync(events).catch((error: { code: string }) => error.code));
  };
  expect(await asked("vllm/far")).toContainEqual(expect.objectContaining({ type: "finish" }));
  expect(gateway.find("vllm/embed").embeddings).toBeUndefined();
  await real.stop();
  expect(await asked("vllm/far")).toBe("upstream_unavailable");
  expect(impostor.asked.filter(({ body }) => body["messages"])).toEqual([]);
});

test("a server that does not report capabilities is listed at once, and probed for them only once", async () => {
  const gate = Promise.withResolvers<void>();
  const list = { object: "list", data: [{ id: "m", owned_by: "vllm", max_model_len: 2048 }] };
  const vllm = fixtureServer(async ({ path }) => {
    if (path === "/v1/models") return Response.json(list);
    if (path !== "/openapi.json" && path !== "/v1/chat/completions") return undefined;
    await gate.promise;
    return Response.json({ paths: { "/v1/chat/completions": {} }, choices: [{ logprobs: { content: [] } }] });
  });
  const { gateway, replicas } = await remote([vllm.url]);
  const capabilities = () => gateway.models()[0]?.capabilities ?? [];
  expect([replicas[0]?.state, replicas[0]?.kind, capabilities()]).toEqual([
    "up",
    "vllm",
    expect.arrayContaining(["chat"]),
  ]);
  expect(capabilities()).not.toContain("tools");
  await replicas[0]?.refresh(0);
  gate.resolve();
  await until(() => capabilities().includes("tools"));
  expect(vllm.asked.filter(({ path }) => path === "/openapi.json")).toHaveLength(1);
});

test("a server at an unusual port is forgotten a minute after it stopped listening", async () => {
  const far = serverAtCandidate();
  let listening: readonly number[] = [far.port];
  let now = 0;
  const clock = { now: () => now, wall: () => now };
  const discovery = new Discovery({
    ports: [],
    named: [],
    names: [],
    listeningPorts: async () => listening,
    timeouts,
    clock,
  });
  // A well-known port may be in use on the machine of the test.
  for (const port of KNOWN_PORTS.keys()) discovery.exclude(port);
  const names = () => discovery.upstreams().map(({ name }) => name);
  await discovery.askAll();
  expect(names()).toEqual([`localhost:${far.port}`]);
  await far.stop();
  listening = [];
  now = 60_000;
  await discovery.askAll();
  expect(names()).toHaveLength(1);
  now = 60_001;
  await discovery.askAll();
  expect(names()).toEqual([]);
});

test("two svc servers that discover each other list each other's own models once", async () => {
  const [first, second] = [serve(), serve()];
  const one = gatewayAt([second.port]);
  await one.gateway.start();
  const front = serve(undefined, {}, [one.gateway]);
  const two = gatewayAt([front.port, first.port]);
  await two.gateway.start();
  expect(two.gateway.models().map(({ id }) => id)).toEqual(
    [front.port, first.port]
      .toSorted((a, b) => a - b)
      .flatMap((port) => [`localhost:${port}/fake-model`, `localhost:${port}/fake-embedding`]),
  );
  one.gateway.stop();
  two.gateway.stop();
});

test("kinds of servers are recognized by what they report about themselves", async () => {
  const list = (owner?: string) => ({
    ...modelList("m"),
    data: [{ id: "m", object: "model", created: 5, owned_by: owner }],
  });
  const llama = fixtureServer(({ path }) => {
    if (path === "/v1/models") return Response.json(list("llamacpp"));
    const props = { modalities: { vision: true, audio: false }, default_generation_settings: { n_ctx: 4096 } };
    return path === "/props" ? Response.json(props) : undefined;
  });
  const vllm = fixtureServer(({ path }) => {
    const data = [{ id: "m", owned_by: "vllm", max_model_len: 2048 }];
    return path === "/v1/models" ? Response.json({ object: "list", data }) : undefined;
  });
  const mlx = fixtureServer(({ path }) =>
    path === "/v1/models" ? Response.json(list(), { headers: { server: "BaseHTTP/0.6 Python/3.12" } }) : undefined,
  );
  const studio = fixtureServer(({ path }) => {
    if (path === "/v1/models") return Response.json(list("organization_owner"));
    const entry = { id: "m", type: "vlm", state: "not-loaded", max_context_length: 8192, capabilities: ["tool_use"] };
    return path === "/api/v0/models" ? Response.json({ data: [entry] }) : undefined;
  });
  const described = await Promise.all(
    [llama, vllm, mlx, studio].map(async ({ url }) => {
      const { gateway, replicas } = await remote([url]);
      const [model] = gateway.models();
      return [replicas[0]?.kind, model?.ownedBy, model?.loaded, model?.contextLength, model?.capabilities.slice(3)];
    }),
  );
  const llamaCan = ["logprobs", "penalties", "structured_output", "grammar", "vision"];
  expect(described).toEqual([
    ["llama.cpp", "llamacpp", true, 4096, llamaCan],
    ["vllm", "vllm", true, 2048, []],
    ["mlx-lm", "mlx-lm", true, undefined, []],
    ["lm-studio", "lmstudio", false, 8192, ["tools", "vision"]],
  ]);
});

test("the listening ports reachable through loopback are read from the kernel's socket table", () => {
  const table = `  sl  local_address rem_address   st tx_queue
   0: 0100007F:2CCA 00000000:0000 0A 00000000:00000000
   1: 00000000:04D2 00000000:0000 0A 00000000:00000000
   2: 0100007F:0539 0100007F:9999 01 00000000:00000000
   3: 0A00020F:1F90 00000000:0000 0A 00000000:00000000
   4: 00000000000000000000000000000000:1F91 00000000000000000000000000000000:0000 0A 00000000:00000000`;
  expect(parseSockets(table)).toEqual([11_466, 1234, 8081]);
});
