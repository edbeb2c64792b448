// The body of another server's answer as JSON values: server-sent events, lines of JSON, or one JSON text.

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
  let held = "";
  try {
    if (type.includes("html")) throw malformed("answered with a page for browsers");
    while (true) {
      const { done, value } = await waiting(reader.read());
      held += done ? decoder.decode() : decoder.decode(value, { stream: true });
      if (held.length > longest) throw malformed("sent a line that is too long");
      const lines = isWhole ? [held] : held.split("\n");
      // What no line break ends may go on.
      held = lines.pop() ?? "";
      for (const line of lines) {
        const data = payload(line, type);
        if (data === "[DONE]") return;
        if (data !== undefined) yield parse(data);
      }
      if (!done) continue;
      const last = isWhole ? held : payload(held, type);
      if (last !== undefined && last !== "[DONE]") yield isWhole ? parse(last) : parseLast(last);
      return;
    }
  } finally {
    // Ends the request there as well.
    await reader.cancel().catch(() => {});
  }
}

function payload(line: string, type: string): string | undefined {
  const trimmed = line.trimEnd();
  if (trimmed === "") return undefined;
  if (!type.includes("event-stream")) return trimmed;
  return trimmed.startsWith("data:") ? trimmed.slice(5).trimStart() : undefined;
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
