// The README's options are those of the program. `UPDATE=1 bun test test/cli/readme.test.ts` rewrites its table.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { optionsMarkdown } from "../../src/cli/help.ts";

const path = join(import.meta.dir, "../../README.md");
const SECTION = /(<!-- options -->\n)[^]*?(<!-- \/options -->)/;

/** The formatter pads table cells. */
const unpadded = (markdown: string) =>
  markdown
    .replaceAll(/ *\| */g, "|")
    .replaceAll(/-+/g, "-")
    .trim();

test("the README's tables of options are the program's", async () => {
  let readme = await Bun.file(path).text();
  if (process.env["UPDATE"]) {
    readme = readme.replace(SECTION, (_, open: string, close: string) => `${open}\n${optionsMarkdown()}\n\n${close}`);
    await Bun.write(path, readme);
  }
  const section = SECTION.exec(readme)?.[0].replaceAll(/<!--.*?-->/g, "") ?? "";
  expect(unpadded(section)).toBe(unpadded(optionsMarkdown()));
});
