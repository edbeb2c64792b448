// The events of one generation → a finished response, whole or as semantic events.

import type { ResponseResource } from "../../contract/responses.ts";
import { SvcError } from "../../domain/errors.ts";
import type { ChatMessage, GenerateEvent } from "../../domain/generate.ts";
import type { NamedEvent, StreamContext } from "../fields/stream.ts";
import { typedError } from "../fields/typed-error.ts";
import type { FunctionNames } from "./functions.ts";
import { OutputBuilder, type SemanticEvent } from "./output.ts";
import { endedResource, failedResource, leftResource } from "./resource.ts";

/** How a response ended: its resource, and its turn of the conversation. */
export interface ResponseEnd {
  readonly resource: ResponseResource;
  readonly message: ChatMessage;
}

export interface ResponseContext {
  /** The resource before anything was generated. */
  readonly resource: ResponseResource;
  readonly names: FunctionNames;
  /** Unix seconds. */
  readonly now: () => number;
  /** Told once, before the client is. */
  readonly onEnd: (end: ResponseEnd) => void;
}

/** Collects the whole response. Throws what the generation throws, after telling of the failure. */
export async function encodeResponse(
  events: AsyncIterable<GenerateEvent>,
  { resource, names, now, onEnd }: ResponseContext,
): Promise<ResponseResource> {
  const output = new OutputBuilder(names);
  try {
    for await (const event of events) {
      if (event.type !== "finish") {
        drain(output.add(event));
        continue;
      }
      drain(output.end(event));
      const ended = endedResource(resource, output.items, event, now());
      onEnd({ resource: ended, message: output.message });
      return ended;
    }
    throw new SvcError("internal_error", "The generation ended without a finish.");
  } catch (error) {
    drain(output.abandon());
    // Whoever gets the error tells of it.
    onEnd({ resource: resourceOf(error, resource, output, () => {}), message: output.message });
    throw error;
  }
}

/** The resource of a generation that threw: it failed, or its client left. */
function resourceOf(
  error: unknown,
  resource: ResponseResource,
  { items }: OutputBuilder,
  onUnexpected: (error: unknown) => void,
): ResponseResource {
  if (error instanceof DOMException && error.name === "AbortError") return leftResource(resource, items);
  return failedResource(resource, items, typedError(error, onUnexpected).message);
}

/** What the events tell is in the items as well. */
function drain(events: Iterable<SemanticEvent>): void {
  for (const _ of events);
}

/**
 * Yields response.created, response.in_progress, the items as they are written, and one of response.completed, .incomplete
 * and .failed with the full resource. After an abort the stream just ends. Never throws.
 */
export async function* encodeResponseEvents(
  events: AsyncIterator<GenerateEvent>,
  { resource, names, now, onEnd }: ResponseContext,
  { signal, onUnexpected }: Pick<StreamContext, "signal" | "onUnexpected">,
): AsyncGenerator<NamedEvent, void, void> {
  const output = new OutputBuilder(names);
  let sequence = 0;
  const frame = ({ type, ...fields }: SemanticEvent): NamedEvent => ({
    event: type,
    data: JSON.stringify({ type, sequence_number: sequence++, ...fields }),
  });
  let isOver = false;
  const over = (ended: ResponseResource) => {
    isOver = true;
    onEnd({ resource: ended, message: output.message });
  };
  const end = (ended: ResponseResource): NamedEvent => {
    over(ended);
    // The convention has no event for a cancelled response: it is one that is not complete.
    const status = ended.status === "cancelled" ? "incomplete" : ended.status;
    return frame({ type: `response.${status}`, response: ended });
  };
  try {
    yield frame({ type: "response.created", response: resource });
    yield frame({ type: "response.in_progress", response: resource });
    for (let next = await events.next(); !next.done; next = await events.next()) {
      const event = next.value;
      if (event.type !== "finish") {
        for (const told of output.add(event)) yield frame(told);
        continue;
      }
      for (const told of output.end(event)) yield frame(told);
      yield end(endedResource(resource, output.items, event, now()));
    }
  } catch (error) {
    if (signal.aborted) return;
    for (const told of output.abandon()) yield frame(told);
    yield end(resourceOf(error, resource, output, onUnexpected));
  } finally {
    if (!isOver) {
      // The client has left, also when the stream waited for it to read on.
      drain(output.abandon());
      over(leftResource(resource, output.items));
    }
    await events.return?.();
  }
}

/** The events as a client gets them: `[DONE]` after the last one, but not after an abort. */
export async function* terminated(
  events: AsyncIterable<NamedEvent>,
  signal: AbortSignal,
): AsyncGenerator<NamedEvent | string, void, void> {
  yield* events;
  if (!signal.aborted) yield "[DONE]";
}
