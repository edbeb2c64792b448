// Splits the body of an upstream's answer into JSON messages: server-sent events, JSON lines, or one JSON text.

import { createParser } from "eventsource-parser";
import { jsonOf } from "../domain/json.ts";
import { lost, malformed } from "./upstream-failure.ts";

/** Most characters of a line, which is one message: no server sends more, and a broken one must not fill memory. */
const LONGEST_LINE = 16 * 2 ** 20;

/** Takes the bytes of a body as they arrive and returns complete messages, until `[DONE]` or the end. */
export class MessageReader {
  /** Whether the server has announced the end. */
  isOver = false;
  private readonly decoder = new TextDecoder();
  private readonly splitter: Splitter;
  /** Whether the whole body is one message, which is parsed only at its end. */
  readonly isWhole: boolean;

  /** `type`: media type of the body. `longest`: maximum characters of one message. */
  constructor(
    private readonly type: string,
    private readonly longest = LONGEST_LINE,
  ) {
    this.isWhole = type.includes("application/json");
    this.splitter = splitterOf(type);
  }

  /** Returns the messages that end in these bytes, as JSON. Throws UpstreamFailure if the body is not an answer. */
  push(bytes: Uint8Array): string[] {
    const messages = this.untilDone(this.splitter.push(this.decoder.decode(bytes, MORE_COMES)));
    if (this.type.includes("html")) throw malformed("answered with a page for browsers");
    if (this.splitter.held > this.longest) throw malformed("sent a line that is too long");
    return messages;
  }

  /** Returns the remaining messages at the end of the body. Throws UpstreamFailure about an incomplete message. */
  end(): string[] {
    const messages = this.push(NOTHING);
    const last = this.isOver ? undefined : this.splitter.end();
    this.isOver = true;
    if (last === undefined || last === DONE) return messages;
    // An unterminated line may be part of a message whose connection broke.
    if (!this.isWhole && jsonOf(last) === undefined) throw lost("ended in the middle of a message");
    return [...messages, last];
  }

  private untilDone(messages: string[]): string[] {
    const end = messages.indexOf(DONE);
    if (end < 0) return messages;
    this.isOver = true;
    return messages.slice(0, end);
  }
}

const DONE = "[DONE]";
const MORE_COMES = { stream: true } as const;
const NOTHING = new Uint8Array();

/** Parses a message. Throws UpstreamFailure about invalid JSON. */
export function parseMessage(json: string): unknown {
  const value = jsonOf(json);
  if (value === undefined) throw malformed("sent something that is not JSON");
  return value;
}

/** Takes text as it arrives and returns complete messages. */
interface Splitter {
  /** Characters of the incomplete message. */
  readonly held: number;
  push(text: string): string[];
  /** Returns the unterminated message at the end of the text, if any. */
  end(): string | undefined;
}

function splitterOf(type: string): Splitter {
  if (type.includes("event-stream")) return new EventSplitter();
  return type.includes("application/json") ? new LineSplitter(false) : new UntypedSplitter();
}

/** Splits a text whose media type does not tell its form: its beginning does. */
class UntypedSplitter implements Splitter {
  /** The beginning while it tells nothing yet. */
  private begun = "";
  private found: Splitter | undefined;

  get held(): number {
    return this.found?.held ?? this.begun.length;
  }

  push(text: string): string[] {
    if (this.found) return this.found.push(text);
    this.begun = (this.begun + text).trimStart();
    if (PART_OF_FIELD.test(this.begun)) return [];
    this.found = EVENT_FIELD.test(this.begun) ? new EventSplitter() : new LineSplitter(true);
    return this.found.push(this.begun);
  }

  end(): string | undefined {
    return this.found ? this.found.end() : this.begun || undefined;
  }
}

const PART_OF_FIELD = /^[a-z]{0,5}$/;
const EVENT_FIELD = /^(data|event|id|retry)?:/;

/** Makes each line a message, or the whole text. */
class LineSplitter implements Splitter {
  private text = "";

  constructor(private readonly splits: boolean) {}

  get held(): number {
    return this.text.length;
  }

  push(text: string): string[] {
    this.text += text;
    if (!this.splits || !text.includes("\n")) return [];
    const lines = this.text.split("\n");
    // The last part has no line break and may continue.
    this.text = lines.pop() ?? "";
    return lines.map((line) => line.trimEnd()).filter((line) => line !== "");
  }

  end(): string | undefined {
    const rest = this.text.trimEnd();
    return rest === "" ? undefined : rest;
  }
}

/** Splits server-sent events, with any line ending and any number of data lines. */
class EventSplitter implements Splitter {
  held = 0;
  private ready: string[] = [];
  private readonly parser = createParser({ onEvent: ({ data }) => this.add(data) });
  /** Whether the parser is between two events. */
  private isBetween = true;

  push(text: string): string[] {
    const at = this.isBetween ? this.takeUsual(text) : 0;
    if (at < text.length) {
      const rest = at === 0 ? text : text.slice(at);
      this.held += rest.length;
      this.parser.feed(rest);
      this.isBetween = rest.endsWith("\n\n");
    }
    return this.take();
  }

  /** Ends the last event, because many servers omit the empty line after it. */
  end(): string | undefined {
    this.parser.feed("\n\n");
    return this.take().at(-1);
  }

  /** Takes leading events of one data line, the usual form, without the slower parser. Returns where they end. */
  private takeUsual(text: string): number {
    let at = 0;
    while (text.startsWith(DATA, at)) {
      const end = text.indexOf("\n", at);
      if (end < 0 || text[end + 1] !== "\n") break;
      const data = text.slice(at + DATA.length, end);
      if (data.includes("\r")) break;
      this.add(data);
      at = end + 2;
    }
    return at;
  }

  private take(): string[] {
    const taken = this.ready;
    if (taken.length === 0) return [];
    this.ready = [];
    this.held = 0;
    return taken;
  }

  private add(data: string): void {
    if (data.trim() !== "") this.ready.push(data);
  }
}

const DATA = "data: ";
