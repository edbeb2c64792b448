// Limits on the cost of a schema: bounds on its size, and bounds of llama.cpp's grammars.

/** Levels of nested subschemas. */
export const MAX_DEPTH = 64;
/** JSON values in a schema. */
export const MAX_NODES = 20_000;
/** Characters of all strings and names in a schema together. */
export const MAX_CHARACTERS = 1_000_000;
/** Keywords that are not enforced and whose paths are kept: the paths of a deep schema are long. */
export const MAX_LOST = 1_000;
/** Characters of a property name or format; the converter's regular expressions recurse over them. */
export const MAX_NAME_LENGTH = 256;
/** Length of a chain of subschemas that apply to the same value. */
export const MAX_IN_PLACE = 256;
/** Levels of nested objects and arrays once references are followed; the converter recurses over them. */
export const MAX_EXPANSION_DEPTH = 128;

/** Cases that one subschema may be multiplied out to. */
export const MAX_CASES = 256;
/** Pairs of subschemas that are compared to find a contradiction. */
export const MAX_COMPARISONS = 3_000;
/** Steps each for checking literals, matching patterns and multiplying out; beyond them, results are undetermined. */
export const MAX_STEPS = 100_000;
/** Subschemas that are created while rewriting. */
export const MAX_SYNTHETIC = 4_000;

/** llama.cpp's MAX_REPETITION_THRESHOLD: longer repetitions are refused, or silently lose their maximum. */
export const MAX_REPETITION = 2_000;
/** The same for array items: each of them adds up to three rules to the count. */
export const MAX_ITEMS = 600;
/** Optional properties of an object. The converter copies their list for each, and again for each entry of the copy. */
export const MAX_OPTIONAL = 200;
/** Repetitions in a whole grammar; each of them is a rule. */
export const MAX_TOTAL_REPETITION = 100_000;
/** Multiples and other numbers that are written out individually. */
export const MAX_ENUMERATED = 512;
/** Lengths of a tuple that are written out individually. */
export const MAX_TUPLES = 12;
/** Levels of nested arrays and objects anywhere in the JSON text of a schema. */
export const MAX_JSON_DEPTH = 192;
/** Uses of a pattern that are written out; beyond that it becomes a definition, which the converter makes once. */
export const MAX_COPIES = 16;
/** Characters of the path of names to a subschema; the converter names its rules after this path. */
export const MAX_PATH_NAMES = 400;
/** Properties whose rule names differ only in a number. */
export const MAX_SAME_NAMES = 500;
/** Values of an `enum` that stay flat alternatives in the grammar; a longer list branches where values differ. */
export const MAX_FLAT_VALUES = 32;
/** Values of an `enum` used in several places that are repeated; a longer list becomes a definition. */
export const MAX_INLINE_VALUES = 16;
/** Alternatives open at once. llama.cpp compares each with all others: with 5,000, a value takes about 0.5 s. */
export const MAX_OPEN = 5_000;
/** Alternatives at the beginning, times schema characters: to copy a grammar, llama.cpp looks for each in all rules. */
export const MAX_BEGINNING = 200_000_000;
