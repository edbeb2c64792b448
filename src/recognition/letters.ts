// Regions of ink that can be letters, alone or a few that touch.

import type { Box } from "../domain/recognition.ts";
import { components, regions } from "./components.ts";
import type { Ink } from "./ink.ts";
import { median } from "./statistics.ts";

/** Pixels: what is smaller is a speck. */
const LEAST = { area: 6, width: 2, height: 4 };
/** Share of the page; what is larger is a drawing or a frame. */
const MOST = { width: 0.5, height: 0.25 };

/** The boxes of what can be letters. */
export const lettersOf = (ink: Ink): Box[] =>
  components(regions(ink), LEAST.area).filter(
    ({ width, height }) =>
      width >= LEAST.width &&
      height >= LEAST.height &&
      width <= Math.max(LEAST.width, MOST.width * ink.width) &&
      height <= Math.max(LEAST.height, MOST.height * ink.height),
  );

/** The height of most letters, in pixels; 0 when there are none. */
export const letterHeight = (letters: readonly Box[]): number => median(letters.map(({ height }) => height));
