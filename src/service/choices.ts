// Computes several answers to a client's request: one engine request each, their events merged into one stream.

import type { CancelCause } from "../domain/cancel.ts";
import type { EngineEvent, GenerateRequest } from "../domain/generate.ts";
import { contentOf } from "../domain/media.ts";
import type { Semaphore } from "../domain/semaphore.ts";
import type { TextPort } from "../engine/text/port.ts";
import { Merge } from "./merge.ts";
import { neverBegun } from "./never-begun.ts";

/** Returns the engine requests for `requests`: one for each answer to each, with the ids of `keys` in order. */
export function splitChoices(requests: readonly GenerateRequest[], keys: readonly string[]): GenerateRequest[] {
  const remaining = keys.values();
  const nextKey = () => remaining.next().value ?? "";
  return requests.flatMap((request) => {
    const ids = Array.from({ length: request.choices }, nextKey);
    if (ids.length === 1) return [{ ...request, id: ids[0] ?? "" }];
    const group = ids[0] ?? "";
    return ids.map((id, choice) => ({ ...request, id, choices: 1, group, sampling: seeded(request, choice) }));
  });
}

/** How to compute answers concurrently. */
interface SideBySide {
  /** Aborted when the answers are no longer wanted. */
  readonly signal: AbortSignal;
  /** Aborted with the cause when the request is cancelled: answers not yet sent to the engine are then never sent. */
  readonly stopped: AbortSignal;
  /** Answers that the engine computes concurrently. */
  readonly parallel: number;
  /** Memory for copies of images and sounds: the engine receives them again with each answer but the first. */
  readonly copies: Semaphore;
}

/** How many answers to queue in the engine beyond those being computed, so that it never waits for the next one. */
const AHEAD = 4;

/**
 * Runs engine requests concurrently, as answers 0, 1, 2 …; emits `accepted` once, when the first answer to each prompt
 * is accepted. The first failure ends all answers and is thrown.
 */
export function generateAll(
  engine: Pick<TextPort, "generate">,
  requests: readonly GenerateRequest[],
  options: SideBySide,
): AsyncIterable<EngineEvent> {
  const [only] = requests;
  return only && requests.length === 1 ? engine.generate(only, options.signal) : sideBySide(engine, requests, options);
}

async function* sideBySide(
  engine: Pick<TextPort, "generate">,
  requests: readonly GenerateRequest[],
  { signal, stopped, parallel, copies }: SideBySide,
): AsyncGenerator<EngineEvent, void, void> {
  const stop = new AbortController();
  const ends = AbortSignal.any([signal, stop.signal]);
  const merge = new Merge<EngineEvent>();
  const begun: AsyncIterator<EngineEvent>[] = [];
  const begin = (choice: number) => {
    const request = requests[choice];
    if (!request) return;
    const events = () =>
      stopped.aborted ? neverBegun(1, stopped.reason as CancelCause) : engine.generate(request, ends);
    const bytes = isFirst(request) ? 0 : (request.media ?? []).reduce((sum, one) => sum + contentOf(one).length, 0);
    const answer = (bytes > 0 ? holding(copies, bytes, { ends, stopped }, events) : events())[Symbol.asyncIterator]();
    begun.push(answer);
    merge.add(choice, answer);
  };
  const first = [...requests.keys()].filter((choice) => isFirst(requests[choice]));
  const others = [...requests.keys()].filter((choice) => !isFirst(requests[choice]));
  // Events wait for the last prompt's acceptance, which settles the status.
  const held: EngineEvent[] = [];
  let [missing, promptTokens, downgraded] = [first.length, 0, false];
  try {
    first.forEach(begin);
    for await (const { source: choice, value: event } of merge.values()) {
      if (event.type !== "accepted") {
        if (missing > 0) held.push({ ...event, choice });
        else yield { ...event, choice };
      } else if (isFirst(requests[choice])) {
        promptTokens += event.promptTokens;
        downgraded ||= event.downgraded;
        if (--missing > 0) continue;
        yield { type: "accepted", promptTokens, downgraded };
        yield* held;
        others.splice(0, parallel + AHEAD - first.length).forEach(begin);
      }
      if (event.type === "finish") others.splice(0, 1).forEach(begin);
    }
  } finally {
    stop.abort();
    await Promise.allSettled(begun.map((answer) => answer.return?.()));
  }
}

/**
 * Emits the events of a further answer, without its acceptance, which is reported once for all answers. Holds `bytes`
 * of `memory` from before the answer begins until the engine computes it, whether or not the events are read.
 */
async function* holding(
  memory: Semaphore,
  bytes: number,
  { ends, stopped }: { readonly ends: AbortSignal; readonly stopped: AbortSignal },
  events: () => AsyncIterable<EngineEvent>,
): AsyncGenerator<EngineEvent, void, void> {
  const free = await memory.take(bytes, AbortSignal.any([ends, stopped])).catch((error: unknown) => {
    if (ends.aborted) throw error;
    // A stopped answer needs no memory, because `events` never begins it.
    return () => {};
  });
  try {
    for await (const event of events()) {
      if (event.type === "accepted") continue;
      free();
      yield event;
    }
  } finally {
    free();
  }
}

/** Returns whether this is the first answer to its prompt, and so not a copy of another request. */
const isFirst = (request: GenerateRequest | undefined) => request?.group === undefined || request.group === request.id;

/** Gives each answer its own seed, if there is one; the first answer equals that of a request for one answer. */
function seeded({ sampling }: GenerateRequest, choice: number): GenerateRequest["sampling"] {
  return sampling.seed === undefined ? sampling : { ...sampling, seed: (sampling.seed + choice) % 2 ** 32 };
}
