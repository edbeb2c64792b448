// What a schema may cost: bounds on its size, and bounds of llama.cpp's grammars.

/** Subschemas inside one another. */
export const MAX_DEPTH = 64;
/** JSON values in a schema. */
export const MAX_NODES = 20_000;
/** Characters of all strings and names in a schema. */
export const MAX_CHARACTERS = 1_000_000;
/** Characters of a property name; the converter's own regular expressions recurse over them. */
export const MAX_NAME_LENGTH = 256;
/** Subschemas that apply to the same value through one another. */
export const MAX_IN_PLACE = 256;
/** Objects and arrays inside one another once references are followed; the converter recurses over them. */
export const MAX_EXPANSION_DEPTH = 128;

/** Alternatives that one subschema may be multiplied out to. */
export const MAX_CASES = 256;
/** Pairs of subschemas that are compared in search of a contradiction. */
export const MAX_COMPARISONS = 3_000;
/** Steps each of checking literal values, of matching patterns and of multiplying out; past them nothing more is found. */
export const MAX_STEPS = 100_000;
/** Subschemas made while rewriting. */
export const MAX_SYNTHETIC = 4_000;

/** llama.cpp's MAX_REPETITION_THRESHOLD: longer repetitions are refused, or silently lose their maximum. */
export const MAX_REPETITION = 2_000;
/** The same for array items: the threshold counts up to three rules for each of them. */
export const MAX_ITEMS = 600;
/** The converter copies the list of optional properties for each of them, and once more for each of these. */
export const MAX_OPTIONAL = 200;
/** Repetitions in a whole grammar, each of which is a rule. */
export const MAX_TOTAL_REPETITION = 100_000;
/** Multiples and other numbers that are written out one by one. */
export const MAX_ENUMERATED = 512;
/** Lengths of a tuple that are written out one by one. */
export const MAX_TUPLES = 12;
/** Arrays and objects inside one another anywhere in a schema. */
export const MAX_JSON_DEPTH = 192;
/** Uses of one pattern that are written out; beyond that it becomes a definition, which the converter makes once. */
export const MAX_COPIES = 16;
/** Characters of the names that lead to a subschema; the converter names its rules by them. */
export const MAX_PATH_NAMES = 400;
/** Properties whose rules get the same name but for a number. */
export const MAX_SAME_NAMES = 500;
/** Values of an `enum` that stay beside one another in the grammar; more branch where they part. */
export const MAX_FLAT_VALUES = 32;
/** Values of an `enum` that is used in several places; a longer one becomes a definition. */
export const MAX_INLINE_VALUES = 16;
/** Alternatives that are open at once. llama.cpp compares each with each: with 5,000 a value takes about half a second. */
export const MAX_OPEN = 5_000;
/** Alternatives that an answer begins with, times the characters of its schema: llama.cpp's copy looks for each in all. */
export const MAX_BEGINNING = 200_000_000;
