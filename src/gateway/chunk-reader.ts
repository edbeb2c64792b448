// The messages of one stream → the pieces of its answer. Most messages differ from the one before in their text alone: such a
// one is not parsed, the text is cut out of it.

import type { Piece } from "./output.ts";
import { isLong, parseLong } from "./long-json.ts";
import { parseMessage } from "./stream-lines.ts";
import { streamedFailure } from "./upstream-failure.ts";

/** What messages have around their text, quotation marks included. */
interface Form {
  readonly head: string;
  readonly tail: string;
  readonly kind: "text" | "reasoning";
}

/** Forms in a row that fitted no other message, until no more are looked for. */
const MOST_UNUSED = 4;
/** What stands in JSON as it is. */
// oxlint-disable-next-line no-control-regex
const PLAIN = /^[^"\\\u0000-\u001f]+$/;

export class ChunkReader {
  private form: Form | undefined;
  private unused = 0;

  /** `decode` takes the parsed message apart. */
  constructor(private readonly decode: (message: unknown) => Piece) {}

  /**
   * What `decode` gives of the message, later where it is long. Throws UpstreamFailure about what is no JSON, and about an error
   * that it tells.
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

/** The text of a message of this form; undefined where it is of another, or its text has to be parsed. */
function fitted(json: string, { head, tail, kind }: Form): Piece | undefined {
  if (!json.startsWith(head) || !json.endsWith(tail)) return undefined;
  const text = json.slice(head.length, -tail.length);
  if (!PLAIN.test(text)) return undefined;
  return kind === "text" ? { text } : { reasoning: text };
}

/** The form of a message that says its text and no more, in one place that cannot be mistaken. */
function formOf(json: string, { text, reasoning, ...rest }: Piece): Form | undefined {
  const said = text ?? reasoning;
  if (said === undefined || (text !== undefined && reasoning !== undefined)) return undefined;
  // With no escapes, each quotation mark begins or ends a string.
  if (json.includes("\\") || Object.values(rest).some((value) => value !== undefined)) return undefined;
  const quoted = `"${said}"`;
  const at = json.indexOf(quoted);
  if (at < 0 || json.indexOf(quoted, at + 1) >= 0) return undefined;
  const kind = text === undefined ? "reasoning" : "text";
  return { head: json.slice(0, at + 1), tail: json.slice(at + 1 + said.length), kind };
}
