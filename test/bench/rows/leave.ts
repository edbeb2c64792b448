import { sendChat, streamChat } from "../client.ts";
import type { Figure, Measurement } from "../measurement.ts";
import type { PromptSource } from "../prompts.ts";

const STREAMS = 3;
const STREAM_TOKENS = 3000;
const WANTED_MS = 250;
const GIVE_UP_MS = 60_000;

interface Leaver {
  readonly phase: string;
  readonly promptTokens: number;
  readonly maxTokens: number;
  /** How long it stays once its sequence is computed. */
  readonly stayMs: number;
}

const LEAVERS: readonly Leaver[] = [
  { phase: "prefill", promptTokens: 4500, maxTokens: 16, stayMs: 150 },
  { phase: "decode", promptTokens: 32, maxTokens: STREAM_TOKENS, stayMs: 800 },
];

/** A client that does not stream goes away while others stream: how long the server goes on working for it. */
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
  let ended = 0;
  const streams = Array.from({ length: STREAMS }, async () => {
    const call = { prompt: prompts.next(32), maxTokens: STREAM_TOKENS, leave: stay.signal };
    await streamChat(port, call).catch((error: unknown) => {
      if (!stay.signal.aborted) throw error;
    });
    ended++;
  });
  try {
    await untilBusy(port, (busy) => busy === STREAMS);
    const going = new AbortController();
    const { promptTokens, maxTokens } = leaver;
    const answer = sendChat(port, { prompt: prompts.next(promptTokens), maxTokens, leave: going.signal });
    const gone = answer.then(
      () => "answered",
      () => "left",
    );
    await untilBusy(port, (busy) => busy === STREAMS + 1);
    await Bun.sleep(leaver.stayMs);
    const left = performance.now();
    going.abort();
    await untilBusy(port, (busy) => busy <= STREAMS);
    const elapsed = performance.now() - left;
    if ((await gone) === "answered") throw new Error(`leave: answered before its client left in ${leaver.phase}`);
    if (ended > 0) throw new Error("leave: a stream ended before the sequence was freed");
    return elapsed;
  } finally {
    stay.abort();
    await Promise.allSettled(streams);
    await untilBusy(port, (busy) => busy === 0);
  }
}

async function untilBusy(port: number, reached: (busy: number) => boolean): Promise<void> {
  const deadline = performance.now() + GIVE_UP_MS;
  for (;;) {
    const slots = (await (await fetch(`http://127.0.0.1:${port}/slots`)).json()) as { is_processing: boolean }[];
    const busy = slots.filter((slot) => slot.is_processing).length;
    if (reached(busy)) return;
    if (performance.now() > deadline) throw new Error(`leave: still ${busy} busy slots after ${GIVE_UP_MS / 1000} s`);
    await Bun.sleep(5);
  }
}
