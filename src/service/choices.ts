// Several answers to one prompt: one engine request each, their events in one stream.

import type { AcceptedEvent, GenerateEvent, GenerateRequest } from "../domain/generate.ts";
import type { EnginePort } from "../engine/port.ts";

/**
 * Runs one engine request for each of `keys`, as answers 0, 1, 2 …; with one key that is the request itself. `accepted`
 * comes once. The first failure ends all of them and is thrown.
 */
export function generateChoices(
  engine: EnginePort,
  request: GenerateRequest,
  keys: readonly string[],
  signal: AbortSignal,
): AsyncIterable<GenerateEvent> {
  const [only = request.id] = keys;
  return keys.length > 1 ? merge(engine, request, keys, signal) : engine.generate({ ...request, id: only }, signal);
}

async function* merge(
  engine: EnginePort,
  request: GenerateRequest,
  keys: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<GenerateEvent, void, void> {
  const stop = new AbortController();
  const abort = () => stop.abort(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  const group = keys[0] ?? request.id;
  const iterators = keys.map((id, choice) => {
    const own = { ...request, id, choices: 1, group, sampling: seeded(request, choice) };
    return engine.generate(own, stop.signal)[Symbol.asyncIterator]();
  });
  const pull = async (choice: number, iterator: AsyncIterator<GenerateEvent>) => ({
    choice,
    iterator,
    result: await iterator.next(),
  });
  const pending = new Map(iterators.map((iterator, choice) => [choice, pull(choice, iterator)]));
  let accepted: AcceptedEvent | undefined;
  try {
    while (pending.size > 0) {
      const { choice, iterator, result } = await Promise.race(pending.values());
      pending.delete(choice);
      if (result.done) continue;
      pending.set(choice, pull(choice, iterator));
      const event = result.value;
      if (event.type !== "accepted") yield { ...event, choice };
      else if (!accepted) yield (accepted = event);
    }
  } finally {
    signal.removeEventListener("abort", abort);
    stop.abort();
    // Their failures after this are the consequence of the first.
    for (const rest of pending.values()) rest.catch(() => {});
    await Promise.allSettled(iterators.map((iterator) => iterator.return?.()));
  }
}

/** With a seed, each answer has its own and the first is what a request for one gets. */
function seeded({ sampling }: GenerateRequest, choice: number): GenerateRequest["sampling"] {
  return sampling.seed === undefined ? sampling : { ...sampling, seed: (sampling.seed + choice) % 2 ** 32 };
}
