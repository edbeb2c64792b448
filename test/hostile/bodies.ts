// Request bodies that are made to be expensive, ten at once, and what they cost the process that reads them.
//   bun test/hostile/bodies.ts

import { connect } from "node:net";
import { residentBytes } from "../support/processes.ts";
import { withServer } from "../support/server.ts";
import { runAlone, type Row } from "./row.ts";
import { slowestHealth } from "./slowest-health.ts";

const FLAGS = ["--ctx", "16384", "--parallel", "4", "--threads", "1"];
const AT_ONCE = 10;
const BYTES = 90 * 1024 * 1024;
const GIVEN_UP_MS = 120_000;
const MOST_MEMORY = 1.5e9;
const SLOWEST_HEALTH_MS = 100;

/** `start`, then `part` until there are so many bytes, then `end`. */
function body(start: string, part: string, end: string, bytes = BYTES): Buffer {
  const parts = Math.floor((bytes - start.length - end.length) / part.length);
  return Buffer.concat([Buffer.from(start), Buffer.alloc(parts * part.length, part), Buffer.from(end)]);
}

const content = (part: string, bytes?: number) => body('{"messages":[{"role":"user","content":"', part, '"}]}', bytes);

/** Each biases another token. */
function biases(bytes: number): Buffer {
  const entries: string[] = [];
  for (let size = 0, token = 0; size < bytes; token++) size += entries.push(`"${(token * 977) % 1e9}":1`) && 14;
  return Buffer.from(`{"messages":[{"role":"user","content":"Hello"}],"logit_bias":{${entries.join()}}}`);
}

const call = (part: string) =>
  body(
    '{"messages":[{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"[',
    part,
    '[]]"}}]}]}',
  );

const ATTACKS: Readonly<Record<string, () => Buffer>> = {
  small: () => content("Hello", 100),
  "empty lists": () => body('{"messages":[', "[],", "[]]}"),
  objects: () => body('{"messages":[', '{"a":1},', "{}]}"),
  numbers: () => body('{"messages":[', "1,", "1]}"),
  "biases of tokens": () => biases(BYTES),
  "biases of tokens (12.9 MB)": () => biases(12_900_000),
  "opening brackets": () => body('{"messages":', "[", ""),
  "pairs of brackets (1 MB)": () => body('{"messages":[', "[[]],", "[]]}", 1 << 20),
  "one string": () => content("a"),
  "one string without an end": () => body('{"messages":[{"role":"user","content":"', "a", ""),
  "one string of escapes": () => content('\\"\\n'),
  "strings of 50 KB": () => body('{"messages":[', `{"role":"user","content":"${"a\\n".repeat(17_000)}"},`, "{}]}"),
  "text of 35 MB": () => content("word\\n", 35 << 20),
  "arguments of empty lists": () => call("[],"),
};

/** Sends one POST over a socket of its own; resolves with the status, or why there is none. */
function send(port: number, bytes: Buffer): Promise<string> {
  const head = `POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${bytes.length}\r\n\r\n`;
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.write(head);
      socket.write(bytes);
    });
    const end = (answer: string) => {
      resolve(answer);
      socket.destroy();
    };
    socket.on("data", (data) => end(data.toString().split(" ", 2)[1] ?? ""));
    socket.on("error", () => end("no answer"));
    socket.setTimeout(GIVEN_UP_MS, () => end("no answer"));
  });
}

async function attacked(name: string, bytes: Buffer): Promise<Row> {
  let figure = "";
  let ok = false;
  await withServer(FLAGS, async (server) => {
    const answers = Array.from({ length: AT_ONCE }, () => send(server.port, bytes));
    const slowest = await slowestHealth(server.url, Promise.all(answers));
    const counts = Map.groupBy(await Promise.all(answers), (status) => status);
    const statuses = [...counts].map(([status, all]) => `${all.length} × ${status}`).join(", ");
    const most = residentBytes(server.pid, "peak");
    figure = `${(most / 1e9).toFixed(2)} GB, /health ${Math.round(slowest)} ms; ${statuses}`;
    ok =
      most < MOST_MEMORY && slowest < SLOWEST_HEALTH_MS && ![...counts.keys()].some((status) => !/^[45]/.test(status));
  });
  const limit = `${MOST_MEMORY / 1e9} GB, ${SLOWEST_HEALTH_MS} ms`;
  return { promise: "a body costs what it holds", attack: `${AT_ONCE} bodies at once: ${name}`, figure, limit, ok };
}

/** `only`: a part of the attack's name. */
export async function bodies(only = ""): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [name, make] of Object.entries(ATTACKS)) {
    if (!name.includes(only)) continue;
    const row = await attacked(name, make());
    console.error(row.attack, "–", row.figure);
    rows.push(row);
  }
  return rows;
}

if (import.meta.main) await runAlone(({ only }) => bodies(only));
