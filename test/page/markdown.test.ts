import { expect, spyOn, test } from "bun:test";
import hljs from "highlight.js/lib/core";
import { createMarkdown } from "../../src/page/logic/markdown.ts";
import { EVERYTHING, HOSTILE } from "../clients/page/texts.ts";

const toBlocks = createMarkdown();
const html = (text: string) =>
  toBlocks(text)
    .map((block) => block.html)
    .join("");

test("appended text changes only the last blocks", () => {
  const text = `${EVERYTHING}\n#### Below\n\n# Above all\n`;
  const whole = toBlocks(text);
  for (let length = 0; length < text.length; length += 7) {
    const part = toBlocks(text.slice(0, length));
    // The last two blocks: an underline turns the text before it into a heading, and a row of dashes into a table.
    for (const [index, block] of part.slice(0, -2).entries()) expect(whole[index]?.html).toBe(block.html);
  }
});

test("code that is complete is not highlighted again while the text after it grows", () => {
  const code = (name: string) => `\`\`\`python\n${name} = 1\n\`\`\`\n\n`;
  const seen = spyOn(hljs, "highlight");
  const known = toBlocks(code("a"));
  for (const text of [`${code("a")}Then`, `${code("a")}Then\n\n${code("b")}`]) {
    expect(toBlocks(text)[0]).toEqual(known[0]);
  }
  expect(seen.mock.calls.map(([first]) => first)).toEqual(["a = 1", "b = 1"]);
  seen.mockRestore();
});

test("HTML in a text stays text, and nothing is loaded or executed", () => {
  const shown = html(HOSTILE);
  expect(shown).not.toMatch(/<(?:img|script|iframe|style|svg)\b/i);
  expect(shown).not.toContain("javascript:");
  expect(shown).toContain("&lt;img src=x");
});

test("a text that nests too deeply is shown as it is", () => {
  const text = `${">".repeat(40_000)} <b>`;
  expect(html(text)).toBe(`<pre>${text.replaceAll("<", "&lt;").replaceAll(">", "&gt;")}</pre>`);
});

test("only links to the web work, and open in a new tab", () => {
  expect(html("[a](https://a.example/?q=1&r=2)")).toBe(
    '<p><a href="https://a.example/?q=1&amp;r=2" target="_blank" rel="noopener noreferrer">a</a></p>\n',
  );
  for (const href of ["javascript:alert(1)", "data:text/html,x", "/relative", "file:///etc/passwd", "vbscript:x"]) {
    expect(html(`[a](${href})`)).toBe("<p>a</p>\n");
  }
  expect(html("![a cat](https://a.example/cat.png)")).not.toContain("<img");
});

test("a link leads to its definition as soon as the text has it", () => {
  const [before] = toBlocks("See [the page][1].\n\n");
  const [after] = toBlocks("See [the page][1].\n\n[1]: https://a.example/\n");
  expect(before?.html).toBe("<p>See [the page][1].</p>\n");
  expect(after?.html).toContain('<a href="https://a.example/"');
});

test("code has its language and colours, and its exact text", () => {
  const [block] = toBlocks("```python title=x\nif a < b: pass\n```");
  expect(block?.code).toEqual({ text: "if a < b: pass", language: "python" });
  expect(block?.html).toContain('<span class="hljs-keyword">if</span> a &lt; b');
  expect(toBlocks("```\n<b>\n```")[0]?.html).toBe("<pre><code>&lt;b&gt;</code></pre>");
  expect(html("- ```nothing\n  <b>\n  ```")).toContain('<pre><code class="language-nothing">&lt;b&gt;</code></pre>');
  expect(toBlocks("```python\nunfinished")[0]?.code?.text).toBe("unfinished");
});

test.each([
  ["# a\n\n## b\n\n### c\n\n## d", "3a 4b 5c 4d"],
  ["### a\n\n#### b\n\n### c", "3a 4b 3c"],
  ["# a\n\n###### b\n\n##### c\n\n## d", "3a 4b 4c 4d"],
  ["#### a\n\n## b\n\n### c", "3a 3b 4c"],
  ["> ## a\n\n- ### b\n\n###### c", "3a 4b 5c"],
  ["# a\n\n## b\n\n### c\n\n#### d\n\n##### e\n\n###### f", "3a 4b 5c 6d 6e 6f"],
])("headings are ranked below those of the page, and leave out no rank: %j", (text, ranks) => {
  for (const _again of [1, 2]) {
    expect(Array.from(html(text).matchAll(/<h(\d)>(.*?)<.h\d>/g), ([, rank, name]) => `${rank}${name}`)).toEqual(
      ranks.split(" "),
    );
  }
});

test.each([
  String.raw`\(a_1 + b_2*c*d\)`,
  String.raw`\[x^{*}_i \\ y^{*}_j\]`,
  "$a_1 < b_2$",
  "$2*x*y$",
  "$$a_1 * b_2 * c$$",
])("mathematics in a sentence stays as written: %s", (math) => {
  const code = `<code>${math.replace("<", "&lt;")}</code>`;
  expect(html(`So *here* it is: ${math}, and (${math}).`)).toBe(
    `<p>So <em>here</em> it is: ${code}, and (${code}).</p>\n`,
  );
});

test.each([["$$\na_1 + c_1\n- b_2\n$$"], ["\\[\n\\begin{aligned}\na_1 &= 1 \\\\\n* b &= 2\n\\end{aligned}\n\\]"]])(
  "mathematics of its own lines stays as written, also below text and in lists: %s",
  (math) => {
    const block = `<pre>${math.replaceAll("&", "&amp;")}</pre>`;
    expect(html(`Thus:\n${math}\nfollows.`)).toBe(`<p>Thus:</p>\n${block}<p>follows.</p>\n`);
    expect(html(math)).toBe(block);
    expect(html(`1. Thus:\n${math.replaceAll(/^/gm, "   ")}`)).toContain(block);
  },
);

test.each([
  "It costs $5 and $10, or US$5 (in Canada C$7), $3-$4 a day.",
  "$HOME/$USER and $PATH",
  "An escaped \\\\(x\\\\) and $ alone",
])("prices and names of variables are no mathematics: %s", (text) => expect(html(text)).not.toContain("<code>"));
