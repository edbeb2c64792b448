import { expect, test } from "bun:test";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ByteBudget } from "../../../src/domain/byte-budget.ts";
import type { SvcError } from "../../../src/domain/errors.ts";
import { nextTurn } from "../../../src/domain/next-turn.ts";
import { Semaphore } from "../../../src/domain/semaphore.ts";
import { LinesFile } from "../../../src/store/json-lines.ts";
import { receiveContent } from "../../../src/service/batch/received-content.ts";
import { validateInput } from "../../../src/service/batch/validate-input.ts";
import { temporaryFolder } from "../../support/folders.ts";

const MB = 1024 * 1024;

test("a line may not be longer than a request body, however large the file may be", async () => {
  const path = join(temporaryFolder(), "content");
  const most = Buffer.alloc(100 * MB, " ");
  async function* chunks() {
    yield Buffer.from("\n");
    yield most;
    yield Buffer.from(" ");
  }
  const received = receiveContent(chunks(), path, { bytes: 1000 * MB, lines: 10 }, () => {}, new ByteBudget(), "batch");
  await expect(received).rejects.toMatchObject({
    code: "payload_too_large",
    message: "Line 2 of the file is too long: a line may have at most 100 MiB.",
  });
  expect(existsSync(path)).toBe(false);
});

test("checking a long line does not block the event loop", async () => {
  const path = join(temporaryFolder(), "content");
  const line = Buffer.concat([Buffer.from('{"a":"'), Buffer.alloc(20 * MB, "a"), Buffer.from('"}\n')]);
  async function* chunks() {
    yield line;
  }
  const others = countTurns();
  let untilChecked = 0;
  const checked = () => void (untilChecked = others.turns());
  const received = receiveContent(chunks(), path, { bytes: 1000 * MB, lines: 10 }, checked, new ByteBudget(), "batch");
  expect(await received).toEqual({ bytes: line.length });
  await others.end();
  expect(untilChecked).toBeGreaterThan(60);
});

test("receiving thousands of short lines and making a batch of them does not block the event loop", async () => {
  const path = join(temporaryFolder(), "content");
  const lines = Array.from({ length: 40_000 }, (_, n) => {
    const body = { messages: [{ role: "user", content: "?" }] };
    return JSON.stringify({ custom_id: String(n), method: "POST", url: "/v1/chat/completions", body });
  });
  async function* chunks() {
    yield Buffer.from(lines.join("\n"));
  }
  const others = countTurns();
  await receiveContent(chunks(), path, { bytes: 1000 * MB, lines: 50_000 }, () => {}, new ByteBudget(), "batch");
  const received = others.turns();
  const { total } = await validateInput(
    new LinesFile(path, new Semaphore(MB)),
    "/v1/chat/completions",
    50_000,
    new AbortController().signal,
  );
  const checked = others.turns() - received;
  await others.end();
  expect(total).toBe(40_000);
  expect([received, checked].map((turns) => turns > 60)).toEqual([true, true]);
});

test("a file of nothing but line breaks is refused before they are all read", async () => {
  const path = join(temporaryFolder(), "content");
  let read = 0;
  async function* chunks() {
    for (; read < 100; read++) yield Buffer.alloc(64 * 1024, "\n");
  }
  const received = receiveContent(
    chunks(),
    path,
    { bytes: 1000 * MB, lines: 50_000 },
    () => {},
    new ByteBudget(),
    "batch",
  );
  expect(await received.catch((error: SvcError) => error.message)).toContain(
    "more than 100000 lines, blank ones included",
  );
  expect(read).toBeLessThan(3);
  expect(existsSync(path)).toBe(false);
});

test("a megabyte of blanks is no blank line", async () => {
  const path = join(temporaryFolder(), "content");
  async function* chunks() {
    yield Buffer.concat([Buffer.from("{}\n"), Buffer.alloc(2 * MB, " ")]);
  }
  const received = receiveContent(chunks(), path, { bytes: 1000 * MB, lines: 10 }, () => {}, new ByteBudget(), "batch");
  expect(await received.catch((error: SvcError) => error.code)).toBe("invalid_json");
});

/** Counts the turns of the event loop that other code gets. */
function countTurns() {
  let [turns, isOver] = [0, false];
  const counting = (async () => {
    for (; !isOver; turns++) await nextTurn();
  })();
  return {
    turns: () => turns,
    end(): Promise<void> {
      isOver = true;
      return counting;
    },
  };
}

test("a line of a batch that cannot be read is not called invalid", async () => {
  const path = join(temporaryFolder(), "content");
  writeFileSync(path, `${JSON.stringify("x".repeat(2 * MB))}\n`);
  const file = new LinesFile(path, new Semaphore(MB));
  const read = file.read.bind(file);
  file.read = (...asked) => {
    rmSync(path);
    return read(...asked);
  };
  const checked = validateInput(file, "/v1/chat/completions", 10, new AbortController().signal);
  await expect(checked).rejects.toMatchObject({ code: "ENOENT" });
});
