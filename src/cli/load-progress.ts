// Loading, made visible: a bar that is redrawn on a terminal, a few plain lines elsewhere.

import type { TextPort } from "../engine/text/port.ts";

const REDRAW_MS = 100;
const BAR = 30;
/** Elsewhere than on a terminal: after this long, and then each time it doubled. */
const FIRST_LINE_MS = 2000;

/** Shows progress until `end` is called. */
export function showLoading(engine: TextPort, out: NodeJS.WriteStream): { end(): void } {
  const started = performance.now();
  let nextLine = FIRST_LINE_MS;
  const draw = () => {
    const { progress = 0, modelId } = engine.status();
    const percent = Math.round(progress * 100);
    if (out.isTTY) {
      const full = Math.round(progress * BAR);
      // The cursor goes back to the start of the line, so that a log line takes the bar's place.
      out.write(`\x1b[K  loading ${modelId} [${"#".repeat(full)}${".".repeat(BAR - full)}] ${percent} %\r`);
    } else if (performance.now() - started >= nextLine) {
      nextLine *= 2;
      out.write(`loading ${modelId}: ${percent} %\n`);
    }
  };
  const timer = setInterval(draw, REDRAW_MS);
  return {
    end() {
      clearInterval(timer);
      if (out.isTTY) out.write("\x1b[K");
    },
  };
}
