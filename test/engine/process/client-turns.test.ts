import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ClientTurns } from "../../../src/engine/process/client-turns.ts";
import { temporaryFolder } from "../../support/folders.ts";

test("a message that arrives during a computation is read before the next turn", async () => {
  const sent = join(temporaryFolder(), "sent");
  const { promise: read, resolve } = Promise.withResolvers<unknown>();
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "reading-child.ts"), sent], {
    stdio: ["ignore", "ignore", "inherit"],
    ipc(message) {
      if (message !== "computing") return resolve(message);
      child.send("a job");
      // The message is sent when this turn of the event loop ends.
      setTimeout(() => writeFileSync(sent, ""), 20);
    },
  });
  expect(await read).toEqual([1, 1, 1, 1, 1, 1]);
  child.kill();
  await child.exited;
}, 30_000);

test("a client that arrives gets the next turn, whichever client had the last and however many jobs it has", () => {
  const turns = new ClientTurns<{ readonly name: string; readonly client?: string }>();
  for (const name of ["a1", "a2", "a3"]) turns.add({ name, client: "a" });
  expect(turns.next()?.name).toBe("a1");
  turns.add({ name: "b1", client: "b" });
  expect([turns.next()?.name, turns.next()?.name, turns.next()?.name]).toEqual(["b1", "a2", "b1"]);
});

test("a client that arrives late has its first turn before the second turns of others", () => {
  const turns = new ClientTurns<{ readonly name: string; readonly client?: string }>();
  for (const name of ["a1", "a2", "b1"]) turns.add({ name, client: name.slice(0, 1) });
  expect([turns.next()?.name, turns.next()?.name]).toEqual(["a1", "b1"]);
  turns.add({ name: "c1", client: "c" });
  expect([turns.next()?.name, turns.next()?.name, turns.next()?.name]).toEqual(["c1", "a2", "b1"]);
});

test("a job that is put back is its client's next one, but after other clients", () => {
  const turns = new ClientTurns<{ readonly name: string; readonly client?: string }>();
  for (const name of ["a1", "a2"]) turns.add({ name, client: "a" });
  const first = turns.next();
  turns.remove(first);
  turns.add({ name: "b1", client: "b" });
  if (first) turns.putBack(first);
  expect([turns.next()?.name, turns.next()?.name]).toEqual(["b1", "a1"]);
});

test("jobs without a client take turns as if each were a client", () => {
  const turns = new ClientTurns<{ readonly name: string; readonly client?: string }>();
  for (const name of ["x", "y"]) turns.add({ name });
  expect([turns.next()?.name, turns.next()?.name, turns.next()?.name]).toEqual(["x", "y", "x"]);
});
