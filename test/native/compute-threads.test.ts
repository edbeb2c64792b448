// Threads of a computation when there are fewer cores than it wants.

import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { availableParallelism } from "node:os";
import { answer, library, load, clear } from "./harness.ts";

// Other processes may use the cores.
setDefaultTimeout(60_000);

const CORES = availableParallelism();
const ANSWERS = 20;

const llama = library();
afterAll(() => llama.unload());

test("threads without a core of their own are dropped, and answers stay the same", async () => {
  await load(llama, { threads: 1 });
  const expected = answer(llama, "Tell me a short story.");
  expect(llama.computeThreads()).toBe(1);
  llama.unload();

  await load(llama, { threads: CORES + 2 });
  for (let count = 0; llama.computeThreads() > CORES && count < ANSWERS; count++) {
    clear(llama);
    expect(answer(llama, "Tell me a short story.")).toBe(expected);
  }
  expect(llama.computeThreads()).toBeWithin(1, CORES + 1);
});
