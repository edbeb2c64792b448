import { describe, expect, test } from "bun:test";
import { bodyChunks } from "../../src/http/body-chunks.ts";
import { errorResponse } from "../../src/http/plugins/errors.ts";
import { SvcError } from "../../src/domain/errors.ts";

const post = (body: ReadableStream<Uint8Array> | string, headers: Record<string, string> = {}) =>
  new Request("http://localhost/", { method: "POST", body, headers });
const bytes = (text: string) => new TextEncoder().encode(text);

async function read(request: Request, patienceMs?: number, work: () => Promise<unknown> = async () => {}) {
  let text = "";
  for await (const chunk of bodyChunks(request, patienceMs)) {
    text += new TextDecoder().decode(chunk);
    await work();
  }
  return text;
}

test("a body arrives as it was sent, whole or in chunks", async () => {
  const pieces = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of ["a", "b", "c"]) controller.enqueue(bytes(piece));
      controller.close();
    },
  });
  expect(await read(post(pieces))).toBe("abc");
  expect(await read(post("abc", { "content-length": "3" }))).toBe("abc");
  expect(await read(post("abc", { "content-length": "100000" }))).toBe("abc");
  expect(await read(new Request("http://localhost/"))).toBe("");
});

test("a client that stops sending its body gets an error, and must use a new connection", async () => {
  const silent = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(bytes("a")) });
  const error: unknown = await read(post(silent), 1).catch((caught: unknown) => caught);
  if (!(error instanceof SvcError)) throw new Error("no SvcError");
  const response = errorResponse(error, "id");
  expect([response.status, response.headers.get("connection")]).toEqual([408, "close"]);
  expect(((await response.json()) as { error: unknown }).error).toMatchObject({ code: "request_timeout" });
});

test("a body that arrives byte by byte is not split into as many pieces, and may take its time", async () => {
  const text = "Hello, world. ".repeat(5000);
  const sent = bytes(text);
  let at = 0;
  const single = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (at % 1000 === 0) await Bun.sleep(10);
      controller.enqueue(sent.subarray(at, ++at));
      if (at === sent.length) controller.close();
    },
  });
  const pieces: Uint8Array[] = [];
  for await (const piece of bodyChunks(post(single), 400)) pieces.push(piece);
  expect(new TextDecoder().decode(Buffer.concat(pieces))).toBe(text);
  expect(pieces.length).toBeLessThan(10);
});

test("large chunks between small ones keep their order", async () => {
  const sizes = [1, 20_000, 5, 8192, 8191, 3, 8193, 100_000, 1];
  const chunks = sizes.map((size, index) => String.fromCharCode(97 + index).repeat(size));
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(bytes(chunk));
      controller.close();
    },
  });
  expect(await read(post(stream))).toBe(chunks.join(""));
});

test("the time spent on processing a piece does not count against the client", async () => {
  const piece = "a".repeat(10_000);
  const pieces = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let count = 0; count < 2; count++) controller.enqueue(bytes(piece));
      controller.close();
    },
  });
  expect(await read(post(pieces), 1, () => Bun.sleep(10))).toBe(piece.repeat(2));
});

describe("a body beyond its first MiB", () => {
  const MIB = 2 ** 20;
  /** Reads a body of 1 MiB and `count` pieces of `bytes`, which come `everyMs` apart on the clock of the reader. */
  async function trickle(bytes: number, count: number, everyMs: number, first = MIB) {
    let [time, sent] = [0, 0];
    const stream = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          if (sent === 0) controller.enqueue(new Uint8Array(first));
          else {
            time += everyMs;
            controller.enqueue(new Uint8Array(bytes));
          }
          if (sent++ === count) controller.close();
        },
      },
      { highWaterMark: 0 },
    );
    let size = 0;
    for await (const piece of bodyChunks(post(stream), 30_000, () => time)) size += piece.length;
    return size;
  }

  test("must bring 16 KiB in any 30 seconds, although single bytes come in time", async () => {
    const message =
      "The request body arrives too slowly: beyond its first 1 MiB, at least 16 KiB must arrive in any 30 seconds.";
    await expect(trickle(1, 10, 20_000)).rejects.toThrow(new SvcError("request_timeout", message));
    await expect(trickle(7 * 1024, 10, 15_000)).rejects.toThrow(new SvcError("request_timeout", message));
  });

  test("may take as long as it likes at that rate, and before that", async () => {
    expect(await trickle(8 * 1024, 100, 14_000)).toBe(MIB + 100 * 8 * 1024);
    expect(await trickle(1, 100, 29_000, 1000)).toBe(1100);
  });
});
