// Keeps mathematics in TeX as it was written: Markdown would take its backslashes, underscores and asterisks for its own.

import type { MarkedExtension, Tokens } from "marked";

/** Text up to the nearest end, without an empty line; bounded, since a degenerate answer may have thousands of beginnings. */
const INNER = String.raw`(?:(?!\n[ \t]*\n)[^]){1,4000}?`;
const DISPLAY = String.raw` {0,3}(?:\$\$${INNER}\$\$|\\\[${INNER}\\\])[ \t]*(?:\n|$)`;
const block = new RegExp(`^${DISPLAY}`);
const nextBlock = new RegExp(`\n${DISPLAY}`);
const bracketed = new RegExp(String.raw`^(?:\\\(${INNER}\\\)|\\\[${INNER}\\\]|\$\$${INNER}\$\$)`);
/** As in Pandoc, so that prices remain text: no space within the signs, and no digit or letter behind. */
const dollars = /^\$(?![\s$])[^$`\n]*[^\s$`\\]\$(?![\w$])/;

/** Returns the extension of Marked; `escape` makes HTML of text. */
export const mathematics = (escape: (text: string) => string): MarkedExtension => ({
  extensions: [
    {
      name: "displayMath",
      level: "block",
      start: (text) => text.match(nextBlock)?.index,
      tokenizer: (text) => tokenOf("displayMath", block.exec(text)?.[0]),
      renderer: ({ raw }) => `<pre>${escape(raw.trim())}</pre>`,
    },
    {
      name: "math",
      level: "inline",
      start: (text) => text.match(/\$|\\[([]/)?.index,
      tokenizer(text, before) {
        const isInWord = /\w$/.test((before.at(-1) as Tokens.Text | undefined)?.raw ?? "");
        return tokenOf("math", (bracketed.exec(text) ?? (isInWord ? null : dollars.exec(text)))?.[0]);
      },
      renderer: ({ raw }) => `<code>${escape(raw)}</code>`,
    },
  ],
});

const tokenOf = (type: string, raw: string | undefined) => (raw === undefined ? undefined : { type, raw });
