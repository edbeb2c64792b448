// What operators see of replicas, and how replicas are drained, added and removed.

import { expect, test } from "bun:test";
import { systemClock } from "../../src/domain/clock.ts";
import { isDead } from "../../src/domain/upstream.ts";
import { prefixKey } from "../../src/gateway/prefix-key.ts";
import { Replica } from "../../src/gateway/replica.ts";
import { StateLog } from "../../src/gateway/state-log.ts";
import { Upstream } from "../../src/gateway/upstream.ts";
import { RecordingLog } from "../support/recording-log.ts";
import { plainRequest } from "../support/request.ts";
import { until } from "../support/until.ts";
import { chatServer, delta, eventStream, fixtureServer, helloStream, modelList } from "./fixture-server.ts";
import { conversationOf, conversationsOf, generate, remote, textOf } from "./remote.ts";

const hold = () => eventStream([delta({ content: "Hel" })], { hold: true });
const broken = () => Response.json({ error: { message: "out of memory" } }, { status: 500 });

test("a client that disconnects midway frees the replica's place", async () => {
  const server = chatServer(hold);
  const far = await remote([server.url]);
  for await (const { type } of far.engine.generate(plainRequest("hi", {}), new AbortController().signal)) {
    if (type === "text") break;
  }
  await until(() => far.replicas[0]?.inFlight === 0 && server.left.length === 1);
});

test("requests, tokens, first tokens and failures are counted for the replica where they occurred", async () => {
  const well = chatServer(helloStream);
  const busy = chatServer(() => new Response("busy", { status: 503 }));
  const far = await remote([well.url, busy.url]);
  for (const replica of far.replicas) {
    const own = conversationsOf(far, replica);
    for (let turn = 0; turn < 4; turn++) await generate(far, own.next().value);
  }
  const [good, full] = far.gateway.status()[0]?.replicas ?? [];
  expect(good).toMatchObject({
    url: well.url,
    state: "up",
    running: 0,
    models: ["far"],
    counts: { requests: 8, promptTokens: 56, cachedTokens: 24, completionTokens: 16, outages: 0 },
  });
  expect(good?.firstTokenMs?.median).toBeGreaterThan(0);
  const refused = full?.counts.failures.get("server_busy");
  // Requests refused by the busy replica went to the other one, which was not their preferred replica.
  expect(refused).toBe(4);
  expect(full?.counts).toMatchObject({ requests: 4, affinityHits: 4, completionTokens: 0 });
  expect(good?.counts).toMatchObject({ retries: 4, affinityMisses: 4, affinityHits: 4 });
});

test("a replica that dies and comes back is logged once each time", async () => {
  let isBroken = true;
  const server = chatServer(() => (isBroken ? broken() : helloStream()));
  const time = { now: 0 };
  const far = await remote([server.url], { clock: { now: () => time.now, wall: () => 0 } });
  const log = new RecordingLog();
  const own = conversationsOf(far, far.replicas[0]);
  const states = new StateLog(log, { now: () => time.now, wall: () => 0 });
  states.write([far.upstream]);
  for (const { value } of Array.from({ length: 6 }, () => own.next())) await generate(far, value).catch(() => {});
  for (let look = 0; look < 3; look++) states.write([far.upstream]);
  isBroken = false;
  time.now = 1500;
  await generate(far);
  states.write([far.upstream]);
  const fields = { upstream: "up", replica: server.url, running: 0 };
  const why = "The server of this model failed (500).";
  expect(log.lines).toEqual([
    {
      level: "warn",
      message: "upstream replica is down",
      fields: { ...fields, before: "up", for_ms: 0, why, retry_ms: 1000 },
    },
    { level: "info", message: "upstream replica is up", fields: { ...fields, before: "down", for_ms: 1500 } },
  ]);
  expect(far.replicas[0]?.stats.outages).toBe(1);
});

test("a replica that lists models but answers nothing is down until it answers, and is tried less and less often", async () => {
  let isBroken = true;
  const servers = [chatServer(() => (isBroken ? broken() : helloStream())), chatServer(helloStream)];
  const time = { now: 0 };
  const urls = servers.map(({ url }) => url);
  const far = await remote(urls, { clock: { now: () => time.now, wall: () => 0 } });
  const [replica] = far.replicas;
  const own = conversationsOf(far, replica);
  for (let turn = 0; turn < 2; turn++) await generate(far, own.next().value);
  for (const pauseMs of [1000, 2000, 4000, 8000]) {
    expect(replica?.status()).toMatchObject({ state: "down", retryMs: pauseMs });
    time.now += pauseMs;
    await replica?.refresh(0);
    expect(replica?.state).toBe("down");
    // The replica fails at the request that tries it, and the other one answers.
    expect(textOf(await generate(far, own.next().value))).toBe("Hello");
  }
  expect(replica?.stats).toMatchObject({ requests: 6, outages: 1 });
  isBroken = false;
  time.now += 16_000;
  // The next request of any conversation tries it.
  expect(textOf(await generate(far, conversationOf(far, far.replicas[1])))).toBe("Hello");
  expect([replica?.state, replica?.stats.requests]).toEqual(["up", 7]);
});

test("a replica that breaks off several answers in a row is down", async () => {
  const breaking = () => eventStream([delta({ content: "Hel" })], { done: false });
  const time = { now: 0 };
  const urls = [chatServer(breaking).url, chatServer(helloStream).url];
  const far = await remote(urls, { clock: { now: () => time.now, wall: () => 0 } });
  const [replica] = far.replicas;
  const own = conversationsOf(far, replica);
  const next = () => generate(far, own.next().value).then(textOf, (error: unknown) => error);
  for (let turn = 0; turn < 2; turn++) expect(await next()).toMatchObject({ code: "upstream_error" });
  expect(replica?.status()).toMatchObject({ state: "down", retryMs: 1000 });
  expect(await next()).toBe("Hello");
  time.now = 1000;
  expect(await next()).toMatchObject({ code: "upstream_error" });
  expect(replica?.status()).toMatchObject({ state: "down", retryMs: 2000 });
});

test.each([1, 2])("%d replicas that fail at many different requests and succeed at none are down", async (count) => {
  const far = await remote(Array.from({ length: count }, () => chatServer(broken).url));
  const dead = () => far.gateway.status().map(isDead);
  const fail = (number: number) =>
    generate(far, { messages: [{ role: "user", content: `conversation ${number}` }] }).catch((error: unknown) => error);
  for (let number = 0; number < 4; number++) expect(await fail(number)).toMatchObject({ code: "upstream_error" });
  for (let again = 0; again < 4; again++) await fail(0);
  expect(dead()).toEqual([false]);
  for (let number = 4; number < 6; number++) await fail(number);
  expect(dead()).toEqual([true]);
  expect(await fail(6)).toMatchObject({ code: "upstream_unavailable" });
});

test("a server of which one model is broken still answers with its others", async () => {
  const server = fixtureServer(({ path, body }) => {
    if (path === "/v1/models") return Response.json(modelList("far", "sound"));
    return body["model"] === "far" ? broken() : helloStream();
  });
  const far = await remote([server.url]);
  const own = conversationsOf(far, far.replicas[0]);
  for (let turn = 0; turn < 20; turn++) {
    const failure = await generate(far, own.next().value).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "upstream_error", message: "The server of this model failed (500)." });
  }
  expect(far.gateway.status().map(isDead)).toEqual([false]);
  const engine = far.gateway.find("up/sound")?.chat?.engine;
  expect(engine && textOf(await generate({ engine }))).toBe("Hello");
});

test("a server with several models that all fail is down", async () => {
  const server = fixtureServer(({ path }) =>
    path === "/v1/models" ? Response.json(modelList("far", "other")) : broken(),
  );
  const far = await remote([server.url]);
  const own = conversationsOf(far, far.replicas[0]);
  for (let turn = 0; turn < 5; turn++) await generate(far, own.next().value).catch(() => {});
  const engine = far.gateway.find("up/other")?.chat?.engine;
  for (let turn = 0; turn < 2; turn++) await (engine && generate({ engine }, own.next().value).catch(() => {}));
  expect(far.replicas[0]?.state).toBe("down");
});

test("a revoked key is noticed without a request, and so is one that is accepted again", async () => {
  let isRevoked = false;
  const server = fixtureServer(({ path }) => {
    if (isRevoked) return Response.json({ error: { message: "no" } }, { status: 401 });
    return path === "/v1/models" ? Response.json(modelList("far")) : helloStream();
  });
  const far = await remote([server.url]);
  const log = new RecordingLog();
  const states = new StateLog(log, systemClock);
  const look = async () => {
    await far.replicas[0]?.refresh(0);
    states.write([far.upstream]);
    return far.gateway.status().map((upstream) => [isDead(upstream), upstream.replicas[0]?.state]);
  };
  expect(await look()).toEqual([[false, "up"]]);
  isRevoked = true;
  expect(await look()).toEqual([[true, "refusing"]]);
  isRevoked = false;
  expect(await look()).toEqual([[false, "up"]]);
  expect(log.lines).toMatchObject([
    { level: "warn", message: "upstream replica is refusing", fields: { why: expect.stringContaining("key (401)") } },
    { level: "info", message: "upstream replica is up" },
  ]);
});

test("a key that is refused only at requests is reported, and the replica gets one of them every 30 s", async () => {
  let isRevoked = true;
  const refusing = chatServer(() =>
    isRevoked ? Response.json({ error: { message: "no" } }, { status: 401 }) : helloStream(),
  );
  const time = { now: 0 };
  const clock = { now: () => time.now, wall: () => 0 };
  const far = await remote([refusing.url, chatServer(helloStream).url], { clock });
  const [replica] = far.replicas;
  const log = new RecordingLog();
  const states = new StateLog(log, clock);
  states.write([far.upstream]);
  const own = conversationsOf(far, replica);
  const next = () => generate(far, own.next().value).then(textOf);
  for (let turn = 0; turn < 3; turn++) expect(await next()).toBe("Hello");
  await replica?.refresh(0);
  states.write([far.upstream]);
  const why = expect.stringContaining("key (401)");
  expect(replica?.status()).toMatchObject({ state: "refusing", lastError: why, counts: { requests: 1 } });
  time.now = 30_000;
  for (let turn = 0; turn < 3; turn++) expect(await next()).toBe("Hello");
  expect(replica?.status()).toMatchObject({ state: "refusing", counts: { requests: 2 } });
  isRevoked = false;
  time.now = 60_000;
  expect(await next()).toBe("Hello");
  states.write([far.upstream]);
  expect(replica?.status()).toMatchObject({ state: "up", counts: { requests: 3 } });
  expect(log.lines).toMatchObject([
    { level: "warn", message: "upstream replica is refusing", fields: { why } },
    { level: "info", message: "upstream replica is up" },
  ]);
});

test("a replica that refuses svc's key gets requests only when no other is left", async () => {
  let isRevoked = false;
  const refusing = fixtureServer(() =>
    isRevoked ? Response.json({ error: { message: "no" } }, { status: 401 }) : Response.json(modelList("far")),
  );
  const far = await remote([refusing.url, chatServer(helloStream).url]);
  isRevoked = true;
  await far.replicas[0]?.refresh(0);
  expect(textOf(await generate(far, conversationOf(far, far.replicas[0])))).toBe("Hello");
  expect(refusing.asked.map(({ path }) => path)).not.toContain("/v1/chat/completions");
  far.gateway.setDraining("up", true, far.replicas[1]?.url);
  await expect(generate(far)).rejects.toThrow("key (401)");
});

test("a vLLM server whose engine is dead counts as down although it lists its models", async () => {
  let isDead = true;
  const server = fixtureServer(({ path }) => {
    if (path === "/health") return new Response(null, { status: isDead ? 503 : 200 });
    return path === "/v1/models" ? Response.json({ data: [{ id: "far", owned_by: "vllm" }] }) : undefined;
  });
  const time = { now: 0 };
  const replica = new Replica(
    { url: server.url },
    { connectMs: 1000, silenceMs: 1000 },
    { now: () => time.now, wall: () => 0 },
  );
  for (let look = 0; look < 2; look++) await replica.refresh();
  expect(replica.status()).toMatchObject({ state: "down", lastError: "The server of this model has a dead engine." });
  isDead = false;
  time.now = 1000;
  await replica.refresh();
  expect(replica.state).toBe("up");
});

test("a replica that dies while idle is noticed within seconds", async () => {
  const server = chatServer(helloStream);
  const time = { now: 0 };
  const far = await remote([server.url], { clock: { now: () => time.now, wall: () => 0 } });
  await server.stop();
  const [replica] = far.replicas;
  await replica?.checkConnection();
  expect(replica?.state).toBe("up");
  time.now = 5000;
  await replica?.checkConnection();
  time.now = 6000;
  await replica?.checkConnection();
  expect(replica?.status()).toMatchObject({
    state: "down",
    lastError: "The server of this model cannot be reached: nothing listens at its address.",
  });
});

test("a server that was gone for long gets requests within seconds of its return", async () => {
  const server = chatServer(helloStream);
  const time = { now: 0 };
  const far = await remote([server.url], { clock: { now: () => time.now, wall: () => 0 } });
  const [replica] = far.replicas;
  await server.stop();
  for (; time.now < 600_000; time.now += 1000) await replica?.refresh();
  expect(replica?.state).toBe("down");
  const back = chatServer(helloStream, server.port);
  for (let second = 0; second < 3; second++, time.now += 1000) await replica?.refresh();
  expect(replica?.state).toBe("up");
  expect(textOf(await generate(far))).toBe("Hello");
  expect(back.asked.map(({ path }) => path)).toContain("/v1/chat/completions");
});

test("a replica that sends nothing counts as slow, and new requests go elsewhere", async () => {
  let isSilent = true;
  const silent = chatServer(() => (isSilent ? hold() : helloStream()));
  const other = chatServer(helloStream);
  const time = { now: 0 };
  const far = await remote([silent.url, other.url], { clock: { now: () => time.now, wall: () => 0 } });
  const leave = new AbortController();
  const [replica] = far.replicas;
  const stuck = generate(far, conversationOf(far, replica), leave.signal).catch(() => {});
  await until(() => replica?.stats.firstTokens.count === 1);
  time.now = 9000;
  expect(replica?.state).toBe("up");
  time.now = 11_000;
  expect(replica?.state).toBe("slow");
  const asked = silent.asked.length;
  const own = conversationsOf(far, replica);
  for (let turn = 0; turn < 3; turn++) await generate(far, own.next().value);
  expect(silent.asked).toHaveLength(asked);
  isSilent = false;
  leave.abort();
  await stuck;
  expect(replica?.state).toBe("up");
});

test("a client that does not read its answer does not make a replica count as slow", async () => {
  const server = chatServer(hold);
  const time = { now: 0 };
  const far = await remote([server.url], { clock: { now: () => time.now, wall: () => 0 } });
  const leave = new AbortController();
  const events = far.engine.generate(plainRequest("hi", {}), leave.signal)[Symbol.asyncIterator]();
  while ((await events.next()).value?.type !== "text");
  const [replica] = far.replicas;
  time.now = 60_000;
  expect([replica?.inFlight, replica?.state]).toEqual([1, "up"]);
  // The client reads again, so now the replica is waited for.
  const more = events.next().catch(() => {});
  time.now = 72_000;
  expect(replica?.state).toBe("slow");
  leave.abort();
  await more;
});

test("a draining replica gets no new requests and finishes its own; after resuming it gets its own again", async () => {
  const servers = [chatServer(hold), chatServer(helloStream)];
  const far = await remote(servers.map(({ url }) => url));
  const [first] = far.replicas;
  const cut = new AbortController();
  if (!first) throw new Error("no replica");
  const own = conversationOf(far, first);
  const choiceOf = (changes: typeof own) => far.upstream.choose("far", prefixKey(plainRequest("", changes)), new Set());
  const running = generate(far, own, cut.signal).catch(() => {});
  await until(() => first.inFlight === 1);
  const state = () => far.gateway.status()[0]?.replicas.map((replica) => replica.state);
  far.gateway.setDraining("up", true, first.url);
  expect(state()).toEqual(["draining", "up"]);
  expect(choiceOf(own)).toMatchObject({ replica: { url: far.replicas[1]?.url }, isOwn: false });
  cut.abort();
  await running;
  expect(state()).toEqual(["drained", "up"]);
  // An upstream drained by its operator does not count as failed.
  const whole = far.gateway.setDraining("up", true);
  expect(whole && isDead(whole)).toBe(false);
  const refused = await generate(far).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: "upstream_unavailable", message: expect.stringContaining("drained") });
  far.gateway.setDraining("up", false);
  expect(state()).toEqual(["up", "up"]);
  expect(choiceOf(own)).toMatchObject({ replica: { url: first.url }, isOwn: true });
  expect(far.gateway.setDraining("up", true, "http://nowhere")).toBeUndefined();
  expect(far.gateway.setDraining("nobody", true)).toBeUndefined();
});

test("replicas can be added and removed without a restart, and those that stay keep their state", async () => {
  const slow = Promise.withResolvers<void>();
  const servers = [
    chatServer(() => slow.promise.then(helloStream)),
    fixtureServer(({ path }) => (path === "/v1/models" ? Response.json(modelList("far", "new")) : helloStream())),
    chatServer(helloStream),
  ];
  const urls = servers.map(({ url }) => url);
  const far = await remote(urls.slice(0, 1));
  const underWay = generate(far);
  await until(() => far.replicas[0]?.inFlight === 1);
  const upstream = (name: string, of: readonly string[]) =>
    new Upstream(
      name,
      of.map((url) => new Replica({ url }, { connectMs: 1000, silenceMs: 5000 }, systemClock)),
      true,
    );
  await far.gateway.reconfigure([upstream("up", urls.slice(0, 2)), upstream("second", urls.slice(2))]);
  expect(far.gateway.models().map(({ id }) => id)).toEqual(["up/far", "up/new", "second/far"]);
  expect(far.gateway.status()[0]?.replicas.map(({ running }) => running)).toEqual([1, 0]);
  // The first replica is removed while it has a request, which ends normally; new requests go to the other one.
  await far.gateway.reconfigure([upstream("up", urls.slice(1, 2))]);
  expect(far.gateway.models().map(({ id }) => id)).toEqual(["up/far", "up/new"]);
  expect(textOf(await generate(far))).toBe("Hello");
  slow.resolve();
  expect(textOf(await underWay)).toBe("Hello");
});

test("a new key changes neither the models of a replica nor that it drains", async () => {
  const gate = Promise.withResolvers<void>();
  const server = fixtureServer(async ({ path, headers }) => {
    if (path !== "/v1/models") return helloStream();
    if (headers.get("authorization") === "Bearer new") await gate.promise;
    return Response.json(modelList("far"));
  });
  const far = await remote([server.url], { key: "old" });
  far.gateway.setDraining("up", true);
  const replica = new Replica({ url: server.url, key: "new" }, { connectMs: 1000, silenceMs: 5000 }, systemClock);
  const reloaded = far.gateway.reconfigure([new Upstream("up", [replica], true)]);
  expect(far.gateway.models().map(({ id }) => id)).toEqual(["up/far"]);
  gate.resolve();
  await reloaded;
  expect(far.upstream.replicas[0]).toBe(replica);
  expect(replica.state).toBe("drained");
});

test("a reload changes timeouts and hedging of upstreams that stay", async () => {
  const servers = [chatServer(hold), chatServer(hold)];
  const urls = servers.map(({ url }) => url);
  const far = await remote(urls, { silenceMs: 60_000 });
  const [replica] = far.replicas as [Replica, Replica];
  for (let request = 0; request < 40; request++) {
    replica.stats.began({ isRetry: false, isOwn: true });
    replica.stats.firstTokenCame(100);
  }
  expect(far.upstream.hedgeAfterMs(replica)).toBeUndefined();
  const fresh = urls.map((url) => new Replica({ url }, { connectMs: 1000, silenceMs: 50 }, systemClock));
  await far.gateway.reconfigure([new Upstream("up", fresh, true, { hedge: true })]);
  expect(far.upstream.replicas[0]).toBe(replica);
  expect(far.upstream.hedgeAfterMs(replica)).toBeGreaterThan(0);
  // With the new timeout, silence fails at once.
  await expect(generate(far)).rejects.toThrow("failed in the middle of the answer");
});
