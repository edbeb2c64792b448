// Compares src/speech with the Python package that it was written from, over thousands of lines: `bun
// test/speech/compare-phonemes.ts`. Ends with 1 when too many differ without a known reason. With `--record`, writes
// test/fixtures/speech/phonemes.json for the test in this folder.

import { join } from "node:path";
import { spokenForms } from "../../src/speech/spoken-forms.ts";
import { builtPhonemizer } from "./built-voice.ts";
import { demandingLines } from "./lines.ts";
import { originalReadings, type Reading } from "./original.ts";

const ROOT = join(import.meta.dir, "../..");
const GOLDEN = join(ROOT, "test/fixtures/speech/phonemes.json");
const SHOWN = 30;
/** Least share of lines read as by the original; of program code in documents, a few differ in ways too rare to list. */
const LEAST_SHARE = 0.995;

/** Where svc intentionally differs from the original, and why. */
const REASONS: Readonly<Record<string, (line: string, reading: Reading) => boolean>> = {
  "the original ends with an error": (_, { error }) => error !== undefined,
  "the original reads a numeral where there is none": (_, { normalized }) =>
    / (?:0|the zeroth)(?=[IVXLC])/.test(normalized ?? ""),
  "svc knows more forms": (line) => spokenForms(line) !== line,
  "svc reads zeros before a number": (line) => /(?<![\d.,])0\d/.test(line),
  "the original counts single digits of cents": (line) => /[$£€][\d,]*\.\d(?!\d)/.test(line),
  "the original loses the space before a dot in a line": (line) => / \.[\p{L}\p{N}]/u.test(line),
  "svc reads equal numbers as a score": (line) => /\b(?!1\/)(\d+)\/\1\b/.test(line),
  "svc reads ranges before a percent sign": (line) => /\d[-–]\d+%/.test(line),
  "svc breaks no sentence after an abbreviation that goes on": (line) =>
    /\b(?:No|Fig|Mar|Apr|Jan|Feb|Aug|Sept?|Oct|Nov|Dec|p|pp|[Mm]ax|[Mm]in)\. \d|\b(?:e\.g|i\.e|vs)\. /.test(line),
  "svc ends a sentence after an abbreviation by what follows": (line) =>
    /(?<![\w.])(?:Jr|Sr|Inc|Ltd|Co|Corp|al|[ap]\.m|[A-Z](?:\.[A-Z])*)\. ["“'‘(]?[A-Z(]/.test(line),
  "svc reads zeros at the end of a number": (line) => /\d\.\d*0(?!\d)/.test(line),
  "svc names the currency of thousandths": (line) => /[$£€][\d,]*\.\d{3}/.test(line),
  "svc reads a number as one beside letters or signs that no dictionary has": (line) =>
    /\d[^\s\d.,;!?)%]|\p{L}\d/u.test(line),
  "svc reads the point of a number in a name": (line) => /[^\s\d]\d+\.\d+(?![\d.])/.test(line),
  "svc reads the unit after a slash or per": (line) => /\d ?\p{L}+\/\p{L}|\bper \p{L}{1,4}\b/u.test(line),
  "svc keeps the dot of an abbreviation that ends a text": (line, { phonemes }) =>
    line.endsWith(".") && !/[;:,.!?—…"“”()]$/u.test(phonemes ?? ""),
  "svc reads long words to their end": (line) => /\p{L}{25}/u.test(line),
  "svc leaves out the mark of a heading": (line) => /^#{1,6} /.test(line),
};

/** The original reads the target of links and pictures, or treats each word as unknown, so it gets only the text. */
const LINK = /!?\[([^[\]]*)\]\([^()]*(?:\([^()]*\)[^()]*)*\)/gu;
const withoutTargets = (line: string): string => line.replace(LINK, "$1").replace(LINK, "$1");

/** Returns lines of text in the documents of installed packages. */
async function documentLines(most: number): Promise<string[]> {
  const names = await Array.fromAsync(new Bun.Glob("node_modules/**/*.md").scan({ cwd: ROOT }));
  const documents = await Promise.all(names.sort().map((name) => Bun.file(join(ROOT, name)).text()));
  const lines = documents.flatMap((text) => text.split("\n")).map((line) => line.trim());
  const different = [...new Set(lines)].filter((line) => /[a-z]{3}/.test(line) && line.length < 400);
  const stride = Math.max(1, different.length / most);
  return different.filter((_, at) => Math.floor(at / stride) !== Math.floor((at - 1) / stride));
}

async function main(): Promise<void> {
  const reader = await builtPhonemizer();
  if (reader === undefined) throw new Error("the build left out the voice hibari");
  const ownReadings = (lines: readonly string[]) => Array.fromAsync(lines, (line) => reader.phonemes(line));
  if (process.argv.includes("--record")) {
    const lines = demandingLines(400, 7);
    const readings = await originalReadings(lines);
    const own = await ownReadings(lines);
    const pairs = lines.flatMap((line, at) => {
      const reading = readings[at];
      if (reading?.phonemes === undefined) return [];
      const isFollowed = reading.phonemes === own[at] || !Object.values(REASONS).some((is) => is(line, reading));
      return isFollowed ? [[line, reading.phonemes]] : [];
    });
    await Bun.write(GOLDEN, `${JSON.stringify(pairs.slice(0, 150), undefined, 2)}\n`);
    return;
  }
  for (const [what, lines] of [
    ["demanding lines", [...new Set(demandingLines(8000, 1))]],
    ["lines of documents", await documentLines(8000)],
  ] as const) {
    const readings = await originalReadings(lines.map(withoutTargets));
    const own = await ownReadings(lines);
    const excused = new Map<string, number>();
    const different = lines.filter((line, at) => {
      const reading = readings[at];
      if (reading === undefined) return true;
      const isSame =
        reading.phonemes === own[at] && Bun.deepEquals(reading.sentences, reader.sentences(withoutTargets(line)));
      const reason = isSame ? undefined : Object.entries(REASONS).find(([, applies]) => applies(line, reading))?.[0];
      if (reason !== undefined) excused.set(reason, (excused.get(reason) ?? 0) + 1);
      return !isSame && reason === undefined;
    });
    const others = [...excused].map(([reason, count]) => `; ${count}: ${reason}`).join("");
    const share = 1 - different.length / lines.length;
    console.log(`${what}: ${lines.length}, ${(100 * share).toFixed(2)} % read as by the original${others}`);
    for (const line of different.slice(0, SHOWN)) {
      const reading = readings[lines.indexOf(line)];
      console.log(`\n  ${JSON.stringify(line)}\n  - ${reading?.phonemes}\n  + ${await reader.phonemes(line)}`);
    }
    if (share < LEAST_SHARE) process.exitCode = 1;
  }
}

await main();
