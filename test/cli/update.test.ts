// How `svc update` finds the newest release, over connections that fail.

import { expect, test } from "bun:test";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expectRunning, isPackaged, newestArchive } from "../../src/cli/update.ts";
import { rawServer } from "../gateway/raw-server.ts";
import { temporaryFolder } from "../support/folders.ts";

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

/** Returns why a new executable is refused, a script that does this in its self-test; undefined if it is accepted. */
async function refused(selfTest: string) {
  const folder = temporaryFolder();
  const path = join(folder, "svc");
  writeFileSync(path, `#!/bin/sh\ncase "$*" in\n--version) echo "svc 9.0.0 (0123abc)" ;;\n${selfTest}\nesac\n`);
  chmodSync(path, 0o755);
  const { signal } = new AbortController();
  return expectRunning(path, "9.0.0", folder, signal).catch((error: Error) => error.message);
}

test.skipIf(process.platform === "win32")("a new executable needs only chats, and what fails is told", async () => {
  expect(await refused("self-test) exit 1 ;;")).toBeUndefined();
  const failing = 'self-test*) echo "ok    model: a, 1 ms"; echo "FAIL  GET /health: status 500, It broke."; exit 1 ;;';
  expect(await refused(failing)).toBe(
    "svc 9.0.0 fails its self-test on this machine (GET /health: status 500, It broke); nothing was changed.",
  );
  const silent = "svc 9.0.0 does not run on this machine; nothing was changed.";
  expect(await refused("self-test*) exit 1 ;;")).toBe(silent);
});

test.each([
  ["/usr/bin/svc", true],
  ["/opt/homebrew/Cellar/svc/1.0.0/bin/svc", true],
  [String.raw`C:\Users\ada\scoop\apps\svc\current\svc.exe`, true],
  [String.raw`C:\Users\ada\AppData\Local\Microsoft\WinGet\Packages\svc_x\svc.exe`, true],
  ["/usr/local/bin/svc", false],
  ["/home/ada/.local/bin/svc", false],
  [String.raw`C:\Users\ada\svc\svc.exe`, false],
])("what a package manager installed is left to it: %s", (executable, expected) => {
  expect(isPackaged(executable)).toBe(expected);
});
