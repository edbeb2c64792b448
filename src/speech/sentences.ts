// Divides long texts into parts to speak at once.

import { isLower, SPACE } from "./characters.ts";
import { SMALLER_PART } from "./quantities.ts";

/**
 * Longest sentence in UTF-16 units; longer ones are divided at the best place. Words that no dictionary has take half a
 * millisecond per letter, and the processing of a sentence cannot be interrupted.
 */
const LONGEST_SENTENCE = 400;
const END = new RegExp(String.raw`(?<=[.!?…।])["”’)\]]*[${SPACE}]+(?=[^${SPACE}])`, "gu");
const CLAUSE = /[,;:—.!?…।] /g;
/** The mark of a heading in Markdown. */
const HEADING = new RegExp(`^#{1,6}[${SPACE}]+`, "u");
/** Abbreviations that end no sentence before a number: "No. 5", "Jan. 3". */
const BEFORE_NUMBER =
  /^(?:[Nn]os?|[Ff]igs?|pp?|[Vv]ols?|[Cc]h|Sec|Art|Eqs?|Op|Apt|Ste|Rm|Bldg|[Ee]xt|[Tt]el|[Aa]pprox|[Ee]st|[Mm]ax|[Mm]in|ca?|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)$/;
/** Units of which a part can follow: "5 ft. 3 in." */
const LARGER_UNIT = /^(?:ft|lbs?|hrs?)$/;
const BEFORE_PART = new RegExp(`^${SMALLER_PART}`, "u");
/** Abbreviations after which something always follows. */
const NEVER_LAST = /^(?:vs|e\.g|i\.e|cf|viz)$/i;
/** Like titles, these end a sentence only before a usual beginning: "Jr.", "9 a.m.", "J. Smith", "the U.S. Senate". */
const SELDOM_LAST = /^(?:Jr|Sr|Inc|Ltd|Co|Corp|al|[ap]\.m|\p{Lu}(?:\.\p{Lu})*)$/u;
/** Words, and highways, with which sentences begin, and names do not; not the initial of "J. A. Smith". */
const BEGINNING = new RegExp(
  "^[\"“'‘(]?(?:I(?:-[0-9]+)?|An?|The|This|That|These|Those|He|She|It|We|You|They|There|Here|My|His|Her|Our|Your|Their|Its|But|And|Or|So" +
    String.raw`|Then|Now|If|When|While|As|At|In|On|For|From|With|After|Before|However|What|Why|How|Where|All|Some|Many` +
    String.raw`|(?:Every|Some|No)(?:one|body)|No one|Yes|Please|Let)(?![\p{L}.\-])`,
  "u",
);
const WORD_BEFORE_DOT = /(?:^| )["“'‘(]*([^ ]{1,8})$/u;

/** Splits a text at line breaks and sentence ends, into pieces of at most 400 UTF-16 units. */
export function splitSentences(text: string, titles: ReadonlySet<string>): string[] {
  return text
    .split("\n")
    .flatMap((line) => sentencesOf(line.trim().replace(HEADING, ""), titles))
    .flatMap((sentence) => cut(sentence, LONGEST_SENTENCE))
    .filter((sentence) => sentence.trim() !== "");
}

function sentencesOf(line: string, titles: ReadonlySet<string>): string[] {
  const sentences: string[] = [];
  let start = 0;
  for (const { 0: gap, index } of line.matchAll(END)) {
    if (!endsSentence(line, index, line.slice(index + gap.length, index + gap.length + 10), titles)) continue;
    sentences.push(line.slice(start, index));
    start = index + gap.length;
  }
  return [...sentences, line.slice(start)];
}

/** Returns false before a lower-case letter, and after abbreviations that go on: "Dr.", "J.", "No." with a number. */
function endsSentence(line: string, end: number, next: string, titles: ReadonlySet<string>): boolean {
  if (isLower(Array.from(next)[0] ?? "")) return false;
  if (line[end - 1] !== ".") return true;
  const word = WORD_BEFORE_DOT.exec(line.slice(Math.max(0, end - 16), end - 1))?.[1] ?? "";
  if (BEFORE_NUMBER.test(word) && /^\p{Nd}/u.test(next)) return false;
  if (LARGER_UNIT.test(word) && BEFORE_PART.test(next)) return false;
  if (NEVER_LAST.test(word)) return false;
  return BEGINNING.test(next) || !(titles.has(word) || SELDOM_LAST.test(word));
}

/** Divides text into the longest pieces of at most `most` UTF-16 units: after a mark, else a space, else anywhere. */
export function cut(text: string, most: number): string[] {
  const pieces: string[] = [];
  let rest = text;
  while (rest.length > most) {
    const head = rest.slice(0, most + 1);
    const end = Array.from(head.matchAll(CLAUSE)).at(-1)?.index;
    const at = end === undefined ? head.lastIndexOf(" ") : end + 1;
    const splitsPair = /[\ud800-\udbff]/.test(head.charAt(most - 1));
    const length = at > 0 ? at : splitsPair ? most - 1 : most;
    pieces.push(rest.slice(0, length).trim());
    rest = rest.slice(length).trim();
  }
  return [...pieces, rest];
}
