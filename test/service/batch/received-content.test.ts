import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { BodyBudget } from "../../../src/domain/body-budget.ts";
import { receiveContent } from "../../../src/service/batch/received-content.ts";
import { temporaryFolder } from "../../http/harness.ts";

const MB = 1024 * 1024;

test("a line is no longer than a request may be, however large the file", async () => {
  const path = join(temporaryFolder(), "content");
  const most = Buffer.alloc(100 * MB, " ");
  async function* chunks() {
    yield Buffer.from("\n");
    yield most;
    yield Buffer.from(" ");
  }
  const received = receiveContent(chunks(), path, { bytes: 1000 * MB, lines: 10 }, () => {}, new BodyBudget());
  await expect(received).rejects.toMatchObject({
    code: "payload_too_large",
    message: "Line 2 of the file is too long: a line may have 100 MB.",
  });
  expect(existsSync(path)).toBe(false);
});

test("a long line leaves turns of the event loop to others while it is checked", async () => {
  const path = join(temporaryFolder(), "content");
  const line = Buffer.concat([Buffer.from('{"a":"'), Buffer.alloc(20 * MB, "a"), Buffer.from('"}\n')]);
  async function* chunks() {
    yield line;
  }
  let [turns, untilChecked, isOver] = [0, 0, false];
  const others = (async () => {
    for (; !isOver; turns++) await new Promise(setImmediate);
  })();
  const checked = () => void (untilChecked = turns);
  const received = receiveContent(chunks(), path, { bytes: 1000 * MB, lines: 10 }, checked, new BodyBudget());
  expect(await received).toBe(line.length);
  isOver = true;
  await others;
  expect(untilChecked).toBeGreaterThan(60);
});
