// The body of another server's answer as JSON values: server-sent events, lines of JSON, or one JSON text.

import { SvcError } from "../domain/errors.ts";
import { parseJson } from "./fields.ts";

/** A line is one message; no server makes longer ones, and a broken one must not fill the memory. */
const LONGEST_LINE = 16 * 2 ** 20;

/**
 * The messages of a response, in order; ends at `[DONE]` or with the body. `waiting` goes around every wait, and what
 * it throws ends the stream. `longest`: characters of one message. Throws SvcError `upstream_error` about what is no JSON, and what reading throws.
 */
export async function* readMessages(
  response: Response,
  waiting: <T>(next: Promise<T>) => Promise<T>,
  longest = LONGEST_LINE,
): AsyncGenerator<unknown, void, void> {
  const type = response.headers.get("content-type") ?? "";
  if (!response.body) return;
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let held = "";
  try {
    while (true) {
      const { done, value } = await waiting(reader.read());
      held += done ? decoder.decode() : decoder.decode(value, { stream: true });
      if (held.length > longest) throw broken("sent a line that is too long");
      if (type.includes("application/json")) {
        if (done) yield parse(held);
      } else {
        const lines = held.split("\n");
        held = done ? "" : (lines.pop() ?? "");
        for (const line of lines) {
          const data = payload(line.trimEnd(), type);
          if (data === "[DONE]") return;
          if (data !== undefined) yield parse(data);
        }
      }
      if (done) return;
    }
  } finally {
    // Ends the request there as well.
    await reader.cancel().catch(() => {});
  }
}

function payload(line: string, type: string): string | undefined {
  if (line === "") return undefined;
  if (!type.includes("event-stream")) return line;
  return line.startsWith("data:") ? line.slice(5).trimStart() : undefined;
}

function parse(json: string): unknown {
  const value = parseJson(json);
  if (value === undefined) throw broken("sent something that is no JSON");
  return value;
}

const broken = (what: string) => new SvcError("upstream_error", `The server of this model ${what}.`);
