// Three replicas under load, one of which dies and recovers.

import { expect, test } from "bun:test";
import { SvcError } from "../../src/domain/errors.ts";
import { until } from "../support/until.ts";
import { chatServer, delta, eventStream, fixtureServer, modelList, type FixtureServer } from "./fixture-server.ts";
import { conversationsOf, finishOf, generate, remote, textOf } from "./remote.ts";

const asked = ({ asked: all }: FixtureServer) => all.filter(({ path }) => path.endsWith("completions")).length;

/** Streams ten pieces with pauses, so that streams are in progress when a server dies. */
function slowStream(): Response {
  const encoder = new TextEncoder();
  const write = (chunk: unknown) => encoder.encode(`data: ${JSON.stringify(chunk)}\n\n`);
  const body = new ReadableStream({
    async start(controller) {
      try {
        for (let piece = 0; piece < 10; piece++) {
          controller.enqueue(write(delta({ content: "x" })));
          await Bun.sleep(5);
        }
        controller.enqueue(write(delta({}, "stop")));
        controller.close();
      } catch {
        // The client has disconnected.
      }
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

test("a replica that dies under load fails only requests that cannot be retried, and gets its requests back", async () => {
  const servers = [chatServer(slowStream), chatServer(slowStream), chatServer(slowStream)];
  const far = await remote(servers.map(({ url }) => url));
  let number = 0;
  const conversation = () =>
    generate(far, { id: `r${number}`, messages: [{ role: "user", content: `conversation ${number++}` }] }).then(
      (events) => (textOf(events) === "x".repeat(10) && finishOf(events) ? "whole" : "incomplete"),
      (error: unknown) => (error instanceof SvcError ? error.code : String(error)),
    );
  const load = async (count: number) => {
    const results: string[] = [];
    const client = async () => {
      for (let turn = 0; turn < count; turn++) results.push(await conversation());
    };
    await Promise.all(Array.from({ length: 9 }, client));
    return results;
  };
  expect(new Set(await load(3))).toEqual(new Set(["whole"]));
  const [victim] = servers as [FixtureServer];
  const [replica] = far.replicas;
  expect(Math.min(...servers.map(asked))).toBeGreaterThan(0);

  const running = load(8);
  await until(() => (replica?.inFlight ?? 0) > 1);
  await Bun.sleep(25);
  const inFlight = replica?.inFlight ?? 0;
  await victim.stop();
  const results = await running;
  const failed = results.filter((result) => result !== "whole");
  expect(failed.length).toBeGreaterThan(0);
  expect(new Set(failed)).toEqual(new Set(["upstream_error"]));
  // Requests whose stream had begun, and a few that reached the replica while it died.
  expect(failed.length).toBeLessThanOrEqual(inFlight + 2);
  expect(replica?.isWell).toBe(false);

  const back = chatServer(slowStream, victim.port);
  await until(() => replica?.breaker.state === "half-open");
  await replica?.refresh();
  expect(new Set(await load(2))).toEqual(new Set(["whole"]));
  expect(asked(back)).toBeGreaterThan(0);
}, 30_000);

test("an answer that is not streamed survives the death of its replica", async () => {
  const servers = [chatServer(slowStream), chatServer(slowStream)];
  const far = await remote(servers.map(({ url }) => url));
  const [replica] = far.replicas;
  const own = conversationsOf(far, replica, { whole: true });
  const answers = Array.from({ length: 4 }, (_, number) => generate(far, { ...own.next().value, id: `r${number}` }));
  await until(() => (replica?.stats.firstTokens.count ?? 0) > 1);
  await servers[0]?.stop();
  for (const events of await Promise.all(answers)) {
    const restarted = events.findLastIndex(({ type }) => type === "restarted");
    expect(textOf(events.slice(restarted + 1))).toBe("x".repeat(10));
    expect(finishOf(events)).toMatchObject({ reason: "stop", usage: { completionTokens: 10 } });
  }
  expect(replica?.stats.failures.size).toBe(1);
});

test("identical requests that begin at the same time are spread over more replicas than the preferred one", async () => {
  const gate = Promise.withResolvers<void>();
  const servers = Array.from({ length: 3 }, () => chatServer(() => gate.promise.then(slowStream)));
  const far = await remote(servers.map(({ url }) => url));
  const all = Array.from({ length: 12 }, (_, number) => generate(far, { id: `r${number}` }));
  await until(() => servers.reduce((sum, server) => sum + asked(server), 0) === 12);
  // A quarter more than the mean of four, which is the most that the preferred replica takes.
  expect(Math.max(...servers.map(asked))).toBe(5);
  gate.resolve();
  expect((await Promise.all(all)).map(textOf)).toEqual(Array.from({ length: 12 }, () => "x".repeat(10)));
  expect(far.replicas.map(({ inFlight }) => inFlight)).toEqual([0, 0, 0]);
});

test("a replica that computes svc's requests may be too busy to list its models; an idle one counts as failed", async () => {
  let isDeaf = false;
  const gate = Promise.withResolvers<void>();
  const server = fixtureServer(({ path }) => {
    if (path === "/v1/models") return isDeaf ? new Response("busy", { status: 500 }) : Response.json(modelList("far"));
    return path === "/v1/chat/completions" ? gate.promise.then(slowStream) : undefined;
  });
  const far = await remote([server.url]);
  const [replica] = far.replicas;
  isDeaf = true;
  const running = generate(far);
  await until(() => asked(server) === 1);
  for (let time = 0; time < 4; time++) await replica?.refresh(0);
  expect(replica?.isWell).toBe(true);
  gate.resolve();
  expect(textOf(await running)).toBe("x".repeat(10));
  for (let time = 0; time < 2; time++) await replica?.refresh(0);
  expect(replica?.isWell).toBe(false);
});

test("a request is tried elsewhere when a server breaks off before the first word", async () => {
  const broken = chatServer(() => eventStream([], { done: false }));
  const healthy = chatServer(slowStream);
  const far = await remote([broken.url, healthy.url]);
  const answers = await Promise.all(
    ["a", "b", "c", "d"].map((content) => generate(far, { id: content, messages: [{ role: "user", content }] })),
  );
  expect(answers.map(textOf)).toEqual(Array.from({ length: 4 }, () => "x".repeat(10)));
});
