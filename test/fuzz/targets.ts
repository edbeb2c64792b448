// The routes for mutated requests and what a good answer is: every API, and the batch route in the form of the chat
// API.

import { strict as assert } from "node:assert";
import { chatErrors } from "../../src/contract/errors.ts";
import { LlamaCompletions } from "../../src/contract/llama-completion.ts";
import { checker } from "../../src/contract/schema.ts";
import { dialects, type Dialect } from "../contract/golden-rows.ts";
import { serverSentEvents } from "../support/streams/events.ts";
import { assembleMultiplex } from "../support/streams/multiplex.ts";
import { MARK } from "./seed-parts.ts";

export type Target = Pick<Dialect, "path" | "check" | "assemble">;

/** Status codes for client errors and lack of places. Any other error is a fault of svc. */
export const BLAMELESS = new Set([400, 404, 413, 503]);

const multiplex: Target = {
  path: "/v1/batch/completions",
  check: () => assert.fail("a batch is always answered by a stream"),
  assemble(text) {
    const items = assembleMultiplex(text);
    for (const { error } of items.values()) {
      if (!error) continue;
      const row = Object.entries(chatErrors).find(([code]) => code === error.code)?.[1];
      assert(row && BLAMELESS.has(row.status), `an item failed with ${error.code}`);
      assert(!error.message.includes(MARK), "an item's error repeats the request");
    }
    return { body: items };
  },
};

const checkLlama = checker(LlamaCompletions);
const completion: Target = {
  path: "/completion",
  check: checkLlama,
  assemble(text) {
    const chunks = serverSentEvents(text).map(({ data }) => JSON.parse(data) as { stop?: boolean; error?: never });
    const error = chunks.at(-1)?.error;
    if (error) return { error };
    assert(chunks.at(-1)?.stop, "the last chunk ends an answer");
    chunks.forEach(checkLlama);
    return { body: chunks };
  },
};
const infill: Target = { ...completion, path: "/infill" };

export const targets = { ...dialects, completion, infill, multiplex } as const satisfies Readonly<
  Record<string, Target>
>;
export type TargetName = keyof typeof targets;
