// Clients that disconnect without notice: streaming or not, with short or long prompts, in the queue, in prefill or
// in decode.

import { PromptSource } from "../bench/prompts.ts";
import { streamChat } from "./chat-client.ts";
import { post } from "./post.ts";
import { Random } from "./random.ts";

export interface StormOptions {
  readonly clients: number;
  /** Each client disconnects after a random time up to this one. */
  readonly longestStayMs: number;
  readonly seed: number;
}

export interface StormResult {
  /** Clients that disconnected before their answer was complete. */
  readonly left: number;
  /** Clients that received their whole answer before their time to disconnect. */
  readonly finished: number;
  /** Failures of the other clients; a full queue (503) does not count. */
  readonly failures: readonly string[];
}

/** Runs one storm; resolves when the last client has disconnected. */
export async function disconnectStorm(url: string, options: StormOptions): Promise<StormResult> {
  const random = new Random(options.seed);
  const prompts = new PromptSource(options.seed);
  const failures: string[] = [];
  let left = 0;
  let finished = 0;
  const visit = async (client: number) => {
    const leave = AbortSignal.timeout(1 + random.next() * options.longestStayMs);
    const stream = client % 4 !== 0;
    const promptTokens = client % 3 === 0 ? 400 : 40;
    const body = { messages: [{ role: "user", content: prompts.next(promptTokens) }], max_tokens: 500 };
    try {
      if (!stream) {
        const response = await post(`${url}/v1/chat/completions`, body, { signal: leave });
        await response.text();
        if (response.status !== 200 && response.status !== 503) failures.push(`status ${response.status}`);
      } else {
        const result = await streamChat(url, body, { signal: leave });
        if (result.error && result.error.code !== "server_busy") failures.push(result.error.code);
      }
      finished++;
    } catch (error) {
      if (leave.aborted) left++;
      else failures.push(String(error));
    }
  };
  await Promise.all(Array.from({ length: options.clients }, (_, client) => visit(client)));
  return { left, finished, failures };
}
