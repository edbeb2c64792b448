// The types of the tables that come with the voice.

type Words = Readonly<Record<string, string>>;
/** Singular and plural: "mile", "miles". */
export type Counted = readonly [one: string, many: string];

/** What is written out before words are looked up. */
export interface NormalizeTables {
  /** "jan" → "January", in the order of the year. */
  readonly months: Words;
  readonly abbreviations: Words;
  /** Written out only before a capital letter: "St Paul". */
  readonly titles: Words;
  readonly units: Readonly<Record<string, Counted>>;
  readonly symbols: Words;
  readonly currency: Readonly<Record<string, Counted>>;
  /** Words before Roman numerals that count ("Chapter IV"), and before those that order ("Henry VIII"). */
  readonly roman_cardinal: readonly string[];
  readonly roman_ordinal: readonly string[];
}

/** The letters that the neural network for unknown words reads, and the phonemes that it writes. */
export interface UnknownWordTables {
  readonly in: readonly string[];
  readonly out: readonly string[];
  /** Maximum number of letters that are read at once. */
  readonly maxlen: number;
}

export interface Tables {
  readonly normalize: NormalizeTables;
  /** Words that the rules would split wrongly, with their pieces: "don't" → "do", "n't". */
  readonly tokens: Readonly<Record<string, readonly string[]>>;
  /** Parts of speech, named as in the Penn Treebank, in alphabetical order. */
  readonly tags: readonly string[];
  readonly unknownWords: UnknownWordTables;
  /** Number of each phoneme in the acoustic model. */
  readonly phonemes: Readonly<Record<string, number>>;
}
