// How `svc update` finds the newest release, over connections that fail.

import { expect, test } from "bun:test";
import { newestArchive } from "../../src/cli/update.ts";
import { rawServer } from "../gateway/raw-server.ts";

const BUILD = { name: "svc", platform: "linux-x64" } as const;
const FILE = "svc-9.0.0-linux-x64.tar.xz";
const SUMS = `${"0".repeat(64)}  ${FILE}\n`;
const HEAD = `HTTP/1.1 200 OK\r\nContent-Length: ${SUMS.length}\r\n\r\n`;

/** Looks at a server that sends these answers in turn, then closes the connection unless the answer is complete. */
async function newest(answers: readonly string[], isClosed = true) {
  const left = [...answers];
  const notes: string[] = [];
  const releases = await rawServer((socket) => {
    const answer = left.shift() ?? "";
    socket.write(answer, () => isClosed && !answer.endsWith(SUMS) && socket.destroy());
  }, false);
  const patience = { attempts: 2, firstDelayMs: 1, longestDelayMs: 1, idleMs: 300 };
  const note = (text: string) => void notes.push(text);
  const options = { patience, signal: new AbortController().signal, note };
  const found = await newestArchive({ releases }, BUILD, options).catch((error: unknown) => error);
  return { found, notes: notes.join() };
}

test("a list of checksums that breaks off is requested again", async () => {
  const { found, notes } = await newest([HEAD + SUMS.slice(0, 70), HEAD + SUMS]);
  expect(found).toEqual({ version: "9.0.0", file: FILE, sha256: "0".repeat(64) });
  expect(notes).toContain("was lost; trying again");
});

test("a server that stays silent is given up like one that cannot be reached", async () => {
  const { found, notes } = await newest([HEAD, HEAD], false);
  expect(notes).toContain("does not answer; trying again");
  expect(found).toMatchObject({ name: "PullError", message: expect.stringContaining("gave up after 2 attempts") });
});

test("a server that sends an endless list is given up at once", async () => {
  const { found, notes } = await newest([`HTTP/1.1 200 OK\r\n\r\n${"x".repeat(100_001)}`], false);
  expect(found).toMatchObject({ name: "PullError", message: expect.stringContaining("than there can be") });
  expect(notes).toBe("");
});
