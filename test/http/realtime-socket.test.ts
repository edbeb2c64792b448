// The memory of events that wait in live sessions: one budget for all of them.

import { expect, test } from "bun:test";
import { RealtimeWire } from "../../src/dialect/realtime/wire.ts";
import { ByteBudget } from "../../src/domain/byte-budget.ts";
import type { SvcError } from "../../src/domain/errors.ts";
import type { LiveEnd } from "../../src/domain/live.ts";
import { TurnLimit } from "../../src/domain/turn-limit.ts";
import { RealtimeSocket, type SharedLimits } from "../../src/http/realtime-socket.ts";

const MB = 2 ** 20;
/** 8,000 characters that take two bytes each. */
const EVENT = JSON.stringify({ type: "input_audio_buffer.clear", x: "\u0100".repeat(8000) });

/** Opens sessions that only record how they fail, and the codes they fail with. */
function sessionsOf(shared: SharedLimits) {
  const failures: [code: string, how: LiveEnd][] = [];
  const open = () => {
    const wire = new RealtimeWire({ query: new URLSearchParams(), headers: new Headers() });
    const socket = new RealtimeSocket(wire, shared, () => {});
    socket.session = {
      begin: () => {},
      handle: () => {},
      close: () => {},
      fail: ({ code }: SvcError, how: LiveEnd) => {
        failures.push([code, how]);
        socket.onEnd(how);
      },
    };
    return socket;
  };
  return { failures, open };
}

/** Returns how many events a session takes before it ends, at most `most`. */
function filled(socket: RealtimeSocket, most = 20_000): number {
  let taken = 0;
  for (; taken < most && !socket.how; taken++) socket.received(EVENT);
  return taken;
}

/** Turns in which one event begins; the test itself takes none. */
const limits = (bytes: number): SharedLimits => ({
  turns: new TurnLimit(1),
  waiting: new ByteBudget(bytes, "waiting events of live sessions"),
});

test("the events that wait in all sessions together have a limit in bytes", () => {
  const { failures, open } = sessionsOf(limits(8 * MB));
  const sessions = Array.from({ length: 16 }, () => {
    const socket = open();
    return { socket, taken: filled(socket, 100) };
  });
  const waiting = sessions.reduce((sum, { socket, taken }) => sum + (socket.how ? 0 : taken), 0);
  // Each session has a free MiB besides.
  expect(2 * 8000 * waiting).toBeLessThan((8 + 16) * MB);
  expect(new Set(failures.map(String))).toEqual(new Set(["server_busy,limit"]));
});

test("a session whose few events wait stays open beside others that fill the memory", () => {
  const { failures, open } = sessionsOf(limits(8 * MB));
  const [large, small] = [open(), open()];
  // What waits is then all that may wait.
  for (let count = 0; count < 580; count++) large.received(EVENT);
  for (let count = 0; count < 50; count++) small.received(EVENT);
  expect(failures).toEqual([]);
  large.received(EVENT.repeat(20));
  expect([large.how, small.how]).toEqual(["limit", undefined]);
});

test("the memory is free again when a session ends, and when its events are handled", async () => {
  const { failures, open } = sessionsOf(limits(8 * MB));
  const first = open();
  filled(first);
  expect(failures).toEqual([["server_busy", "limit"]]);
  const second = open();
  for (let count = 0; count < 500; count++) second.received(EVENT);
  second.closed();
  const third = open();
  for (let round = 0; round < 3; round++) {
    for (let count = 0; count < 300; count++) third.received(EVENT);
    for (let turn = 0; turn < 310; turn++) await new Promise(setImmediate);
  }
  expect(failures).toHaveLength(1);
});

test("a session has a limit of its own, in bytes", () => {
  const { failures, open } = sessionsOf(limits(1000 * MB));
  expect(2 * 8000 * filled(open())).toBeLessThan(65 * MB);
  expect(failures).toEqual([["rate_limit_exceeded", "limit"]]);
});
