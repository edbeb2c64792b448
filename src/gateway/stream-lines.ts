// The body of another server's answer as JSON values: server-sent events, lines of JSON, or one JSON text.

import { createParser } from "eventsource-parser";
import { parseJson } from "./fields.ts";
import { lost, malformed } from "./upstream-failure.ts";

/** A line is one message; no server makes longer ones, and a broken one must not fill the memory. */
const LONGEST_LINE = 16 * 2 ** 20;

/** Reads the messages of a response in order, until `[DONE]` or the end of its body. */
export class MessageReader {
  private readonly reader: Pick<ReadableStreamDefaultReader<Uint8Array>, "read" | "cancel"> | undefined;
  private readonly decoder = new TextDecoder();
  private readonly splitter: Splitter;
  private readonly isWhole: boolean;
  /** It is no answer at all. */
  private readonly failure: Error | undefined;
  private isOver = false;

  /** `longest`: characters of one message. */
  constructor(
    response: Response,
    private readonly longest = LONGEST_LINE,
  ) {
    const type = response.headers.get("content-type") ?? "";
    this.isWhole = type.includes("application/json");
    this.splitter = splitterOf(type);
    this.reader = response.body?.getReader();
    if (type.includes("html")) this.failure = malformed("answered with a page for browsers");
  }

  /**
   * The messages that came in one piece, perhaps none; undefined at the end, and after `cancel`. Throws UpstreamFailure about
   * what is no JSON or breaks off, and what reading throws.
   */
  async next(): Promise<unknown[] | undefined> {
    if (this.failure) throw this.failure;
    if (this.isOver || !this.reader) return undefined;
    const { done, value } = await this.reader.read();
    if (this.isOver) return undefined;
    const messages = this.parsed(
      this.splitter.push(done ? this.decoder.decode() : this.decoder.decode(value, { stream: true })),
    );
    if (this.splitter.held > this.longest) throw malformed("sent a line that is too long");
    if (!done || this.isOver) return messages;
    this.isOver = true;
    const last = this.splitter.end();
    if (last !== undefined && last !== DONE) messages.push(this.isWhole ? parse(last) : parseLast(last));
    return messages;
  }

  /** Ends the request there as well; a pending `next` resolves. */
  async cancel(): Promise<void> {
    this.isOver = true;
    await this.reader?.cancel().catch(() => {});
  }

  private parsed(texts: readonly string[]): unknown[] {
    const messages: unknown[] = [];
    for (const data of texts) {
      if (data === DONE) {
        this.isOver = true;
        break;
      }
      messages.push(parse(data));
    }
    return messages;
  }
}

const DONE = "[DONE]";

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
  private readonly parser = createParser({ onEvent: ({ data }) => void this.ready.push(data) });

  push(text: string): string[] {
    this.held += text.length;
    this.parser.feed(text);
    return this.take();
  }

  /** Many servers leave out the line that ends the last event. */
  end(): string | undefined {
    this.parser.feed("\n\n");
    return this.take().at(-1);
  }

  private take(): string[] {
    const taken = this.ready;
    this.ready = [];
    if (taken.length > 0) this.held = 0;
    return taken.filter((data) => data.trim() !== "");
  }
}

function parse(json: string): unknown {
  const value = parseJson(json);
  if (value === undefined) throw malformed("sent something that is no JSON");
  return value;
}

/** A line without an end: part of a message, where the connection broke. */
function parseLast(json: string): unknown {
  const value = parseJson(json);
  if (value === undefined) throw lost("ended in the middle of a message");
  return value;
}
