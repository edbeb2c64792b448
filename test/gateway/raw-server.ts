// A server below HTTP, for answers that no HTTP server would send.

import { afterEach } from "bun:test";
import { createServer, type Server, type Socket } from "node:net";
import { modelList } from "./fixture-server.ts";

const running = new Set<Server>();
afterEach(() => {
  for (const server of running) server.close();
  running.clear();
});

type Answer = (socket: Socket, server: Server) => void;

/**
 * Starts the server and returns its address. `answer` gets the socket of each request for an answer; the model list
 * is valid.
 */
export async function rawServer(answer: Answer, listsModels = true): Promise<string> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (data) => {
      const list = JSON.stringify(modelList("far"));
      if (!listsModels || data.toString().startsWith("POST")) answer(socket, server);
      else if (data.toString().startsWith("GET")) socket.end(head("application/json") + list);
    });
  });
  running.add(server);
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
}

/** Returns the head of an answer that ends with its connection. */
export const head = (type: string) => `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nConnection: close\r\n\r\n`;
