// The answer to one line of a batch: the chat route's own decoding and encoding, in the background.

import type { ChatCompletion } from "../../contract/chat.ts";
import { decodeChat, type ChatSettings } from "../../dialect/chat/decode.ts";
import { encodeChat } from "../../dialect/chat/encode.ts";
import type { AnswerOrigin } from "../../dialect/fields/answer-origin.ts";
import type { GenerationService } from "../generation.ts";

/** Whose request a line is. */
export interface LineOrigin {
  readonly id: string;
  readonly client: string;
}

/** Answers a body. Throws what decoding and generation throw, or the signal's reason. */
export type AnswerLine = (body: unknown, own: LineOrigin, signal: AbortSignal) => Promise<ChatCompletion>;

/** Answers chat completions, never as a stream; `answerOrigin` identifies each answer, by the model that the line names. */
export const chatLines =
  (generation: GenerationService, settings: ChatSettings, answerOrigin: (model?: string) => AnswerOrigin): AnswerLine =>
  async (body, own, signal) => {
    const { request } = decodeChat(body, settings);
    const { choices, topLogprobs } = request;
    const events = generation.generate({ ...request, ...own, background: true }, signal);
    const { value } = await events.next();
    const transcribed = value?.type === "accepted" ? value.transcribed : undefined;
    const options = { choices, withLogprobs: topLogprobs !== undefined, transcribed };
    return encodeChat(events, answerOrigin(request.model), options);
  };
