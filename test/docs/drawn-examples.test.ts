// The descriptions that svc itself suggests for drawing are ones that its embedded model understands.

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./markdown.ts";

const read = (path: string) => readFileSync(join(root, path), "utf8");
/** The words that mean something to svc-draw; one at the start of a description has no space before it. */
const known = new Set(
  Object.keys(JSON.parse(read("vendor/svc-draw/recipe/tokens.json")) as object).map((token) => token.trim()),
);

const DRAWN = /svc draw "([^"]+)"|echo "([^"]+)" \| svc draw|"?prompt"?: "([^"]+)"/g;
const QUOTED = /"((?:an?|two|three|four)\s[^"]+)"/g;
const ANYWHERE = /^([^]*)$/;
const SUGGESTED: readonly (readonly [path: string, examples: RegExp, at: RegExp])[] = [
  ["README.md", DRAWN, ANYWHERE],
  ["docs/images.md", DRAWN, ANYWHERE],
  ["docs/images.md", QUOTED, /^### The embedded model$([^]*?)^#/m],
  ["src/cli/commands.ts", DRAWN, ANYWHERE],
  ["src/http/openapi/images.ts", DRAWN, ANYWHERE],
  ["src/http/openapi/sdapi.ts", DRAWN, ANYWHERE],
  ["src/page/view/thread.tsx", QUOTED, /^const TO_DRAW = (.*);$/m],
];

test.each(SUGGESTED)("in %s", (path, examples, at) => {
  const part = at.exec(read(path))?.[1] ?? "";
  const prompts = [...part.matchAll(examples)].flatMap((match) => match.slice(1).filter((one) => one !== undefined));
  expect(prompts).not.toBeEmpty();
  expect(prompts.filter((prompt) => !prompt.split(/\s+/).every((word) => known.has(word)))).toEqual([]);
});
