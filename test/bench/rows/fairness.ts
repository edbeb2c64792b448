import { firstTokenMs, streamChat, type ChatResult } from "../client.ts";
import type { Figure, Measurement } from "../measurement.ts";
import type { PromptSource } from "../prompts.ts";
import { median, percentile } from "../stats.ts";

const IDLE_REPEATS = 3;
const EVERY_MS = 1000;

export interface Flood {
  readonly requests: number;
  readonly promptTokens: number;
  readonly maxTokens: number;
}

const askAsChat = (port: number, prompts: PromptSource): Promise<ChatResult> =>
  streamChat(port, { prompt: prompts.next(64), maxTokens: 16, headers: { "X-Svc-Client": "chat" } });

/** Measures the time to first token of a client with one request per second, while another client floods the server. */
export function fairness({ requests, promptTokens, maxTokens }: Flood): Measurement {
  return {
    id: "fairness",
    async run(port, prompts) {
      const idle: number[] = [];
      for (let index = 0; index < IDLE_REPEATS; index++) idle.push(firstTokenMs(await askAsChat(port, prompts)));

      let flooding = true;
      const headers = { "X-Svc-Client": "batch" };
      const flood = Array.from({ length: requests }, () =>
        streamChat(port, { prompt: prompts.next(promptTokens), maxTokens, headers }),
      );
      const over = Promise.all(flood).finally(() => (flooding = false));
      const asked: Promise<ChatResult>[] = [];
      while (flooding) {
        await Promise.race([over, Bun.sleep(EVERY_MS)]);
        if (flooding) asked.push(askAsChat(port, prompts));
      }
      const flooded = (await Promise.all(asked)).map(firstTokenMs);
      const figure = (label: string, value: number): Figure => ({ label, unit: "ms", better: "lower", value });
      const beside = `first token of a chat beside ${requests} requests of another client`;
      return [
        figure("first token of a chat alone", median(idle)),
        figure(`${beside}, p50`, percentile(flooded, 0.5)),
        figure(`${beside}, p95`, percentile(flooded, 0.95)),
      ];
    },
  };
}
