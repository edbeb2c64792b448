// What docs/limits.md says about connections, and what `http/server` relies on, tested on Bun's server alone. When a
// newer Bun can do more, these tests fail and the page must change.

import { afterAll, expect, test } from "bun:test";
import { once } from "node:events";
import { connect, type Socket } from "node:net";

const WORK_MS = 100;
const aborted: string[] = [];
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    const body = await request.text();
    request.signal.addEventListener("abort", () => void aborted.push(body));
    if (body.startsWith("slow")) await Bun.sleep(WORK_MS);
    return new Response(`answer to ${body}`);
  },
});
afterAll(() => server.stop(true));

const post = (body: string) => `POST / HTTP/1.1\r\nHost: svc\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

/** Returns the answers on a connection once the server has closed it or has had time to answer `write`. */
function answers(write: (socket: Socket) => void): Promise<string[]> {
  return new Promise((resolve) => {
    let received = "";
    const socket = connect({ port: server.port ?? 0, host: "127.0.0.1", allowHalfOpen: true }, () => write(socket));
    const end = () => {
      resolve(received.match(/answer to .*?(?=HTTP|$)/g) ?? []);
      socket.destroy();
    };
    socket.on("data", (bytes) => (received += bytes.toString()));
    socket.on("error", () => {});
    socket.on("close", end);
    setTimeout(end, 5 * WORK_MS);
  });
}

test("a client that shuts down its half of the connection is answered immediately or not at all", async () => {
  expect(await answers((socket) => socket.end(post("quick")))).toEqual(["answer to quick"]);
  expect(await answers((socket) => socket.end(post("slow half-closed")))).toEqual([]);
  expect(aborted).toContain("slow half-closed");
});

test("a second request before the end of a slow answer closes the connection", async () => {
  expect(await answers((socket) => socket.write(post("quick") + post("quick 2")))).toEqual([
    "answer to quick",
    "answer to quick 2",
  ]);
  expect(await answers((socket) => socket.write(post("slow first") + post("second")))).toEqual([]);
  expect(aborted).toContain("slow first");
});

test("a body that is not read stays with the client, however long it may be", async () => {
  const waiting = Promise.withResolvers<Response>();
  const busy = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    fetch: () => waiting.promise,
  });
  const socket = connect({ port: busy.port ?? 0, host: "127.0.0.1" });
  socket.write(`POST / HTTP/1.1\r\nHost: svc\r\nContent-Length: ${2 ** 40}\r\n\r\n`);
  const megabyte = Buffer.alloc(2 ** 20);
  const drained = () => Promise.race([once(socket, "drain"), Bun.sleep(5 * WORK_MS)]);
  let sent = 0;
  while (sent < 100 && (socket.write(megabyte) || (await drained()))) sent++;
  // As much as the buffers of the connection take.
  expect(sent).toBeLessThan(50);
  socket.destroy();
  waiting.resolve(new Response());
  await busy.stop(true);
});

test.each([
  ["with a length", (size: number) => [`Content-Length: ${size}\r\n\r\n`, ""]],
  ["in chunks", (size: number) => [`Transfer-Encoding: chunked\r\n\r\n${size.toString(16)}\r\n`, "\r\n0\r\n\r\n"]],
])("a connection continues after a body that is read slowly, to its end or not: %s", async (_, around) => {
  const size = 4 * 2 ** 20;
  const slow = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      let read = 0;
      for await (const chunk of request.body ?? []) {
        await Bun.sleep(5);
        read += chunk.length;
        if (read >= Number(request.headers.get("x-most"))) break;
      }
      return new Response(`read ${read >= size ? "all" : "a part"}.`);
    },
  });
  const socket = connect({ port: slow.port ?? 0, host: "127.0.0.1" });
  const [begin = "", end = ""] = around(size);
  for (const most of [size, 2 ** 20, size, 2 ** 20, size]) {
    socket.write(`POST / HTTP/1.1\r\nHost: svc\r\nX-Most: ${most}\r\n${begin}`);
    socket.write(Buffer.alloc(size));
    socket.write(end);
    const [answer] = await once(socket, "data");
    expect(String(answer)).toContain(most === size ? "read all." : "read a part.");
  }
  socket.destroy();
  await slow.stop(true);
});
