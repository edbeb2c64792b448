// Converts the messages of one stream to the pieces of its answer. Most messages differ from the previous one only in
// their text; from these, the text is cut out without parsing.

import { nextTurn } from "../domain/next-turn.ts";
import type { Piece } from "./output.ts";
import { isLong, parseLong } from "./long-json.ts";
import { splitLogprobs } from "./split-logprobs.ts";
import { parseMessage } from "./stream-lines.ts";
import { streamedFailure } from "./upstream-failure.ts";

/** The parts of a message around its text, including the quotation marks. */
interface Form {
  readonly head: string;
  readonly tail: string;
  readonly kind: "text" | "reasoning";
}

/** Consecutive forms that matched no other message, after which no more are learned. */
const MOST_UNUSED = 4;
/** Text without characters that JSON escapes. */
// oxlint-disable-next-line no-control-regex
const PLAIN = /^[^"\\\u0000-\u001f]+$/;

export class ChunkReader {
  private form: Form | undefined;
  private unused = 0;

  /** `decode` converts a parsed message. */
  constructor(private readonly decode: (message: unknown) => Piece) {}

  /**
   * Returns the piece of a message, or the pieces of a long one. Throws UpstreamFailure about invalid JSON, and about an
   * error that the message reports.
   */
  read(json: string): Piece | AsyncGenerator<Piece, void, void> {
    const known = this.fitted(json);
    if (known !== undefined) return this.said(known);
    if (isLong(json)) return this.readLong(json);
    const piece = this.decoded(parseMessage(json));
    if (this.unused < MOST_UNUSED) this.learn(json, piece);
    return piece;
  }

  /** Returns what `read` does for each message, in order; text of successive messages of one form becomes one piece. */
  *readJoined(messages: readonly string[]): Generator<ReturnType<ChunkReader["read"]>, void, void> {
    let [text, count] = ["", 0];
    for (const json of messages) {
      const known = this.fitted(json);
      if (known !== undefined) {
        text += known;
        count++;
        continue;
      }
      if (count > 0) yield this.said(text, count);
      [text, count] = ["", 0];
      yield this.read(json);
    }
    if (count > 0) yield this.said(text, count);
  }

  /** Returns the text of a message of the known form; undefined for another form or text that must be parsed. */
  private fitted(json: string): string | undefined {
    if (!this.form) return undefined;
    const { head, tail } = this.form;
    if (!json.startsWith(head) || !json.endsWith(tail)) return undefined;
    const text = json.slice(head.length, -tail.length);
    return PLAIN.test(text) ? text : undefined;
  }

  /** Returns the piece of so many messages of the known form. */
  private said(text: string, count = 1): Piece {
    this.unused = 0;
    const joined = count > 1 ? { count } : {};
    return this.form?.kind === "reasoning" ? { reasoning: text, ...joined } : { text, ...joined };
  }

  /** Emits a few log probabilities at a time, each with their tokens' part of the text; then all else. */
  private async *readLong(json: string): AsyncGenerator<Piece, void, void> {
    const { others, parts } = splitLogprobs(await parseLong(json));
    const { text = "", reasoning, ...rest } = this.decoded(others);
    if (reasoning !== undefined) yield { reasoning };
    let at = 0;
    for (const part of parts) {
      const { logprobs = [] } = this.decode(part);
      const said = logprobs.map(({ token }) => token).join("");
      const isNext = said !== "" && text.startsWith(said, at);
      yield { ...(isNext && { text: said }), logprobs };
      if (isNext) at += said.length;
      await nextTurn();
    }
    yield { ...rest, ...(at < text.length && { text: text.slice(at) }) };
  }

  private decoded(message: unknown): Piece {
    const failure = streamedFailure(message);
    if (failure) throw failure;
    return this.decode(message);
  }

  private learn(json: string, piece: Piece): void {
    const form = formOf(json, piece);
    if (!form) return;
    this.form = form;
    this.unused++;
  }
}

/** Returns the form of a message that has only text, which occurs in exactly one place. */
function formOf(json: string, { text, reasoning, ...rest }: Piece): Form | undefined {
  const said = text ?? reasoning;
  if (said === undefined || (text !== undefined && reasoning !== undefined)) return undefined;
  // Without escapes, each quotation mark begins or ends a string.
  if (json.includes("\\") || Object.values(rest).some((value) => value !== undefined)) return undefined;
  const quoted = `"${said}"`;
  const at = json.indexOf(quoted);
  if (at < 0 || json.indexOf(quoted, at + 1) >= 0) return undefined;
  const kind = text === undefined ? "reasoning" : "text";
  return { head: json.slice(0, at + 1), tail: json.slice(at + 1 + said.length), kind };
}
