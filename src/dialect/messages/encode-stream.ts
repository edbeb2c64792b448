// The events of one generation → the named events of a streamed message. One block is open at a time.

import { messagesError } from "../../contract/errors.ts";
import type { GenerateEvent } from "../../domain/generate.ts";
import { noUsage } from "../../domain/usage.ts";
import { typedError } from "../fields/typed-error.ts";
import {
  DIRECT,
  encodeMessageUsage,
  encodeUsage,
  NOT_STOPPED,
  stopOf,
  toolUseId,
  type MessagesAnswer,
} from "./encode.ts";

export interface MessagesStreamOptions {
  readonly requestId: string;
  readonly signal: AbortSignal;
  readonly onUnexpected: (error: unknown) => void;
  /** Told at the beginning, when nothing else is known of the usage. */
  readonly promptTokens: number;
}

export interface NamedEvent {
  readonly event: string;
  readonly data: string;
}

/** What keeps a silent stream alive. */
export const PING = 'event: ping\ndata: {"type":"ping"}\n\n';

/**
 * Yields message_start, ping, the blocks with their deltas, message_delta with the usage, message_stop. A failure becomes
 * an error event, the last one; after an abort the stream just ends. Never throws.
 */
export async function* encodeMessageStream(
  events: AsyncIterator<GenerateEvent>,
  answer: MessagesAnswer,
  { requestId, signal, onUnexpected, promptTokens }: MessagesStreamOptions,
): AsyncGenerator<NamedEvent, void, void> {
  const blocks = new BlockWriter(answer.showThinking);
  try {
    yield start(answer, promptTokens);
    yield named("ping", {});
    for (let next = await events.next(); !next.done; next = await events.next()) {
      const event = next.value;
      if (event.type !== "finish") {
        yield* blocks.write(event);
        continue;
      }
      yield* blocks.close();
      yield named("message_delta", {
        delta: stopOf(event, answer.stopSequences),
        usage: encodeUsage(event.usage),
      });
      yield named("message_stop", {});
    }
  } catch (error) {
    if (signal.aborted) return;
    yield named("error", messagesError(typedError(error, onUnexpected), requestId));
  } finally {
    await events.return?.();
  }
}

const named = (type: string, fields: object): NamedEvent => ({
  event: type,
  data: JSON.stringify({ type, ...fields }),
});

const start = ({ id, model }: MessagesAnswer, promptTokens: number): NamedEvent =>
  named("message_start", {
    message: {
      id,
      type: "message",
      role: "assistant",
      model,
      content: [],
      ...NOT_STOPPED,
      diagnostics: null,
      usage: encodeMessageUsage(noUsage(promptTokens)),
    },
  });

type Kind = "text" | "thinking" | "tool_use";

class BlockWriter {
  private index = -1;
  private open: Kind | undefined;

  constructor(private readonly showThinking: boolean) {}

  *write(event: GenerateEvent): Generator<NamedEvent, void, void> {
    if (event.type === "text" && event.text !== "") {
      yield* this.begin("text", { text: "", citations: null });
      yield this.delta({ type: "text_delta", text: event.text });
    } else if (event.type === "reasoning" && this.showThinking) {
      yield* this.begin("thinking", { thinking: "", signature: "" });
      yield this.delta({ type: "thinking_delta", thinking: event.text });
    } else if (event.type === "tool_call") {
      yield* this.close();
      yield* this.begin("tool_use", { id: toolUseId(event.id), name: event.name, input: {}, caller: DIRECT });
    } else if (event.type === "tool_arguments") {
      yield this.delta({ type: "input_json_delta", partial_json: event.text });
    }
  }

  *close(): Generator<NamedEvent, void, void> {
    if (this.open === undefined) return;
    // Clients give thoughts back with their signature; ours is empty, and said to be.
    if (this.open === "thinking") yield this.delta({ type: "signature_delta", signature: "" });
    this.open = undefined;
    yield named("content_block_stop", { index: this.index });
  }

  private *begin(kind: Kind, block: object): Generator<NamedEvent, void, void> {
    if (this.open === kind) return;
    yield* this.close();
    this.open = kind;
    this.index++;
    yield named("content_block_start", { index: this.index, content_block: { type: kind, ...block } });
  }

  private delta(delta: object): NamedEvent {
    return named("content_block_delta", { index: this.index, delta });
  }
}
