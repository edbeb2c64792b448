// Reads text that was piped or redirected into the program.

import { fstatSync } from "node:fs";

type Kind = "file" | "pipe" | "socket" | "other";

/** Milliseconds that standard input may be silent before it counts as unused, by its kind; absent: it is not read. */
type Patience = Readonly<Partial<Record<Kind, number>>>;

/** For input that may not be meant for svc at all: service managers and CI leave pipes open that they never write to. */
export const AT_ONCE: Patience = { file: Infinity, pipe: 200 };

/**
 * For input beside a prompt. The first command of a shell's pipeline may take a while; a program that starts svc through
 * a socket, as Node.js does, writes at once if at all.
 */
export const BESIDE_PROMPT: Patience = { file: Infinity, pipe: 5000, socket: 200 };

/** For input that was asked for. */
export const TO_ITS_END: Patience = { file: Infinity, pipe: Infinity, socket: Infinity, other: Infinity };

/**
 * Reads standard input to its end. Returns undefined when there is no text. `onSilence` receives the seconds after which
 * a pipe that nothing came through was given up.
 */
export async function readPipedInput(
  patience: Patience,
  onSilence?: (seconds: number) => void,
): Promise<string | undefined> {
  const kind = kindOfInput();
  const mostMs = patience[kind];
  if (mostMs === undefined) return undefined;
  const reader = Bun.stdin.stream().getReader();
  const first = reader.read();
  if (!(await comesWithin(mostMs, first))) {
    void reader.cancel();
    if (kind === "pipe") onSilence?.(mostMs / 1000);
    return undefined;
  }
  const decoder = new TextDecoder();
  let text = "";
  for (let part = await first; !part.done; part = await reader.read())
    text += decoder.decode(part.value, { stream: true });
  text += decoder.decode();
  return text.trim() === "" ? undefined : text.trimEnd();
}

/** Returns a command's words, or standard input without words or for `-`. Undefined when there is no text. */
export async function wordsOrInput(words: readonly string[]): Promise<string | undefined> {
  const given = words.join(" ");
  return given === "" || given === "-" ? readPipedInput(TO_ITS_END) : given;
}

function kindOfInput(): Kind {
  try {
    const stats = fstatSync(0);
    if (stats.isFile()) return "file";
    if (stats.isFIFO()) return "pipe";
    return stats.isSocket() ? "socket" : "other";
  } catch {
    return "other";
  }
}

async function comesWithin(ms: number, first: Promise<unknown>): Promise<boolean> {
  if (ms === Infinity) return true;
  const { promise: late, resolve } = Promise.withResolvers<false>();
  const timer = setTimeout(resolve, ms, false);
  const comes = await Promise.race([first.then(() => true), late]);
  clearTimeout(timer);
  return comes;
}
