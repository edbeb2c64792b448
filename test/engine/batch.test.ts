// Batches on the real program: killed in the middle, and beside somebody who chats.

import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomNumbers } from "../simulation/traces.ts";
import { killBatch } from "../support/batch-kill.ts";

test("every line is answered once, however often the server is killed", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "svc-batch-"));
  try {
    const { kills, faults } = await killBatch({ lines: 300, kills: 3, random: randomNumbers(7), dataDir });
    expect(faults).toEqual([]);
    expect(kills).toBeGreaterThan(0);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}, 300_000);
