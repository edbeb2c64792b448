// Checks the images of an edit before a model is loaded for them.

import { invalidValue } from "../domain/errors.ts";
import { IMAGE_FORMATS, type ImageSize } from "../domain/image.ts";
import { measureImage, type MeasuredImage } from "../media/image.ts";
import { defaultMediaLimits } from "../media/limits.ts";
import { atField } from "../media/refusal.ts";
import type { TemporaryFile } from "../store/temporary-files.ts";

export interface EditedPictures {
  readonly image: TemporaryFile;
  /** Further images that the description refers to. */
  readonly references: readonly TemporaryFile[];
  readonly mask?: TemporaryFile;
}

/**
 * Returns the size in which the image is stored. Throws SvcError `invalid_value` about the first file that is not a
 * complete image, an image of more than `mostPixels` pixels, or a mask that does not fit.
 */
export async function checkPictures(
  { image, references, mask }: EditedPictures,
  mostPixels = Number.POSITIVE_INFINITY,
): Promise<ImageSize> {
  const measured = await measure(image);
  const size = { width: measured.width, height: measured.height };
  if (size.width * size.height > mostPixels) {
    const most = mostPixels.toLocaleString("en-US");
    throw invalidValue(image.field, `have at most ${most} pixels`, `${size.width} × ${size.height}`);
  }
  for (const reference of references) await measure(reference);
  if (!mask) return size;
  const { width, height, alpha } = await measure(mask);
  const param = mask.field;
  if (!alpha) {
    throw invalidValue(param, "be transparent where the image is drawn anew", "an image without transparency");
  }
  if (isAsLarge(measured, width, height)) return size;
  throw invalidValue(param, `be as large as the image, ${size.width} × ${size.height} pixels`, `${width} × ${height}`);
}

const measure = ({ path, field }: TemporaryFile): Promise<MeasuredImage> =>
  atField(field, async () =>
    measureImage(await Bun.file(path).bytes(), { ...defaultMediaLimits, formats: IMAGE_FORMATS }),
  );

/**
 * Whether a mask has the size of the image. Photographs may be stored rotated, so formats other than PNG also match
 * with the sides swapped.
 */
const isAsLarge = (image: MeasuredImage, width: number, height: number): boolean =>
  (image.width === width && image.height === height) ||
  (image.format !== "png" && image.width === height && image.height === width);

/** Returns all files of an edit. */
export const picturesOf = ({ image, references, mask }: EditedPictures): TemporaryFile[] => [
  image,
  ...references,
  ...(mask ? [mask] : []),
];
