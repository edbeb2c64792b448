// The media of a request are loaded a few at a time, in order, and all or none of them.

import { expect, test } from "bun:test";
import { loadAll, type MediaPart } from "../../src/media/load-all.ts";
import { until } from "../support/until.ts";
import { bmp, dataUrl, flag, limitsWith, red, refusal } from "./files.ts";

const limits = limitsWith({ fetchPrivate: true });
const never = new AbortController().signal;
const part = (url: string, index = 0): MediaPart => ({
  source: { kind: "image", url, detail: "auto" },
  param: `messages.0.content.${index}.image_url.url`,
});
const widths = (media: Awaited<ReturnType<typeof loadAll>>) => media.map((one) => one.kind === "image" && one.width);

test("the order of the parts is kept, whichever is loaded first", async () => {
  const sizes = [600, 2, 3, 400, 5, 6, 7, 8, 9];
  const parts = sizes.map((size, index) => part(dataUrl(bmp(size, size, () => red)), index));
  expect(widths(await loadAll(parts, limits, never))).toEqual(sizes);
  expect(await loadAll([], limits, never)).toEqual([]);
});

test("too many media are refused before any is loaded", async () => {
  const parts = Array.from({ length: 33 }, (_, index) => part("", index));
  expect(await refusal(loadAll(parts, limits, never), "messages")).toBe(
    "hold at most 32 images and audio clips; got 33.",
  );
  const images = parts.map((one, index) => ({ ...one, param: `images.${index}` }));
  await refusal(loadAll(images, limits, never), "images");
});

/** Starts a server that never answers and counts its requests. */
function stalling() {
  const seen = { now: 0, most: 0, all: 0 };
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      seen.all++;
      seen.most = Math.max(seen.most, ++seen.now);
      const gone = new Promise((resolve) => request.signal.addEventListener("abort", resolve));
      await Promise.race([gone, Bun.sleep(request.url.includes("stall") ? 60_000 : 40)]);
      seen.now--;
      return new Response(flag(8, 4));
    },
  });
  const idle = () => until(() => seen.now === 0);
  return { seen, url: server.url.href, idle, [Symbol.dispose]: () => void server.stop(true) };
}

test("four are loaded at a time", async () => {
  using server = stalling();
  const parts = Array.from({ length: 10 }, (_, index) => part(server.url, index));
  expect(widths(await loadAll(parts, limits, never))).toEqual(Array.from({ length: 10 }, () => 8));
  expect(server.seen).toEqual({ now: 0, most: 4, all: 10 });
});

test("the first failure stops the others and is reported", async () => {
  using server = stalling();
  const stalled = [0, 1, 2].map((index) => part(`${server.url}stall`, index));
  const parts = [...stalled, part(server.url, 3), part("data:,broken", 4), ...stalled];
  const param = "messages.0.content.4.image_url.url";
  expect(await refusal(loadAll(parts, limits, never), param)).toContain("got text");
  expect(server.seen.all).toBe(4);
  await server.idle();
});

test("an abort stops all of them with the abort reason", async () => {
  using server = stalling();
  const abort = new AbortController();
  const loading = loadAll([part(`${server.url}stall`)], limits, abort.signal).catch((reason: unknown) => reason);
  while (server.seen.all === 0) await Bun.sleep(5);
  abort.abort("gone");
  expect(await loading).toBe("gone");
  await server.idle();
  await expect(loadAll([part("")], limits, abort.signal)).rejects.toBe("gone");
});
