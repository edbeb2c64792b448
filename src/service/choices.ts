// Several answers to one client's request: one engine request each, their events in one stream.

import type { AcceptedEvent, EngineEvent, GenerateRequest } from "../domain/generate.ts";
import type { TextPort } from "../engine/text/port.ts";
import { merge } from "./merge.ts";

/** The engine requests behind `requests`: one for each answer to each, with the ids that `keys` gives in turn. */
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

/**
 * Runs engine requests side by side, as answers 0, 1, 2 …; `accepted` comes once, for all. The first failure ends them all
 * and is thrown.
 */
export function generateAll(
  engine: TextPort,
  requests: readonly GenerateRequest[],
  signal: AbortSignal,
): AsyncIterable<EngineEvent> {
  const [only] = requests;
  return only && requests.length === 1 ? engine.generate(only, signal) : sideBySide(engine, requests, signal);
}

async function* sideBySide(
  engine: TextPort,
  requests: readonly GenerateRequest[],
  signal: AbortSignal,
): AsyncGenerator<EngineEvent, void, void> {
  const stop = new AbortController();
  const ends = AbortSignal.any([signal, stop.signal]);
  const answers = requests.map((request) => engine.generate(request, ends)[Symbol.asyncIterator]());
  const accepted = new Accepted(requests);
  try {
    for await (const { source: choice, value: event } of merge(answers)) {
      if (event.type !== "accepted") yield* accepted.hold({ ...event, choice });
      else yield* accepted.add(event, choice);
    }
  } finally {
    stop.abort();
    await Promise.allSettled(answers.map((answer) => answer.return?.()));
  }
}

/** Joins the acceptances of all requests into one: until the last is there, no status is settled. */
class Accepted {
  private readonly held: EngineEvent[] = [];
  private missing: number;
  private promptTokens = 0;
  private downgraded = false;

  constructor(private readonly requests: readonly GenerateRequest[]) {
    this.missing = requests.length;
  }

  *add(event: AcceptedEvent, choice: number): Generator<EngineEvent, void, void> {
    const request = this.requests[choice];
    // A prompt that several share counts once.
    if (request?.group === undefined || request.group === request.id) this.promptTokens += event.promptTokens;
    this.downgraded ||= event.downgraded;
    if (--this.missing > 0) return;
    yield { type: "accepted", promptTokens: this.promptTokens, downgraded: this.downgraded };
    yield* this.held;
  }

  *hold(event: EngineEvent): Generator<EngineEvent, void, void> {
    if (this.missing > 0) this.held.push(event);
    else yield event;
  }
}

/** With a seed, each answer has its own and the first is what a request for one gets. */
function seeded({ sampling }: GenerateRequest, choice: number): GenerateRequest["sampling"] {
  return sampling.seed === undefined ? sampling : { ...sampling, seed: (sampling.seed + choice) % 2 ** 32 };
}
