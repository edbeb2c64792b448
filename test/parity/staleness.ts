// Whether a recorded page of comparisons says what a new one says, whatever machine each was made on.

/**
 * Returns a sentence for each setting, reason and paragraph that is on one of the pages alone. Numbers of the tables and
 * the details below a reason are left out: the last bits of sums, and with them ties, depend on the processor.
 */
export function staleLines(recorded: string, made: string): string[] {
  const [before, now] = [recorded, made].map((page) => new Set(lastingLines(page)));
  return [
    ...[...(now ?? [])].filter((line) => !before?.has(line)).map((line) => `it lacks: ${line}`),
    ...[...(before ?? [])].filter((line) => !now?.has(line)).map((line) => `it no longer holds: ${line}`),
  ];
}

const lastingLines = (page: string): string[] =>
  page
    .split("\n")
    .map((line) => (line.startsWith("| ") ? rowOf(line) : line))
    .filter((line) => line !== "" && !line.startsWith("  - ") && !IS_WITHOUT_REASON.test(line));

/** A row whose answers differ by ties alone. */
const IS_WITHOUT_REASON = /^- \*\*[^*]+\*\*\.$/;

/** Returns the cells of a row of a table that are no numbers. */
const rowOf = (line: string): string =>
  line
    .split("|")
    .map((cell) => cell.trim())
    .filter((cell) => cell !== "" && !/^(?:–|-+:?|[\de.+-]+)$/.test(cell))
    .join(" | ");
