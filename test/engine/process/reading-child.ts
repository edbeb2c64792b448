// A process that computes while a message comes, and says whether it had been read before the next computation.

import { existsSync, rmSync } from "node:fs";
import { messagesRead } from "../../../src/engine/process/turns.ts";

/** Is there when the message was sent. */
const sent = process.argv[2] ?? "";
let messages = 0;
process.on("message", () => void messages++);
const read: number[] = [];
for (let round = 0; round < 6; round++) {
  // A page is read from a file first, and not every time.
  if (round % 2 === 0) await Bun.file(import.meta.path).bytes();
  const before = messages;
  process.send?.("computing");
  while (!existsSync(sent)) Bun.sleepSync(5);
  rmSync(sent);
  Bun.sleepSync(20);
  await messagesRead();
  read.push(messages - before);
}
process.send?.(read);
