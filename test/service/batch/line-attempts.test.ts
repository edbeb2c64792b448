import { expect, test } from "bun:test";
import { SvcError } from "../../../src/domain/errors.ts";
import { Semaphore } from "../../../src/domain/semaphore.ts";
import type { AnswerLine, LineBody } from "../../../src/service/batch/answer-line.ts";
import { answerLine } from "../../../src/service/batch/line-attempts.ts";

const retryAfterSeconds = 5;
const gone = new SvcError("upstream_unavailable", "cannot be reached", { retryAfterSeconds });
const lost = new SvcError("upstream_unavailable", "broke the connection", { retryAfterSeconds, sent: true });
const busy = new SvcError("server_busy", "one is busy, the other broke", { retryAfterSeconds, sent: true });
const answer = { id: "chatcmpl-1" } as Awaited<ReturnType<AnswerLine>>;

/** Answers a line with these results; returns its error code and the numbers of attempts and pauses. */
async function attempt(answers: readonly (SvcError | typeof answer)[], pauses: number[] = []) {
  let asked = 0;
  const waits: boolean[] = [];
  const deps = {
    places: new Semaphore(1),
    suspects: new Semaphore(1),
    pause: async (ms: number) => void pauses.push(ms),
    onWait: (begins: boolean) => void (begins && waits.push(true)),
    onUnexpected: (error: unknown) => {
      throw error;
    },
    answer: async () => {
      const next = answers[asked++];
      if (next === undefined || next instanceof SvcError) throw next;
      return next;
    },
  };
  const { signal } = new AbortController();
  const release = await deps.places.take(1, signal);
  const line = await answerLine(deps, { customId: "a", withBody: (use) => use({}) }, "batch", release, signal);
  return [line?.error?.code, asked, waits.length];
}

test("an unreachable server before a line is sent does not count as a failed attempt", async () => {
  expect(await attempt([gone, gone, gone, gone, answer])).toEqual([undefined, 5, 4]);
});

test("a line fails after its server broke the connection three times, however long it was unreachable in between", async () => {
  expect(await attempt([lost, gone, lost, gone, gone, lost, answer])).toEqual(["upstream_unavailable", 6, 3]);
  expect(await attempt([lost, lost, answer])).toEqual([undefined, 3, 0]);
});

test("a connection broken by one replica counts even when the error of another replica is reported", async () => {
  expect(await attempt([busy, busy, busy, answer])).toEqual(["server_busy", 3, 0]);
});

test("a line waits while its server refuses everything, and fails when that is about the line", async () => {
  const refused = new SvcError("upstream_error", "does not accept svc's key", { needsOperator: true });
  const pauses: number[] = [];
  expect(await attempt([refused, refused, refused, refused, answer], pauses)).toEqual([undefined, 5, 4]);
  expect(pauses).toEqual(Array(4).fill(30_000));
  const failed = new SvcError("upstream_error", "failed (500)");
  expect(await attempt([failed, failed, failed, answer])).toEqual(["upstream_error", 3, 0]);
});

test("a suspected line that ends while it waits for a place does not keep other suspected lines waiting", async () => {
  const [places, suspects] = [new Semaphore(1), new Semaphore(1)];
  const deps = {
    places,
    suspects,
    pause: async () => {},
    onWait: () => {},
    onUnexpected: () => {},
    answer: async () => {
      throw lost;
    },
  };
  const leaving = new AbortController();
  const release = await places.take(1, leaving.signal);
  // Another line gets the place that this one leaves.
  const other = places.take(1, new AbortController().signal);
  const waiting = { customId: "a", withBody: <T>(use: (body: LineBody) => Promise<T>) => use({}) };
  const over = answerLine(deps, waiting, "batch", release, leaving.signal);
  await other;
  await Bun.sleep(0);
  leaving.abort("deleted");
  await expect(over).rejects.toBe("deleted");
  expect(await Promise.race([suspects.take(1, new AbortController().signal), Bun.sleep(100)])).toBeFunction();
});

test("the pause is the one that a server asks for, up to five minutes", async () => {
  const hours = new SvcError("server_busy", "is at capacity", { retryAfterSeconds: 86_400 });
  const pauses: number[] = [];
  expect(await attempt([gone, hours, answer], pauses)).toEqual([undefined, 3, 2]);
  expect(pauses).toEqual([5000, 300_000]);
});
