import { sendChat, streamChat } from "../client.ts";
import type { Figure, Measurement } from "../measurement.ts";
import type { PromptSource } from "../prompts.ts";

const STREAMS = 3;
const STREAM_TOKENS = 3000;
const WANTED_MS = 250;
/** Longest time to wait for a sequence to be freed: some servers complete abandoned requests. */
const LONGEST_MS = 30_000;
const GIVE_UP_MS = 180_000;

interface Leaver {
  readonly phase: string;
  readonly promptTokens: number;
  readonly maxTokens: number;
  /** How long the client stays after the computation of its sequence has begun. */
  readonly stayMs: number;
}

const LEAVERS: readonly Leaver[] = [
  { phase: "prefill", promptTokens: 4500, maxTokens: 16, stayMs: 150 },
  { phase: "decode", promptTokens: 32, maxTokens: STREAM_TOKENS, stayMs: 800 },
];

/** Measures how long a server works for a client that disconnects without streaming, while other clients stream. */
export function leave(): Measurement {
  return {
    id: "leave",
    async run(port, prompts) {
      const figures: Figure[] = [];
      for (const leaver of LEAVERS) {
        const value = await freedAfterMs(port, leaver, prompts);
        const label = `sequence freed after its client left in ${leaver.phase}`;
        figures.push({ label, unit: "ms", better: "lower", value, wanted: { value: WANTED_MS } });
      }
      return figures;
    },
  };
}

async function freedAfterMs(port: number, leaver: Leaver, prompts: PromptSource): Promise<number> {
  const stay = new AbortController();
  const going = new AbortController();
  // If a request ends before its client disconnects, there is nothing to measure.
  let ended = "";
  const untilEnd = async (who: string, leaves: AbortSignal, answer: Promise<unknown>) => {
    const status = await answer.then(String, String);
    if (!leaves.aborted) ended ||= `${who} ended: ${status}`;
  };
  const streams = Array.from({ length: STREAMS }, () => {
    const call = { prompt: prompts.next(32), maxTokens: STREAM_TOKENS, leave: stay.signal };
    return untilEnd("a stream", stay.signal, streamChat(port, call));
  });
  try {
    await untilBusy(
      port,
      (busy) => busy === STREAMS,
      () => ended,
    );
    const prompt = prompts.next(leaver.promptTokens);
    const fields = { ignore_eos: true };
    const answer = sendChat(port, { prompt, maxTokens: leaver.maxTokens, fields, leave: going.signal });
    void untilEnd("the leaver's answer", going.signal, answer);
    await untilBusy(
      port,
      (busy) => busy === STREAMS + 1,
      () => ended,
    );
    await Bun.sleep(leaver.stayMs);
    const left = performance.now();
    going.abort();
    const isOver = () => performance.now() - left > LONGEST_MS;
    await untilBusy(
      port,
      (busy) => busy <= STREAMS || isOver(),
      () => ended,
    );
    return performance.now() - left;
  } finally {
    going.abort();
    stay.abort();
    await Promise.all(streams);
    await untilBusy(port, (busy) => busy === 0);
  }
}

/** Waits until `reached`. Throws after a long time, or when `failure` returns a reason. */
async function untilBusy(port: number, reached: (busy: number) => boolean, failure = () => ""): Promise<void> {
  const deadline = performance.now() + GIVE_UP_MS;
  for (;;) {
    const slots = (await (await fetch(`http://127.0.0.1:${port}/slots`)).json()) as { is_processing: boolean }[];
    const busy = slots.filter((slot) => slot.is_processing).length;
    if (failure() !== "") throw new Error(failure());
    if (reached(busy)) return;
    if (performance.now() > deadline) throw new Error(`still ${busy} busy slots after ${GIVE_UP_MS / 1000} s`);
    await Bun.sleep(5);
  }
}
