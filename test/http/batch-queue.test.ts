// More batches than are answered at once: the others wait for their turn and can be cancelled or expire meanwhile.

import { expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { chatServer, helloStream } from "../gateway/fixture-server.ts";
import { remote } from "../gateway/remote.ts";
import { temporaryFolder } from "../support/folders.ts";
import { until } from "../support/until.ts";
import { cancel, create, customIds, get, lineOf, many, on, output, untilStatus } from "./batch-client.ts";
import { hello, messages, serve } from "./harness.ts";

const AT_ONCE = 16;

/** Returns the batches that are being answered: those with an output file in progress. */
function begun(dataDir: string): string[] {
  const folder = join(dataDir, "batches");
  return readdirSync(folder).filter((id) => existsSync(join(folder, id, "output.jsonl")));
}

function setUp(dataDir = temporaryFolder()) {
  const gate = Promise.withResolvers<void>();
  return { dataDir, gate, server: on(dataDir, () => ({ steps: [{ wait: gate.promise }, { text: "x" }] })) };
}

async function createMany(server: ReturnType<typeof on>, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let made = 0; made < count; made++) ids.push((await create(server, many(1))).id);
  for (const id of ids) await untilStatus(server, id, "in_progress");
  return ids;
}

test("a few batches are answered at once, the oldest first, and the next begins when one ends", async () => {
  const { server, gate, dataDir } = setUp();
  const ids = await createMany(server, AT_ONCE + 4);
  await until(() => begun(dataDir).length === AT_ONCE);
  const [first = "", ...rest] = ids;
  expect(begun(dataDir).toSorted()).toEqual(ids.slice(0, AT_ONCE).toSorted());
  expect((await cancel(server, first)).status).toBe(200);
  await until(() => begun(dataDir).includes(ids[AT_ONCE] ?? ""));
  await untilStatus(server, first, "cancelled");
  expect(begun(dataDir)).toHaveLength(AT_ONCE);
  gate.resolve();
  for (const id of rest) await untilStatus(server, id, "completed");
  const answered = server.engine.requests.map(({ client }) => client).filter((client) => client !== first);
  expect(answered.toSorted()).toEqual(rest.toSorted());
});

test("waiting batches are validated, can be cancelled and can expire", async () => {
  const { server, dataDir } = setUp();
  const ids = await createMany(server, AT_ONCE);
  const waiting = await create(server, many(2));
  expect((await untilStatus(server, waiting.id, "in_progress")).request_counts.total).toBe(2);
  const wrong = await create(server, [...many(1), ...many(1)]);
  const short = await create(server, many(3), { completion_window: "1s" });
  await untilStatus(server, wrong.id, "failed");
  expect((await cancel(server, waiting.id)).status).toBe(200);
  const cancelled = await untilStatus(server, waiting.id, "cancelled");
  expect(customIds(await output(server, cancelled))).toEqual(customIds(many(2)));
  const expired = await untilStatus(server, short.id, "expired");
  expect((await output(server, expired)).map(({ error }) => error?.code)).toEqual(Array(3).fill("batch_expired"));
  expect(begun(dataDir).toSorted()).toEqual(ids.toSorted());
});

test("the next server also begins only that many", async () => {
  const { server: first, dataDir } = setUp();
  const ids = await createMany(first, AT_ONCE + 4);
  await until(() => begun(dataDir).length === AT_ONCE);
  await first.stop();
  const { server, gate } = setUp(dataDir);
  await until(() => server.engine.live > 0);
  expect(begun(dataDir).toSorted()).toEqual(ids.slice(0, AT_ONCE).toSorted());
  expect((await get(server, ids.at(-1) ?? "")).status).toBe("in_progress");
  gate.resolve();
  for (const id of ids) await untilStatus(server, id, "completed");
  expect(server.engine.requests).toHaveLength(ids.length);
});

test("batches that wait for their turn are not answered by another server meanwhile, with its model", async () => {
  const { server, gate, dataDir } = setUp();
  const ids = await createMany(server, AT_ONCE + 4);
  await until(() => begun(dataDir).length === AT_ONCE);
  const other = on(dataDir);
  const own = await create(other, many(1));
  await untilStatus(other, own.id, "completed");
  gate.resolve();
  for (const id of ids) await untilStatus(other, id, "completed");
  expect([server, other].map(({ engine }) => engine.requests.length)).toEqual([ids.length, 1]);
});

test("batches that another server answers do not keep later ones waiting", async () => {
  const { server, dataDir } = setUp();
  await createMany(server, AT_ONCE);
  await until(() => begun(dataDir).length === AT_ONCE);
  const other = on(dataDir);
  const later = await create(other, many(2));
  expect((await untilStatus(other, later.id, "completed")).request_counts.completed).toBe(2);
});

test("batches whose model is unreachable make way for a batch that can be answered", async () => {
  const far = chatServer(helloStream);
  const server = serve(hello, {}, [(await remote([far.url])).gateway]);
  await far.stop();
  const lines = [lineOf(0, { model: "up/far", messages })];
  const held: string[] = [];
  for (let made = 0; made < AT_ONCE + 1; made++) held.push((await create(server, lines)).id);
  const other = await create(server, many(5));
  expect((await untilStatus(server, other.id, "completed")).request_counts.completed).toBe(5);
  for (const id of held) expect((await cancel(server, id)).status).toBe(200);
  for (const id of held) await untilStatus(server, id, "cancelled");
}, 30_000);
