// The body of another server's answer as messages of JSON: server-sent events, lines of JSON, or one JSON text.

import { createParser } from "eventsource-parser";
import { parseJson } from "./fields.ts";
import { lost, malformed } from "./upstream-failure.ts";

/** A line is one message; no server makes longer ones, and a broken one must not fill the memory. */
const LONGEST_LINE = 16 * 2 ** 20;

/** Takes the bytes of a body as they come and gives whole messages, until `[DONE]` or the end. */
export class MessageReader {
  /** The server said that no more comes. */
  isOver = false;
  private readonly decoder = new TextDecoder();
  private readonly splitter: Splitter;
  /** The body is one message: nothing is taken apart before its end. */
  readonly isWhole: boolean;

  /** `type`: the media type of the body. `longest`: characters of one message. */
  constructor(
    private readonly type: string,
    private readonly longest = LONGEST_LINE,
  ) {
    this.isWhole = type.includes("application/json");
    this.splitter = splitterOf(type);
  }

  /** The messages that end in these bytes, as JSON texts. Throws UpstreamFailure about what is no answer. */
  push(bytes: Uint8Array): string[] {
    const messages = this.untilDone(this.splitter.push(this.decoder.decode(bytes, MORE_COMES)));
    if (this.type.includes("html")) throw malformed("answered with a page for browsers");
    if (this.splitter.held > this.longest) throw malformed("sent a line that is too long");
    return messages;
  }

  /** Those that nothing else ended. Throws UpstreamFailure about what breaks off. */
  end(): string[] {
    const messages = this.push(NOTHING);
    const last = this.isOver ? undefined : this.splitter.end();
    this.isOver = true;
    if (last === undefined || last === DONE) return messages;
    // A line without an end: part of a message, where the connection broke.
    if (!this.isWhole && parseJson(last) === undefined) throw lost("ended in the middle of a message");
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

/** What a message says. Throws UpstreamFailure about what is no JSON. */
export function parseMessage(json: string): unknown {
  const value = parseJson(json);
  if (value === undefined) throw malformed("sent something that is no JSON");
  return value;
}

/** Takes text as it comes and gives whole messages. */
interface Splitter {
  /** Characters of a message that is not whole yet. */
  readonly held: number;
  push(text: string): string[];
  /** What nothing ended, at the end of the text. */
  end(): string | undefined;
}

function splitterOf(type: string): Splitter {
  if (type.includes("event-stream")) return new EventSplitter();
  return new LineSplitter(!type.includes("application/json"));
}

/** A message a line, or all of the text. */
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
    // What no line break ends may go on.
    this.text = lines.pop() ?? "";
    return lines.map((line) => line.trimEnd()).filter((line) => line !== "");
  }

  end(): string | undefined {
    const rest = this.text.trimEnd();
    return rest === "" ? undefined : rest;
  }
}

/** Server-sent events, whatever ends their lines and however many lines have their data. */
class EventSplitter implements Splitter {
  held = 0;
  private ready: string[] = [];
  private readonly parser = createParser({ onEvent: ({ data }) => this.add(data) });
  /** Nothing of an event is in the parser. */
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

  /** Many servers leave out the line that ends the last event. */
  end(): string | undefined {
    this.parser.feed("\n\n");
    return this.take().at(-1);
  }

  /** The events at the beginning that are one line of data, as nearly all are: a parser costs more. Returns where they end. */
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
