// The tables that come with the voice: what its reading rules know by heart.

type Words = Readonly<Record<string, string>>;
/** One and many: "mile", "miles". */
export type Counted = readonly [one: string, many: string];

/** What is written out before words are looked up. */
export interface NormalizeTables {
  /** "jan" → "January", in the order of the year. */
  readonly months: Words;
  readonly abbreviations: Words;
  /** Written out before a capital letter only: "St Paul". */
  readonly titles: Words;
  readonly units: Readonly<Record<string, Counted>>;
  readonly symbols: Words;
  readonly currency: Readonly<Record<string, Counted>>;
  /** Words before which Roman numerals count ("Chapter IV"), and before which they order ("Henry VIII"). */
  readonly roman_cardinal: readonly string[];
  readonly roman_ordinal: readonly string[];
}

/** The letters that the net for unknown words reads and the phonemes it writes. */
export interface UnknownWordTables {
  readonly in: readonly string[];
  readonly out: readonly string[];
  /** Phonemes a letter can become. */
  readonly slots: number;
  /** Letters of a word that are read. */
  readonly maxlen: number;
}

export interface Tables {
  readonly normalize: NormalizeTables;
  /** How words are taken apart that the rules would take apart wrongly: "don't" → "do", "n't". */
  readonly tokens: Readonly<Record<string, readonly string[]>>;
  /** Parts of speech, as the Penn Treebank names them, in the order of the alphabet. */
  readonly tags: readonly string[];
  readonly unknownWords: UnknownWordTables;
  /** The number of each phoneme in the acoustic model. */
  readonly phonemes: Readonly<Record<string, number>>;
}

/** Everything that turns text into phonemes, as it lies in the files of the voice. */
export interface SpeechData {
  readonly tables: Tables;
  /** Sorted lines: word → phonemes, or pairs of part of speech and phonemes. The first is the more certain one. */
  readonly gold: Uint8Array;
  readonly silver: Uint8Array;
  /** Sorted lines: words with one part of speech; words the tagger knows; its weights by feature. */
  readonly tagOfWord: Uint8Array;
  readonly knownWords: Uint8Array;
  readonly tagWeights: Uint8Array;
  /** The weights of the net for unknown words: single-precision numbers, little endian. */
  readonly unknownWords: Uint8Array;
}
