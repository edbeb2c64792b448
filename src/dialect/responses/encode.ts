// Encodes the events of one generation as a finished response, whole or as semantic events.

import type { ResponseResource } from "../../contract/responses.ts";
import { typedError, type SvcError } from "../../domain/errors.ts";
import type { AcceptedEvent, ChatMessage, FinishEvent, GenerateEvent } from "../../domain/generate.ts";
import { jsonParts } from "../../domain/json-parts.ts";
import { encodeReadInputs } from "../fields/read-inputs.ts";
import { withoutFinish } from "../stream/collect.ts";
import type { LongEvent, Put, StreamWriter } from "../stream/streamed.ts";
import type { ClientTools } from "./functions.ts";
import { OutputBuilder, type SemanticEvent } from "./output.ts";
import { endedResource, failedResource, cancelledResource } from "./resource.ts";

/** The end of a response: its resource, and its turn of the conversation. */
export interface ResponseEnd {
  readonly resource: ResponseResource;
  readonly message: ChatMessage;
}

export interface ResponseContext {
  /** The resource before anything is generated. */
  readonly resource: ResponseResource;
  readonly tools: ClientTools;
  /** Unix seconds. */
  readonly now: () => number;
  /** Called once, before the client receives the end. */
  readonly onEnd: (end: ResponseEnd) => void;
}

/** Returns the context with a resource that lists the media converted to text, once these are known. */
export const withReadInputs = (context: ResponseContext, known: Pick<AcceptedEvent, "readInputs">) => ({
  ...context,
  resource: { ...context.resource, ...encodeReadInputs(known) },
});

/** Collects the whole response. Throws what the generation throws. */
export async function encodeResponse(
  events: AsyncIterable<GenerateEvent>,
  context: ResponseContext,
): Promise<ResponseResource> {
  const response = new ResponseBuilder(context, () => {});
  try {
    for await (const event of events) response.add(event);
    return response.end();
  } catch (error) {
    const isDisconnected = error instanceof DOMException && error.name === "AbortError";
    // The caller logs unexpected errors.
    if (!isDisconnected) response.fail(typedError(error, () => {}));
    throw error;
  } finally {
    response.abandon();
  }
}

/**
 * Writes response.created, response.in_progress, the items as they are generated, and one of response.completed,
 * .incomplete and .failed with the full resource.
 */
export function responseWriter(put: Put<LongEvent>, context: ResponseContext): StreamWriter<GenerateEvent> {
  let sequence = 0;
  const emit = ({ type, ...fields }: SemanticEvent) => {
    const event = { type, sequence_number: sequence++, ...fields };
    // What has ended repeats the log probabilities of all its tokens, which may be many megabytes.
    const isLong = type.endsWith(".done") || "response" in fields;
    put({ event: type, data: isLong ? jsonParts(event) : JSON.stringify(event) });
  };
  const response = new ResponseBuilder(context, emit);
  return {
    begin() {
      emit({ type: "response.created", response: context.resource });
      emit({ type: "response.in_progress", response: context.resource });
    },
    event: (event) => response.add(event),
    end() {
      const ended = response.end();
      // The API has no event for a cancelled response, so it is reported as incomplete.
      emit({ type: `response.${ended.status === "cancelled" ? "incomplete" : ended.status}`, response: ended });
    },
    failure: (error) => emit({ type: "response.failed", response: response.fail(error) }),
    close: () => response.abandon(),
  };
}

/** Builds one response from its events. */
class ResponseBuilder {
  private output: OutputBuilder;
  private finish: FinishEvent | undefined;
  private isOver = false;

  constructor(
    private readonly context: ResponseContext,
    private readonly emit: (event: SemanticEvent) => void,
  ) {
    this.output = new OutputBuilder(context.tools, emit);
  }

  add(event: GenerateEvent): void {
    if (event.type === "restarted") this.output = new OutputBuilder(this.context.tools, this.emit);
    if (event.type !== "finish") return this.output.add(event);
    this.finish = event;
    this.output.end(event);
  }

  /** Ends the response after all events. Throws SvcError `internal_error` when no finish event came. */
  end(): ResponseResource {
    if (!this.finish) throw withoutFinish();
    const { resource, now } = this.context;
    return this.over(endedResource(resource, this.output.items, this.finish, now()));
  }

  fail({ message }: SvcError): ResponseResource {
    this.output.abandon();
    return this.over(failedResource(this.context.resource, this.output.items, message));
  }

  /** Unless it has ended, cancels the response: the client disconnected, perhaps while the stream waited for it. */
  abandon(): void {
    if (this.isOver) return;
    this.output.abandon();
    this.over(cancelledResource(this.context.resource, this.output.items));
  }

  private over(resource: ResponseResource): ResponseResource {
    this.isOver = true;
    this.context.onEnd({ resource, message: this.output.message });
    return resource;
  }
}
