// The errors for a worker that cannot be used, and how long finding that out may take. For a usable worker see
// test/engine/workers.test.ts.

import { afterEach, expect, test } from "bun:test";
import { probeWorker } from "../../../src/engine/worker/probe.ts";
import { hello, memory, number } from "../../support/fake-worker.ts";
import { freePort } from "../../support/free-port.ts";

const listeners: Bun.TCPSocketListener<undefined>[] = [];
afterEach(() => {
  for (const listener of listeners.splice(0)) listener.stop(true);
});

/** Listens and answers everything it receives with `answer`. */
function listen(answer: (socket: Bun.Socket<undefined>, bytes: Buffer) => void, opened?: (socket: Bun.Socket) => void) {
  const socket = { data: answer, open: (one: Bun.Socket) => opened?.(one) };
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket });
  listeners.push(listener);
  return { host: "127.0.0.1", port: listener.port };
}

const complaint = (address: Parameters<typeof probeWorker>[0], patienceMs?: number) =>
  probeWorker(address, undefined, patienceMs).then(
    () => "none",
    (error: Error) => error.message,
  );

test("the free memory of each device is reported, even when answers arrive in pieces", async () => {
  const worker = listen((socket, bytes) => {
    if (bytes[0] === 14) {
      const whole = hello(7);
      socket.write(whole.subarray(0, 5));
      setTimeout(() => socket.write(whole.subarray(5)), 10);
    } else socket.write(bytes[0] === 15 ? number(2) : memory(1000 + (bytes[9] ?? 0)));
  });
  expect(await probeWorker({ ...worker, host: "localhost" })).toEqual({
    name: `localhost:${worker.port}`,
    endpoint: `127.0.0.1:${worker.port}`,
    free: [1000, 1001],
  });
});

test("a worker that does not listen is named", async () => {
  const port = await freePort();
  expect(await complaint({ host: "127.0.0.1", port })).toBe(
    `The worker 127.0.0.1:${port} cannot be reached (ECONNREFUSED).`,
  );
});

test("a worker that closes the connection, as it does for unknown machines, is named", async () => {
  const worker = listen(
    () => {},
    (socket) => void socket.end(),
  );
  expect(await complaint(worker)).toContain("its --allow does not name this machine");
});

test("a worker of another version, or without devices, is named", async () => {
  expect(await complaint(listen((socket) => void socket.write(hello(6))))).toContain("speaks version 6");
  const empty = listen((socket, bytes) => void socket.write(bytes[0] === 14 ? hello(7) : number(0)));
  expect(await complaint(empty)).toContain("has 0 devices");
});

test("a worker that does not answer times out, and a server that is stopping waits for none", async () => {
  const silent = listen(() => {});
  expect(await complaint(silent, 50)).toBe(
    `The worker 127.0.0.1:${silent.port} did not answer within 0.05 s: it is stopped, out of reach, or serves another server.`,
  );
  const stopping = new AbortController();
  const probe = probeWorker(silent, stopping.signal).catch((error: unknown) => error);
  stopping.abort("stopped");
  expect(await probe).toBe("stopped");
});

test("an answer that no worker would give is not accepted", async () => {
  const worker = listen((socket) => void socket.write("HTTP/1.1 400 Bad Request\r\n\r\n"));
  expect(await complaint(worker)).toContain("it is not a worker");
});
