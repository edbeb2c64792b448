// A process that computes while a message arrives, and reports whether it read the message before the next
// computation.

import { existsSync, rmSync } from "node:fs";
import { messagesRead } from "../../../src/engine/process/client-turns.ts";

/** This file exists once the message has been sent. */
const sent = process.argv[2] ?? "";
let messages = 0;
process.on("message", () => void messages++);
const read: number[] = [];
for (let round = 0; round < 6; round++) {
  // Every other round first reads a page from a file.
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
