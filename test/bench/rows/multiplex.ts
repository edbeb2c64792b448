// Many conversations that arrive together: in one request where the server supports that, and in separate requests.

import { streamChat } from "../client.ts";
import { bodyText, exchange } from "../exchange.ts";
import type { Figure, Measurement } from "../measurement.ts";
import type { PromptSource } from "../prompts.ts";

const PATH = "/v1/batch/completions";
const NOT_FOUND = 404;
/** Both ways take turns, so that neither always gets the warmer machine. */
const ROUNDS = 2;

export interface Items {
  readonly requests: number;
  readonly promptTokens: number;
  readonly maxTokens: number;
}

interface Event {
  readonly custom_id?: string;
  readonly object?: string;
  readonly usage?: { readonly completion_tokens: number };
}

/**
 * Sends all items in one streamed request. Returns the milliseconds until its end, or undefined when there is no such
 * route. Throws when an item is incomplete.
 */
async function together(port: number, shape: Items, prompts: PromptSource): Promise<number | undefined> {
  const requests = Array.from({ length: shape.requests }, (_, index) => ({
    custom_id: String(index),
    body: {
      messages: [{ role: "user", content: prompts.next(shape.promptTokens) }],
      max_tokens: shape.maxTokens,
      temperature: 0,
      ignore_eos: true,
      stream: true,
    },
  }));
  const reply = await exchange(port, { path: PATH, body: { requests } });
  if (reply.status === NOT_FOUND) return undefined;
  const text = bodyText(reply);
  if (reply.status !== 200 || !text.endsWith("data: [DONE]\n\n"))
    throw new Error(`${reply.status}: ${text.slice(-400)}`);
  const events = text.split("\n\n").flatMap((event) => (event.startsWith("data: {") ? [event.slice(6)] : []));
  const complete = events
    .map((event) => JSON.parse(event) as Event)
    .filter(({ usage }) => usage?.completion_tokens === shape.maxTokens);
  const names = new Set(complete.map(({ custom_id }) => custom_id));
  if (names.size !== shape.requests) throw new Error(`${names.size} of ${shape.requests} items are complete`);
  return reply.ended - reply.started;
}

/** Sends each item in its own request, all concurrently. */
async function apart(port: number, shape: Items, prompts: PromptSource): Promise<number> {
  const calls = Array.from({ length: shape.requests }, () => ({
    prompt: prompts.next(shape.promptTokens),
    maxTokens: shape.maxTokens,
  }));
  const results = await Promise.all(calls.map((call) => streamChat(port, call)));
  return Math.max(...results.map(({ ended }) => ended)) - Math.min(...results.map(({ started }) => started));
}

/**
 * Measures tokens per second of all answers: one request compared with separate ones, and with separate ones to the
 * other server.
 */
export function multiplex(shape: Items): Measurement {
  return {
    id: "multiplex",
    async run(port, prompts) {
      const times = { together: 0, apart: 0 };
      let isTaken = true;
      for (let round = 0; round < ROUNDS; round++) {
        const ways = [
          async () => {
            const ms = await together(port, shape, prompts);
            if (ms === undefined) isTaken = false;
            else times.together += ms;
          },
          async () => void (times.apart += await apart(port, shape, prompts)),
        ];
        for (const way of round % 2 === 0 ? ways : ways.toReversed()) await way();
      }
      const rate = (ms: number) => ((ROUNDS * shape.requests * shape.maxTokens) / ms) * 1000;
      const figure = (label: string, value: number): Figure => ({ label, unit: "tok/s", better: "higher", value });
      const each = figure(`${shape.requests} conversations, a request each`, rate(times.apart));
      const best = isTaken ? times.together : times.apart;
      const one: Figure = {
        ...figure(`${shape.requests} conversations, in one request (llama-server: one each)`, rate(best)),
        wanted: { ratio: { "llama-server": 1 } },
      };
      if (!isTaken) return [one, each];
      return [
        one,
        each,
        {
          label: "one request against one each, speed",
          unit: "times",
          better: "higher",
          value: times.apart / times.together,
          wanted: { value: 1 },
        },
      ];
    },
  };
}
