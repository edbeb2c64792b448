import { firstTokenMs, streamChat, type Message } from "../client.ts";
import type { Figure, Measurement, Wanted } from "../measurement.ts";

const TURNS = 10;
const FIRST_TOKENS = 8000;
const LAST_TOKENS = 20_000;
const ANSWER_TOKENS = 32;
const GROWTH = (LAST_TOKENS - FIRST_TOKENS) / (TURNS - 1);

/** Measures a conversation like those of agents: every turn sends everything before it, and a tool's result. */
export function agent(wanted: Wanted): Measurement {
  return {
    id: "agent",
    async run(port, prompts) {
      const messages: Message[] = [];
      const figures: Figure[] = [];
      for (let turn = 1; turn <= TURNS; turn++) {
        const news = prompts.next(turn === 1 ? FIRST_TOKENS : GROWTH - ANSWER_TOKENS);
        messages.push({ role: "user", content: news });
        const result = await streamChat(port, { prompt: messages, maxTokens: ANSWER_TOKENS });
        messages.push({ role: "assistant", content: result.text });
        const thousands = Math.round((FIRST_TOKENS + (turn - 1) * GROWTH) / 1000);
        const label = `agent, turn ${turn}, about ${thousands}k tokens, first token`;
        figures.push({ label, unit: "ms", better: "lower", value: firstTokenMs(result) });
      }
      // The mean rather than the median, because turns differ in length.
      const later = figures.slice(1).reduce((sum, { value }) => sum + value, 0) / (TURNS - 1);
      const label = `agent, turns 2 to ${TURNS}, first token, mean`;
      return [...figures, { label, unit: "ms", better: "lower", value: later, wanted }];
    },
  };
}
