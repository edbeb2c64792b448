// The body of another server's answer as JSON values: server-sent events, lines of JSON, or one JSON text.

import { createParser } from "eventsource-parser";
import { parseJson } from "./fields.ts";
import { lost, malformed } from "./upstream-failure.ts";

/** A line is one message; no server makes longer ones, and a broken one must not fill the memory. */
const LONGEST_LINE = 16 * 2 ** 20;

/**
 * The messages of a response, in order; ends at `[DONE]` or with the body. `waiting` goes around every wait, and what
 * it throws ends the stream. `longest`: characters of one message. Throws UpstreamFailure about what is no JSON or breaks
 * off, and what reading throws.
 */
export async function* readMessages(
  response: Response,
  waiting: <T>(next: Promise<T>) => Promise<T>,
  longest = LONGEST_LINE,
): AsyncGenerator<unknown, void, void> {
  const type = response.headers.get("content-type") ?? "";
  if (!response.body) return;
  const isWhole = type.includes("application/json");
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  const splitter = splitterOf(type);
  try {
    if (type.includes("html")) throw malformed("answered with a page for browsers");
    while (true) {
      const { done, value } = await waiting(reader.read());
      for (const data of splitter.push(done ? decoder.decode() : decoder.decode(value, { stream: true }))) {
        if (data === "[DONE]") return;
        yield parse(data);
      }
      if (splitter.held > longest) throw malformed("sent a line that is too long");
      if (!done) continue;
      const last = splitter.end();
      if (last !== undefined && last !== "[DONE]") yield isWhole ? parse(last) : parseLast(last);
      return;
    }
  } finally {
    // Ends the request there as well.
    await reader.cancel().catch(() => {});
  }
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
