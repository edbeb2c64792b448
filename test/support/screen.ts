/** What begins a control sequence. */
export const ESCAPE = "\x1b";

/**
 * Returns the lines that a terminal shows after this output, without colours, blank lines and blanks at their ends. Knows
 * what svc writes: ends of lines, returns to a line's start, and the sequence that clears the rest of a line.
 */
export function screenOf(output: string): string[] {
  const lines: string[] = [];
  let [line, column] = ["", 0];
  const put = (text: string) => {
    line = line.slice(0, column).padEnd(column) + text + line.slice(column + text.length);
    column += text.length;
  };
  for (const part of `${ESCAPE}[m${output}`.split(ESCAPE).slice(1)) {
    const [, sequence, text = ""] = /^(\[[\d;]*[A-Za-z])(.*)$/s.exec(part) ?? [];
    if (sequence === "[K") line = line.slice(0, column);
    for (const [piece] of text.matchAll(/\r|\n|[^\r\n]+/g)) {
      if (piece === "\r") column = 0;
      else if (piece === "\n") {
        lines.push(line);
        line = "";
      } else put(piece);
    }
  }
  return [...lines, line].map((one) => one.trimEnd()).filter((one) => one !== "");
}
