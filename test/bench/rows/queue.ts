import { readChat, sendChat, type ChatCall } from "../client.ts";
import type { Reply } from "../exchange.ts";
import type { Figure, Measurement } from "../measurement.ts";
import { percentile } from "../stats.ts";

const PROBE_EVERY_MS = 50;
const REFUSED_WITHIN_MS = 500;
const PROBES = 4;
/** Waits below this are too short to be judged in whole seconds. */
const JUDGED_FROM_S = 2;
const STREAM = { stream: true, ignore_eos: true };

export interface Crowd {
  readonly requests: number;
  readonly maxTokens: number;
}

interface Estimate {
  /** Seconds in the Retry-After header. */
  readonly told: number;
  /** Seconds until a place was actually free. */
  readonly took: number;
}

/** Measures far more requests than the queue holds: refusals must come at once, with a correct Retry-After. */
export function queue({ requests, maxTokens }: Crowd): Measurement {
  return {
    id: "queue",
    async run(port, prompts) {
      const call = (): ChatCall => ({ prompt: prompts.next(32), maxTokens, fields: STREAM });
      // From these requests the server learns how long an answer takes.
      const first = await Promise.all(Array.from({ length: requests }, () => sendChat(port, call())));
      let crowded = true;
      const crowd = Promise.all(Array.from({ length: requests }, () => sendChat(port, call())));
      const over = crowd.finally(() => (crowded = false));
      // By now every place is taken.
      await Bun.sleep(1000);
      const estimates: Estimate[] = [];
      const admitted: Promise<Reply>[] = [];
      while (crowded && estimates.length < PROBES) {
        const { estimate, answer } = await probe(port, call);
        admitted.push(answer);
        if (estimate) estimates.push(estimate);
      }
      const replies = await over;
      for (const reply of await Promise.all(admitted)) readChat(reply);
      const refused = replies.filter(isRefusal);
      const waits = waitsOf(refused);
      const complete = replies.filter((reply) => isComplete(reply, maxTokens)).length;
      const judged = estimates.filter(({ told, took }) => Math.max(told, took) >= JUDGED_FROM_S);
      const factors = judged.map(({ told, took }) => Math.max(told / took, took / told));
      console.error(`bench: Retry-After and the truth: ${estimates.map(describe).join(", ")}`);
      return [
        {
          label: "turned away by a server that never did, max",
          unit: "ms",
          better: "lower",
          value: percentile(waitsOf(first.filter(isRefusal)), 1),
        },
        { label: `turned away of ${requests}`, unit: "requests", better: "lower", value: refused.length },
        { label: "turned away after, p50", unit: "ms", better: "lower", value: percentile(waits, 0.5) },
        {
          label: "turned away after, max",
          unit: "ms",
          better: "lower",
          value: percentile(waits, 1),
          wanted: { value: 50 },
        },
        {
          label: "complete answers",
          unit: "requests",
          better: "higher",
          value: complete,
          wanted: { value: requests - refused.length },
        },
        {
          label: "Retry-After off by, worst probe",
          unit: "times",
          better: "lower",
          value: percentile(factors, 1),
          wanted: { value: 2 },
        },
      ] satisfies Figure[];
    },
  };
}

const isRefusal = ({ status }: Reply): boolean => status === 503;

const waitsOf = (replies: readonly Reply[]): number[] => replies.map(({ started, ended }) => ended - started);

/** Retries until a request is accepted; without an estimate when the first one is. */
async function probe(
  port: number,
  call: () => ChatCall,
): Promise<{ readonly estimate: Estimate | undefined; readonly answer: Promise<Reply> }> {
  let refused: Reply | undefined;
  for (;;) {
    const sent = performance.now();
    const answer = sendChat(port, call());
    // A refusal comes at once, so a request that takes longer was accepted.
    const early = await Promise.race([answer, Bun.sleep(REFUSED_WITHIN_MS)]);
    if (early?.status !== 503) {
      const told = Number(refused?.headers.get("retry-after"));
      return { estimate: refused && { told, took: (sent - refused.ended) / 1000 }, answer };
    }
    refused ??= early;
    await Bun.sleep(PROBE_EVERY_MS);
  }
}

function isComplete(reply: Reply, tokens: number): boolean {
  try {
    return readChat(reply).completionTokens === tokens;
  } catch {
    return false;
  }
}

const describe = ({ told, took }: Estimate): string => `${told} s for ${took.toFixed(1)} s`;
