// From the phonetic alphabet that eSpeak writes to the one that Kokoro was trained with, which has one letter for each
// diphthong and affricate. After misaki.

type Letters = readonly (readonly [written: string, meant: string])[];

/** eSpeak ties what is one sound. Longer ones first. */
const TIED: Letters = [
  ["a^ɪ", "I"],
  ["a^ʊ", "W"],
  ["e^ɪ", "A"],
  ["ɔ^ɪ", "Y"],
  ["d^ʒ", "ʤ"],
  ["t^ʃ", "ʧ"],
];
const OTHERS: Letters = [...TIED, ["o^ʊ", "O"], ["ə^ʊ", "Q"], ["d^z", "ʣ"], ["t^s", "ʦ"], ["s^s", "S"]];
/** Sounds that British English has, and those of other languages that it makes of foreign words. */
const BRITISH: Letters = [
  ["ʔˌn\u0329", "tᵊn"],
  ["e^ə", "ɛː"],
  ["ə^ʊ", "Q"],
  ["ə^l", "ᵊl"],
  ["i^ə", "ɪə"],
  ...TIED,
  ["ʔn", "tᵊn"],
  ["ʲQ", "jQ"],
  ["ʲ", ""],
  ["\u0303", ""],
  ["ʔ", "t"],
  ["ç", "k"],
  ["e", "A"],
  ["o", "ɔ"],
  ["r", "ɹ"],
  ["x", "k"],
  ["ɐ", "ə"],
  ["ɚ", "əɹ"],
  ["ɬ", "l"],
];
/** Where it took a word for one of another language, it says so. */
const SWITCH = /\([a-z-]+\)/g;
const SYLLABIC = /(\S)\u0329/gu;

/** Phonemes as Kokoro takes them, of eSpeak's with `^` for ties. */
export function fromEspeak(written: string, isBritish: boolean): string {
  const plain = written.replaceAll(SWITCH, "").replaceAll(/\s+/g, " ").trim();
  const letters = (isBritish ? BRITISH : OTHERS).reduce((text, [from, to]) => text.replaceAll(from, to), plain);
  return (isBritish ? letters.replaceAll(SYLLABIC, "ᵊ$1") : letters).replaceAll(/[\u0329^-]/g, "");
}

/** What is said in one breath, and the mark behind it; empty at the end of a text without one. */
interface Clause {
  readonly words: string;
  readonly mark: string;
}

/** More marks than a sentence has: each clause is read for itself, which takes a moment. */
const MOST_CLAUSES = 24;
const CLAUSE = /([^]+?)(?:(\.{3}|[;:,.!?…—।])["”’»)\]]*(?=\s|$)|\s(—|–|-)(?=\s)|$)/gu;
const MARKS: Readonly<Record<string, string>> = { "...": "…", "।": ".", "–": "—", "-": "—" };

/** A sentence in clauses: eSpeak leaves marks out, and Kokoro speaks by them. */
export function clausesOf(sentence: string): Clause[] {
  const found: Clause[] = [];
  let end = 0;
  for (const { 0: whole, 1: words = "", 2: mark, 3: dash, index } of sentence.matchAll(CLAUSE)) {
    if (found.length === MOST_CLAUSES - 1) break;
    end = index + whole.length;
    const sign = mark ?? dash ?? "";
    if (/[\p{L}\p{N}]/u.test(words)) found.push({ words: words.trim(), mark: MARKS[sign] ?? sign });
  }
  const rest = sentence.slice(end).trim();
  return /[\p{L}\p{N}]/u.test(rest) ? [...found, { words: rest, mark: "." }] : found;
}
