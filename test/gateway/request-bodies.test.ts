// Long bodies of requests to upstreams: what arrives, and how many are in memory at the same time.

import { expect, test } from "bun:test";
import { nextTurn } from "../../src/domain/next-turn.ts";
import { Semaphore } from "../../src/domain/semaphore.ts";
import { RequestBodies } from "../../src/gateway/request-bodies.ts";
import { fixtureServer, helloStream } from "./fixture-server.ts";
import { generate, remote, textOf } from "./remote.ts";
import { until } from "../support/until.ts";

const MB = 2 ** 20;
const never = new AbortController().signal;
const textOfBody = (json: string | Blob) => new Response(json).text();

test("a long body is the same JSON as a short one, with whole pairs, and has a length", async () => {
  const server = fixtureServer(({ path }) => (path.endsWith("/completions") ? helloStream() : undefined));
  const far = await remote([server.url]);
  // The pairs are cut at every place, and the half has a place in each part.
  const text = `x${"\u{1f600}".repeat(50_000)}\ud83d "ü\\ud83d\n`;
  const content = text.repeat(3);
  expect(textOf(await generate(far, { messages: [{ role: "user", content }] }))).toBe("Hello");
  const asked = server.asked.at(-1);
  expect(asked?.body).toMatchObject({ messages: [{ content: content.toWellFormed() }] });
  expect(Number(asked?.headers.get("content-length"))).toBeGreaterThan(600_000);
});

test("writing long bodies does not block the event loop", async () => {
  let [turns, isOver] = [0, false];
  const others = (async () => {
    for (; !isOver; turns++) await nextTurn();
  })();
  const body = { messages: [{ content: "x".repeat(8 * MB) }, { content: ["y".repeat(8 * MB)] }] };
  expect(await new RequestBodies().send(body, never, textOfBody)).toBe(JSON.stringify(body));
  isOver = true;
  await others;
  expect(turns).toBeGreaterThan(20);
});

test("long bodies wait for memory until earlier requests are answered or left, and short ones do not", async () => {
  const bodies = new RequestBodies(new Semaphore(2.5 * MB));
  const sent: number[] = [];
  const ends = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
  const leave = new AbortController();
  const send = (number: number, length = MB) =>
    bodies.send({ text: "x".repeat(length) }, number === 2 ? leave.signal : never, () => {
      sent.push(number);
      return ends[number]?.promise ?? Promise.resolve();
    });
  const all = [0, 1, 2, 3].map((number) => send(number));
  await until(() => sent.length >= 2);
  await Bun.sleep(20);
  expect(sent).toEqual([0, 1]);
  await send(9, 10);
  leave.abort("left");
  expect(await all[2]?.catch((reason: unknown) => reason)).toBe("left");
  ends[0]?.reject(new Error("refused"));
  expect(await all[0]?.catch(String)).toBe("Error: refused");
  ends[3]?.resolve();
  await all[3];
  expect(sent).toEqual([0, 1, 9, 3]);
  ends[1]?.resolve();
  await all[1];
});
