// One connection that sends thousands of requests or messages without waiting: other clients are still served.

import { expect, onTestFinished, test } from "bun:test";
import { TurnLimit } from "../../src/domain/turn-limit.ts";
import { RealtimeClient } from "../support/realtime-client.ts";
import { until } from "../support/until.ts";
import { hello, serve } from "./harness.ts";
import { RawClient } from "./raw.ts";

test("a limited number of requests begin in one turn of the event loop, the others later, in order", async () => {
  const turns = new TurnLimit(3);
  const begun: (number | "turn")[] = [];
  const begin = (number: number) => {
    const turn = turns.enter();
    if (turn) void turn.then(() => begun.push(number));
    else begun.push(number);
  };
  for (let number = 0; number < 7; number++) begin(number);
  expect(begun).toEqual([0, 1, 2]);
  for (let turn = 0; turn < 3; turn++) {
    begun.push("turn");
    await new Promise(setImmediate);
  }
  expect(begun).toEqual([0, 1, 2, "turn", 3, 4, 5, "turn", 6, "turn"]);
  begin(7);
  expect(begun.at(-1)).toBe(7);
});

test("of thousands of requests on one connection, few are answered in a row", async () => {
  const server = serve();
  const client = await RawClient.connect(server.port);
  client.socket.write("GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(2000));
  await until(() => client.closed);
  expect(client.received.split("HTTP/1.1 200 OK").length - 1).toBeLessThanOrEqual(8);
  expect((await fetch(`${server.url}/health`)).status).toBe(200);
});

test("many events sent at once are processed in order", async () => {
  const client = await RealtimeClient.open(serve(hello).url);
  onTestFinished(() => client.close());
  for (let event = 0; event < 2000; event++) client.socket.send(`{"event_id":"e${event}"}`);
  await until(() => client.events.length === 2001);
  expect(client.events.slice(1).map(({ error }) => error?.event_id)).toEqual(
    Array.from({ length: 2000 }, (_, event) => `e${event}`),
  );
});

test("more events than the queue holds end the session", async () => {
  const client = await RealtimeClient.open(serve(hello).url);
  for (let event = 0; event < 400_000; event++) client.socket.send("");
  await until(() => client.closing !== undefined);
  expect(client.closing?.code).toBe(1008);
  expect(client.events.at(-1)?.error?.code).toBe("rate_limit_exceeded");
});
