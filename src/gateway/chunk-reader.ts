// Converts the messages of one stream to the pieces of its answer. Most messages differ from the previous one only in
// their text; from these, the text is cut out without parsing.

import type { Piece } from "./output.ts";
import { isLong, parseLong } from "./long-json.ts";
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
   * Returns the piece of a message, as a promise if the message is long. Throws UpstreamFailure about invalid JSON, and
   * about an error that the message reports.
   */
  read(json: string): Piece | Promise<Piece> {
    const known = this.form && fitted(json, this.form);
    if (known) {
      this.unused = 0;
      return known;
    }
    if (isLong(json)) return parseLong(json).then((message) => this.decoded(json, message));
    return this.decoded(json, parseMessage(json));
  }

  private decoded(json: string, message: unknown): Piece {
    const failure = streamedFailure(message);
    if (failure) throw failure;
    const piece = this.decode(message);
    if (this.unused < MOST_UNUSED) this.learn(json, piece);
    return piece;
  }

  private learn(json: string, piece: Piece): void {
    const form = formOf(json, piece);
    if (!form) return;
    this.form = form;
    this.unused++;
  }
}

/** Returns the text of a message of this form; undefined for another form or text that must be parsed. */
function fitted(json: string, { head, tail, kind }: Form): Piece | undefined {
  if (!json.startsWith(head) || !json.endsWith(tail)) return undefined;
  const text = json.slice(head.length, -tail.length);
  if (!PLAIN.test(text)) return undefined;
  return kind === "text" ? { text } : { reasoning: text };
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
