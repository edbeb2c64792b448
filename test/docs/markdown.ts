// The pages for people: README.md and docs/, with their links and code blocks.

import { Glob } from "bun";
import { readFileSync } from "node:fs";
import { join } from "node:path";

export const root = join(import.meta.dir, "../..");

export interface Page {
  /** Path from the root of the repository. */
  readonly path: string;
  readonly text: string;
}

export interface Block {
  /** Place of the block, such as `docs/chat.md:12`. */
  readonly place: string;
  readonly language: string;
  /** The text after the language, such as `skip: it downloads 2 GB`. */
  readonly note: string;
  readonly code: string;
}

export function pages(): Page[] {
  const paths = ["README.md", ...[...new Glob("docs/**/*.md").scanSync(root)].toSorted()];
  return paths.map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
}

const FENCE = /^( *)```(\S*) ?(.*)\n([^]*?)^\1```$/gm;

export function blocksOf({ path, text }: Page): Block[] {
  return [...text.matchAll(FENCE)].map(({ index, 2: language = "", 3: note = "", 4: code = "" }) => {
    const line = text.slice(0, index).split("\n").length;
    return { place: `${path}:${line}`, language, note, code };
  });
}

/** Returns the anchors of a page, as GitHub derives them from headings. */
export function anchorsOf(text: string): Set<string> {
  const headings = text.replaceAll(FENCE, "").matchAll(/^#{1,6} (.*)$/gm);
  const used = new Map<string, number>();
  return new Set(
    [...headings].map(([, heading = ""]) => {
      const words = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
      const anchor = words.replaceAll(/[^\p{L}\p{N}\-_ ]/gu, "").replaceAll(" ", "-");
      const before = used.get(anchor) ?? 0;
      used.set(anchor, before + 1);
      return before === 0 ? anchor : `${anchor}-${before}`;
    }),
  );
}

/** Returns the targets of links that are not URLs. */
export function linksOf({ text }: Page): string[] {
  const prose = text.replaceAll(FENCE, "").replaceAll(/`[^`\n]*`/g, "");
  const targets = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
  return targets.filter((target) => !/^[a-z]+:/.test(target));
}
