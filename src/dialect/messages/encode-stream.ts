// Encodes the events of one generation as the named events of a streamed message. One block is open at a time.

import { messagesError } from "../../contract/errors.ts";
import type { GenerateEvent } from "../../domain/generate.ts";
import { noUsage } from "../../domain/usage.ts";
import type { NamedEvent, Put, StreamedRequest, StreamWriter } from "../stream/streamed.ts";
import { beginning, DIRECT, encodeUsage, finishOf, stopOf, toolUseId, type MessagesAnswer } from "./encode.ts";

/** Keeps a silent stream alive. */
export const PING = 'event: ping\ndata: {"type":"ping"}\n\n';

/**
 * Writes message_start, ping, the blocks with their deltas, message_delta with the usage, and message_stop. A failure
 * becomes an error event, which is the last one.
 */
export function messageWriter(
  put: Put<NamedEvent>,
  message: MessagesAnswer,
  { requestId, promptTokens, readInputs }: StreamedRequest,
): StreamWriter<GenerateEvent> {
  const write = (type: string, fields: object) => put({ event: type, data: JSON.stringify({ type, ...fields }) });
  const blocks = new BlockWriter(write, message.showThinking);
  return {
    begin() {
      write("message_start", { message: beginning({ ...message, readInputs }, noUsage(promptTokens)) });
      write("ping", {});
    },
    event(event) {
      if (event.type !== "finish") {
        if (!message.promptAlone) blocks.write(event);
        return;
      }
      blocks.close();
      const ended = finishOf(event, message);
      write("message_delta", { delta: stopOf(ended, message.stopSequences), usage: encodeUsage(ended.usage) });
      write("message_stop", {});
    },
    failure: (error) => write("error", messagesError(error, requestId)),
  };
}

type Kind = "text" | "thinking" | "tool_use";

class BlockWriter {
  private index = -1;
  private open: Kind | undefined;

  constructor(
    private readonly put: (type: string, fields: object) => void,
    private readonly showThinking: boolean,
  ) {}

  write(event: GenerateEvent): void {
    if (event.type === "text" && event.text !== "") {
      this.begin("text", { text: "" });
      this.delta({ type: "text_delta", text: event.text });
    } else if (event.type === "reasoning" && this.showThinking) {
      this.begin("thinking", { thinking: "", signature: "" });
      this.delta({ type: "thinking_delta", thinking: event.text });
    } else if (event.type === "tool_call") {
      this.close();
      const { id, name } = event;
      this.begin("tool_use", { id: toolUseId(id), name, input: {}, caller: DIRECT });
    } else if (event.type === "tool_arguments") {
      this.delta({ type: "input_json_delta", partial_json: event.text });
    }
  }

  close(): void {
    if (this.open === undefined) return;
    // Clients send reasoning back with its signature. Our signatures are empty.
    if (this.open === "thinking") this.delta({ type: "signature_delta", signature: "" });
    this.open = undefined;
    this.put("content_block_stop", { index: this.index });
  }

  private begin(kind: Kind, block: object): void {
    if (this.open === kind) return;
    this.close();
    this.open = kind;
    this.index++;
    this.put("content_block_start", { index: this.index, content_block: { type: kind, ...block } });
  }

  private delta(delta: object): void {
    this.put("content_block_delta", { index: this.index, delta });
  }
}
