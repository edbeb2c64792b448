// Makes text safe for programs of the host: they must not take any part of it for a command.

/** Line ends and control characters: Piper speaks each line separately, and eSpeak reads commands behind ^A. */
const GAPS = /[\s\p{Cc}]+/gu;
/** eSpeak, Piper and macOS all read text in double brackets as phonemes or commands. */
const DOUBLE = /([[\]])(?=\1)/g;

/** Returns the text as one line. Markup stays as it is: no program is run in a mode that interprets it. */
export const plainText = (text: string): string =>
  text.toWellFormed().replaceAll(GAPS, " ").replaceAll(DOUBLE, "$1 ").trim();
