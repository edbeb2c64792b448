// Converts the phonetic alphabet of eSpeak to Kokoro's, which has one letter for each diphthong and affricate. After
// misaki.

type Letters = readonly (readonly [written: string, meant: string])[];

/** Sounds that eSpeak writes as tied letters; longer ones first. */
const TIED: Letters = [
  ["a^ɪ", "I"],
  ["a^ʊ", "W"],
  ["e^ɪ", "A"],
  ["ɔ^ɪ", "Y"],
  ["d^ʒ", "ʤ"],
  ["t^ʃ", "ʧ"],
];
const OTHERS: Letters = [...TIED, ["o^ʊ", "O"], ["ə^ʊ", "Q"], ["d^z", "ʣ"], ["t^s", "ʦ"], ["s^s", "S"]];
/** Sounds of British English, and of other languages in foreign words. */
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
/** eSpeak's mark for a word that it takes to be of another language. */
const SWITCH = /\([a-z-]+\)/g;
const SYLLABIC = /(\S)\u0329/gu;

/** Converts eSpeak's phonemes, with `^` for ties, to Kokoro's. */
export function fromEspeak(written: string, isBritish: boolean): string {
  const plain = written.replaceAll(SWITCH, "").replaceAll(/\s+/g, " ").trim();
  const letters = (isBritish ? BRITISH : OTHERS).reduce((text, [from, to]) => text.replaceAll(from, to), plain);
  return (isBritish ? letters.replaceAll(SYLLABIC, "ᵊ$1") : letters).replaceAll(/[\u0329^-]/g, "");
}

/** A part spoken in one breath, and the punctuation mark after it; empty at the end of a text without one. */
interface Clause {
  readonly words: string;
  readonly mark: string;
}

/** More than the marks of usual sentences: eSpeak reads each clause separately, which takes a moment. */
const MOST_CLAUSES = 24;
const CLAUSE = /([^]+?)(?:(\.{3}|[;:,.!?…—।])["”’»)\]]*(?=\s|$)|\s(—|–|-)(?=\s)|$)/gu;
const MARKS: Readonly<Record<string, string>> = { "...": "…", "।": ".", "–": "—", "-": "—" };

/** Divides a sentence into clauses: eSpeak omits punctuation marks, but Kokoro needs them. */
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
