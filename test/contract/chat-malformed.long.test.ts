import { expect, test } from "bun:test";
import { join } from "node:path";

test("memory is level after thousands of malformed chat requests, and the server still answers", async () => {
  // In a process of its own: what other tests leave in theirs goes, and grows, when it likes.
  const alone = Bun.spawn([process.execPath, "test", join(import.meta.dir, "chat-malformed-memory.ts")], {
    stdout: "ignore",
    stderr: "pipe",
  });
  const [told, status] = await Promise.all([alone.stderr.text(), alone.exited]);
  expect(status, told).toBe(0);
}, 60_000);
