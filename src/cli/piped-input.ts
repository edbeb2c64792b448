// Reads text that was piped or redirected into the program.

import { fstatSync } from "node:fs";

/** Milliseconds that a pipe may be silent before it counts as unused. */
const SILENCE_MS = 200;

/**
 * Reads standard input to its end. Unless `wanted`, only files and pipes are read, and a pipe only when it has data at
 * once; terminals, sockets and /dev/null are not. Returns undefined when there is no text.
 */
export async function readPipedInput(wanted: boolean): Promise<string | undefined> {
  if (!wanted && !isFileOrPipe()) return undefined;
  const reader = Bun.stdin.stream().getReader();
  const first = reader.read();
  if (!wanted && (await Promise.race([first.then(() => "spoke"), Bun.sleep(SILENCE_MS)])) !== "spoke") {
    void reader.cancel();
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
  return given === "" || given === "-" ? readPipedInput(true) : given;
}

function isFileOrPipe(): boolean {
  try {
    const stats = fstatSync(0);
    return stats.isFile() || stats.isFIFO();
  } catch {
    return false;
  }
}
