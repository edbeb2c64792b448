// Random tool-call texts, the same for the same seed: well-formed ones, and those of models that make mistakes.

import type { Call, Family } from "./family.ts";
import { readsCalls } from "./notes.ts";
import { tool } from "./tools.ts";

const KEY = { key: { type: "string" } };
const DEPTH = { type: "object", properties: { level: { type: "integer" }, label: { type: "string" } } };
const TAGS = { type: "array", items: { type: "string" } };
const LIST = { type: "array", items: { type: "integer" } };

/** Returns the tools of every random request: one name is a prefix of another, one tool has no arguments. */
export const randomTools = ({ withoutLists }: Pick<Family, "withoutLists">) => [
  tool("note", { text: { type: "string" } }, ["text"]),
  tool("note_list", { ...KEY, tags: withoutLists ? { type: "string" } : TAGS }, ["key", "tags"]),
  tool("add", { ...KEY, a: { type: "integer" }, b: { type: "number" } }, ["key", "a", "b"]),
  tool("configure", { ...KEY, on: { type: "boolean" }, options: options(withoutLists) }, ["key", "on"]),
  tool("ping", {}, []),
];

const options = (withoutLists?: true) => ({
  type: "object",
  properties: { depth: DEPTH, ...(!withoutLists && { list: LIST }) },
});

const MARKUP = ["a < b", "<b>bold</b>", "</p>", "&amp;", '"quoted"', "'single'", 'x = "y"', "{brace}", "[list]"];
const SIGNS = ["back\\slash", "C:\\new", "line\nbreak", "\n\n", "tab\there", ", ", ": ", "|", "  ", "// ok", "100 %"];
const LETTERS = ["naïve", "ü", "日本語", "👩‍👩‍👧", "🌧", "1.50", "-7", "null", "true"];
const WORDS = [...MARKUP, ...SIGNS, ...LETTERS];

/** A random text and what is known about it. */
export interface RandomText {
  readonly kind: string;
  readonly text: string;
  readonly thinking: boolean;
  readonly parallel: boolean;
  /** The content of a well-formed text; absent when the text is malformed. */
  readonly exact?: { readonly reasoning: string; readonly content: string; readonly calls: readonly Call[] };
  /** Words that each occur in one call and nowhere else. */
  readonly marks: readonly string[];
}

type Draft = Pick<RandomText, "text"> & Partial<Pick<RandomText, "thinking" | "parallel" | "exact">>;

/** Generates texts of one family, all kinds in turn. */
export class RandomTexts {
  private marks: string[] = [];
  private count = 0;
  private readonly kinds = Object.entries(this.drafts());

  constructor(
    private readonly family: Family,
    private readonly random: () => number,
  ) {}

  next(): RandomText {
    this.marks = [];
    const [kind, draft] = this.kinds[this.count++ % this.kinds.length] as [string, () => Draft];
    return { kind, thinking: false, parallel: true, ...draft(), marks: this.marks };
  }

  /** Splits the text at random into pieces of a few bytes. */
  pieces(bytes: Uint8Array): Uint8Array[] {
    const longest = this.pick([2, 6, 16, 60]);
    const pieces: Uint8Array[] = [];
    for (let at = 0, end = 0; at < bytes.length; at = end) {
      end = at + 1 + this.below(longest);
      pieces.push(bytes.subarray(at, end));
    }
    return pieces;
  }

  private drafts(): Record<string, () => Draft> {
    const broken = (text: () => string) => () => ({ text: (this.family.start ?? "") + text() });
    return {
      "one call": () => this.wellFormed(1),
      calls: () => this.wellFormed(this.some()),
      "reasoning, call": () => this.withThought(),
      "calls, one allowed": () => this.withOneAllowed(),
      "text, call": broken(() => this.answer() + this.write(1)),
      "call, text": broken(() => this.write(1) + this.answer()),
      "unknown tool": broken(() =>
        this.format.write([{ ...this.call(), name: this.pick(["launch", "not", "notes"]) }]),
      ),
      "cut short": broken(() => this.cut(this.write(1))),
      cut: broken(() => this.cut(this.write(this.some()))),
      "tag missing": broken(() => this.withoutTag(this.write(this.some()))),
      "tag twice": broken(() => this.withTagTwice(this.write(this.some()))),
      "garbage around": broken(() => this.words() + this.write(this.some()) + this.words()),
      "garbage inside": broken(() => this.scrambled(this.write(this.some()))),
      "markup in value": broken(() => this.format.write([this.note(this.withMarkup(this.write(1)))])),
      "line break in JSON": broken(() => this.write(1).replaceAll("\\n", "\n")),
    };
  }

  private get format() {
    if (!this.family.calls) throw new Error(`${this.family.name} has no tools`);
    return this.family.calls;
  }

  private some(): number {
    return this.format.parallel ? 1 + this.below(3) : 1;
  }

  private write(count: number): string {
    return this.format.write(Array.from({ length: count }, () => this.call()));
  }

  private wellFormed(count: number): Draft {
    const calls = Array.from({ length: count }, () => this.call());
    const text = (this.family.start ?? "") + this.format.write(calls);
    const exact = { reasoning: (this.family.thoughtBegins ?? "").trim(), content: "", calls };
    return { text, ...(readsCalls(this.family, count) && { exact }) };
  }

  private withThought(): Draft {
    const { thought, thoughtBegins = "" } = this.family;
    if (!thought) return this.wellFormed(1);
    const calls = [this.call()];
    const said = `So ${this.words()
      .replaceAll(/[<[\n]/g, "")
      .trim()}.`;
    const text = thought[0] + said + thought[1] + this.format.write(calls);
    const exact = { reasoning: thoughtBegins + said, content: "", calls };
    return { text, thinking: true, ...(readsCalls(this.family, 1, true) && { exact }) };
  }

  private withOneAllowed(): Draft {
    const { text, exact } = this.wellFormed(this.some());
    return { text, parallel: false, ...(exact && { exact: { ...exact, calls: exact.calls.slice(0, 1) } }) };
  }

  private call(): Call {
    const key = `k${this.below(900_000) + 100_000}`;
    const name = this.pick(["note", "note_list", "add", "configure", "ping"]);
    if (name === "ping") return { name, arguments: {} };
    this.marks.push(key);
    if (name === "note") return this.note(`${key} ${this.words()}`);
    if (name === "add") return { name, arguments: { key, a: this.below(2e9) - 1e9, b: this.below(1000) / 8 } };
    const lists = !this.family.withoutLists;
    const tags = lists ? Array.from({ length: this.below(4) }, () => this.words()) : this.words();
    if (name === "note_list") return { name, arguments: { key, tags } };
    const options = { depth: { level: this.below(9), label: this.words() }, ...(lists && { list: [1, -20] }) };
    return { name, arguments: { key, on: this.random() < 0.5, ...(this.random() < 0.5 && { options }) } };
  }

  private note = (text: string): Call => ({ name: "note", arguments: { text } });

  private answer(): string {
    const [before, after] = this.family.text ?? ["", ""];
    return before + this.words() + after;
  }

  private words(): string {
    return Array.from({ length: 1 + this.below(5) }, () => this.pick(WORDS)).join(this.pick([" ", "", "\n"]));
  }

  private cut(text: string): string {
    return text.slice(0, this.below(text.length));
  }

  private withoutTag(text: string): string {
    const tag = this.tag(text);
    return tag ? text.slice(0, tag.index) + text.slice(tag.index + tag[0].length) : text.slice(1);
  }

  private withTagTwice(text: string): string {
    const tag = this.tag(text);
    return tag ? text.slice(0, tag.index) + tag[0] + text.slice(tag.index) : text + text;
  }

  private withMarkup(text: string): string {
    return `${this.words()} ${this.tag(text)?.[0] ?? text.slice(0, 9)} ${this.words()}`;
  }

  /** Matches something in brackets, or one character of JSON. */
  private tag(text: string): RegExpExecArray | undefined {
    const tags = [...text.matchAll(/<[^<>\n]{1,60}>|\[[A-Z_]+\]|[{}[\]",:]/g)];
    return tags.length > 0 ? this.pick(tags) : undefined;
  }

  private scrambled(text: string): string {
    const at = this.below(text.length);
    const end = at + this.below(12);
    return text.slice(0, at) + this.pick(["", this.words(), text.slice(at, end).repeat(2)]) + text.slice(end);
  }

  private below(limit: number): number {
    return Math.floor(this.random() * limit);
  }

  private pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)] as T;
  }
}
