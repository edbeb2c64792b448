// Shows images in terminals that support them.

import type { Environment } from "../config/environment.ts";

/** Base64 characters in one escape sequence. */
const KITTY_CHUNK = 4096;

/**
 * Returns a function that encodes a PNG for the terminal that the environment describes. Returns undefined when the
 * terminal shows no images or does not reveal that it does.
 */
export function inlineImage(environment: Environment): ((png: Uint8Array) => string) | undefined {
  const { TERM = "", TERM_PROGRAM = "", TMUX, KITTY_WINDOW_ID } = environment;
  // tmux does not pass such sequences on to the terminal.
  if (TMUX) return undefined;
  if (KITTY_WINDOW_ID || /kitty|ghostty/.test(TERM)) return kitty;
  return TERM_PROGRAM === "iTerm.app" || TERM_PROGRAM === "WezTerm" ? iterm : undefined;
}

function kitty(png: Uint8Array): string {
  const chunks = png.toBase64().match(new RegExp(`.{1,${KITTY_CHUNK}}`, "g")) ?? [];
  const sequences = chunks.map((chunk, at) => {
    const more = at < chunks.length - 1 ? 1 : 0;
    return `\x1b_G${at === 0 ? "a=T,f=100," : ""}m=${more};${chunk}\x1b\\`;
  });
  return `${sequences.join("")}\n`;
}

const iterm = (png: Uint8Array): string => `\x1b]1337;File=inline=1;size=${png.length}:${png.toBase64()}\x07\n`;
