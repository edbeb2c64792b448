// Finds regions of ink that may be letters, alone or a few that touch.

import type { Box } from "../domain/recognition.ts";
import { components, regions } from "./components.ts";
import type { Ink } from "./ink.ts";
import { median } from "./statistics.ts";

/** Pixels; smaller regions are specks. */
const LEAST = { area: 6, width: 2, height: 4 };
/** Shares of the page's width, and of its longer side; larger regions are drawings or frames. */
const MOST = { width: 0.5, height: 0.25 };

/** Returns the boxes of possible letters. */
export const lettersOf = (ink: Ink): Box[] =>
  components(regions(ink), LEAST.area).filter(
    ({ width, height }) =>
      width >= LEAST.width &&
      height >= LEAST.height &&
      width <= Math.max(LEAST.width, MOST.width * ink.width) &&
      height <= Math.max(LEAST.height, MOST.height * Math.max(ink.width, ink.height)),
  );

/** Returns the median height of letters in pixels; 0 when there are none. */
export const letterHeight = (letters: readonly Box[]): number => median(letters.map(({ height }) => height));
