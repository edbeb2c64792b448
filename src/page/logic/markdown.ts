// Converts Markdown to independent blocks of HTML: while an answer grows, only its last block changes. HTML in the text
// is escaped, images are not loaded, and links lead to the web alone. The output must still be sanitised.

import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import cpp from "highlight.js/lib/languages/cpp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { Marked } from "marked";
import { mathematics } from "./math.ts";

const languages = {
  bash,
  cpp,
  css,
  diff,
  go,
  ini,
  java,
  javascript,
  json,
  python,
  ruby,
  rust,
  sql,
  typescript,
  xml,
  yaml,
};

export interface Block {
  /** Also depends on the link definitions elsewhere in the text. */
  readonly html: string;
  /** For a code block: the code, and the name of its language, which may be empty. */
  readonly code?: { readonly text: string; readonly language: string };
}

export type ToBlocks = (text: string) => Block[];

/** Creates the converter; call it once, since it registers the languages to highlight. */
export function createMarkdown(): ToBlocks {
  for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, language);
  /** Highlighted code of the last text and of this one, of which the last may be the beginning. */
  let [before, now] = [new Map<string, string>(), new Map<string, string>()];
  const coloured = (text: string, language: string) => {
    if (!hljs.getLanguage(language)) return escape(text);
    const key = `${language} ${text}`;
    const html = before.get(key) ?? hljs.highlight(text, { language, ignoreIllegals: true }).value;
    now.set(key, html);
    return html;
  };
  /** Depths of the headings under which the text stands. */
  let under: readonly number[] = [];
  const marked = new Marked({
    gfm: true,
    renderer: {
      html: ({ text }) => escape(text),
      code({ text, lang }) {
        const language = languageOf(lang);
        return `<pre><code${language && ` class="language-${language}"`}>${coloured(text, language)}</code></pre>`;
      },
      image: ({ href, text }) => link(href, escape(text || href)),
      link({ href, tokens }) {
        return link(href, this.parser.parseInline(tokens));
      },
      // Below those of the page and of the turn, without a gap: models begin with any depth, and leave some out.
      heading({ depth, tokens }) {
        under = [...under.filter((above) => above < depth), depth];
        const name = `h${Math.min(6, under.length + 2)}`;
        return `<${name}>${this.parser.parseInline(tokens)}</${name}>`;
      },
      listitem({ task, tokens }) {
        return `<li${task ? ' class="task"' : ""}>${this.parser.parse(tokens)}</li>`;
      },
      checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
    },
  });
  marked.use(mathematics(escape));
  const blocksOf = (text: string) =>
    marked.lexer(text).flatMap((token): Block[] => {
      if (token.type === "space" || token.type === "def") return [];
      const html = marked.parser([token]);
      if (token.type !== "code") return [{ html }];
      return [{ html, code: { text: String(token["text"]), language: languageOf(token["lang"]) } }];
    });
  return (text) => {
    [before, now] = [now, new Map()];
    under = [];
    try {
      return blocksOf(text);
    } catch {
      // Marked recurses into each level of nested lists and quotes, for which a degenerate answer exhausts the stack.
      return [{ html: `<pre>${escape(text)}</pre>` }];
    }
  };
}

const languageOf = (info: unknown): string => (typeof info === "string" ? (/^[\w+#-]+/.exec(info)?.[0] ?? "") : "");

function link(href: string, inner: string): string {
  const url = URL.canParse(href) ? new URL(href) : undefined;
  if (!url || !["http:", "https:", "mailto:"].includes(url.protocol)) return inner;
  return `<a href="${escape(href)}" target="_blank" rel="noopener noreferrer">${inner}</a>`;
}

const escape = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
