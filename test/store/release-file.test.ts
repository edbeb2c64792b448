// A release file from a server on this machine.

import { expect, onTestFinished, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fetchReleaseFile, type ReleaseFile } from "../../src/store/release-file.ts";
import { temporaryFolder } from "../support/folders.ts";
import { rejectionMessage } from "../support/thrown.ts";

const CONTENT = Buffer.from("an archive".repeat(10_000));
const sha256 = new Bun.CryptoHasher("sha256").update(CONTENT).digest("hex");
const patience = { attempts: 2, firstDelayMs: 1, longestDelayMs: 10, idleMs: 5000 };

function release(answer: (request: Request) => Response | Promise<Response>) {
  const folder = temporaryFolder();
  let requests = 0;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => {
      requests++;
      return answer(request);
    },
  });
  onTestFinished(() => void server.stop(true));
  const target = join(folder, "archive.zst");
  const url = `http://127.0.0.1:${server.port}/download/v1/archive.zst`;
  const options = { userAgent: "svc", signal: new AbortController().signal, note: () => {}, patience };
  const fetchFile = (file: ReleaseFile) => fetchReleaseFile(file, target, () => existsSync(target), options);
  const fetchIt = () => fetchFile({ url, bytes: CONTENT.length, sha256 });
  return { target, fetchIt, fetchUnsized: () => fetchFile({ url, sha256 }), requests: () => requests };
}

test("the file is downloaded completely, and once for several requests at the same time", async () => {
  const { target, fetchIt, requests } = release(() => new Response(CONTENT));
  await Promise.all([fetchIt(), fetchIt(), fetchIt()]);
  expect(readFileSync(target).equals(CONTENT)).toBe(true);
  expect(requests()).toBe(1);
});

test("a file of unknown size is accepted by its checksum", async () => {
  const { target, fetchUnsized } = release(() => new Response(CONTENT));
  await fetchUnsized();
  expect(readFileSync(target).equals(CONTENT)).toBe(true);
});

test("a file with other content does not get the name, whatever its size", async () => {
  const damaged = Buffer.from(CONTENT);
  damaged[100] = 0;
  const { target, fetchIt } = release(() => new Response(damaged));
  expect(await rejectionMessage(fetchIt())).toContain("wrong checksum");
  expect(existsSync(target)).toBe(false);
  const shorter = release(() => new Response(CONTENT.subarray(0, 50)));
  expect(await rejectionMessage(shorter.fetchIt())).toContain("50 bytes instead of 100000");
  expect(existsSync(shorter.target)).toBe(false);
});

test("a missing file is reported with its name and its server", async () => {
  const { fetchIt } = release(() => new Response("", { status: 404 }));
  expect(await rejectionMessage(fetchIt())).toMatch(/^127\.0\.0\.1:\d+ has no archive\.zst \(404\)\.$/);
});
