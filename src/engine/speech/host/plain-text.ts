// Text that a program of the host reads as text, and takes no part of for a command to itself.

/** Ends of lines and control characters: Piper says each line for itself, and eSpeak has commands behind ^A. */
const GAPS = /[\s\p{Cc}]+/gu;
/** eSpeak, Piper and macOS all read what stands in double brackets as phonemes or commands. */
const DOUBLE = /([[\]])(?=\1)/g;

/** One line. Markup stays as it is: no program is asked to understand it. */
export const plainText = (text: string): string =>
  text.toWellFormed().replaceAll(GAPS, " ").replaceAll(DOUBLE, "$1 ").trim();
