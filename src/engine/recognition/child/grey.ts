// Converts colours to grey.

import type { Pixels } from "../../../media/pixels.ts";
import type { Bitmap } from "../../../recognition/bitmap.ts";

/** Weights of red, green and blue in perceived brightness, of 256 in all (ITU-R BT.601). */
const [RED, GREEN, BLUE] = [77, 150, 29];

export const greyOf = (pixels: Pixels): Bitmap =>
  valuesOf(pixels, (rgb, at) => {
    const [red, green, blue] = [rgb[at] as number, rgb[at + 1] as number, rgb[at + 2] as number];
    return (red * RED + green * GREEN + blue * BLUE) >> 8;
  });

/** Returns a single colour channel; 0 is red. */
export const channelOf = (pixels: Pixels, colour: number): Bitmap =>
  valuesOf(pixels, (rgb, at) => rgb[at + colour] as number);

/** Returns what `valueAt` says about the pixels, given their offsets. */
function valuesOf({ width, height, rgb }: Pixels, valueAt: (rgb: Uint8Array, offset: number) => number): Bitmap {
  const data = new Uint8Array(width * height);
  for (let at = 0, from = 0; at < data.length; at++, from += 3) data[at] = valueAt(rgb, from);
  return { width, height, data };
}

/** Turns a picture upright that is stored with this EXIF orientation, 1 to 8. */
export function turned(bitmap: Bitmap, orientation: number): Bitmap {
  if (orientation === 1) return bitmap;
  const { width: across, height: down, data } = bitmap;
  const isSideways = orientation >= 5;
  const [width, height] = isSideways ? [down, across] : [across, down];
  const fromRight = [2, 3, 7, 8].includes(orientation);
  const fromBottom = [3, 4, 6, 7].includes(orientation);
  const upright = new Uint8Array(data.length);
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at++) {
      const [column, row] = isSideways ? [y, x] : [x, y];
      const fromX = fromRight ? across - 1 - column : column;
      const fromY = fromBottom ? down - 1 - row : row;
      upright[at] = data[fromY * across + fromX] as number;
    }
  }
  return { width, height, data: upright };
}
