import { expect, test } from "bun:test";
import { DecisionLog } from "../../src/engine/text/child/decision-log.ts";
import type { ReadyPrompt } from "../../src/engine/text/child/intake.ts";
import type { Decoded } from "../../src/engine/text/child/observer.ts";
import { noUsage } from "../../src/domain/usage.ts";
import { plainRequest } from "../support/request.ts";

function start() {
  const lines: [string, object][] = [];
  const log = new DecisionLog((text, fields) => void lines.push([text, fields]));
  const accept = (key: number, id: string, now: number) => {
    const request = plainRequest("secret", { id });
    log.accepted({ key, request, tokens: new Int32Array(50) } as unknown as ReadyPrompt, now);
  };
  const compute = (key: number, before: number) =>
    log.decoded({ step: { rows: [{ key }] }, before } as unknown as Decoded);
  return { lines, log, accept, compute };
}

test("an admission is logged with the waiting time and the cached share of the prompt", () => {
  const { lines, log, accept } = start();
  accept(1, "ada", 100);
  const progress = () => ({ processed: 40, cached: 30, dropped: 0 });
  log.started([1], 140.4, { runningCount: 2, waitingCount: 1, progress });
  expect(lines).toEqual([["admitted", { id: "ada", waited_ms: 40, prompt: 50, cached: 30, running: 2, waiting: 1 }]]);
});

test("a preemption is logged, and the resumption at the next step that computes the request", () => {
  const { lines, log, accept, compute } = start();
  accept(1, "ada", 0);
  log.preempted(1, 200);
  compute(2, 250);
  compute(1, 300);
  compute(1, 350);
  expect(lines).toEqual([
    ["preempted", { id: "ada" }],
    ["resumed", { id: "ada", waited_ms: 100 }],
  ]);
});

test("a request that ends while it waits is not logged as resumed", () => {
  const { lines, log, accept, compute } = start();
  accept(1, "ada", 0);
  log.preempted(1, 200);
  log.finished({ key: 1, event: { type: "finish", reason: "cancelled", usage: noUsage() } });
  compute(1, 300);
  expect(lines).toEqual([["preempted", { id: "ada" }]]);
});
