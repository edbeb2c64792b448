// Redraws images that are too large to send as they are, or of a format that the API does not take.

import { redrawing } from "../logic/files.ts";
import type { Model } from "../logic/models.ts";

/** Of the JPEG; lossless files of photographs are several times as large. */
const QUALITY = 0.9;

/** Returns an image file as it is sent. Throws Error with a message for the user when nobody can read it. */
export async function pictureOf(file: File, use: Model["use"]): Promise<Blob> {
  const bitmap = await createImageBitmap(file).catch(() => undefined);
  try {
    const scale = redrawing(file, bitmap, use);
    return bitmap && scale !== undefined ? await redrawn(bitmap, scale) : file;
  } finally {
    bitmap?.close();
  }
}

/** Returns the image as a JPEG, on white, on which the server would put it. */
async function redrawn(bitmap: ImageBitmap, scale: number): Promise<Blob> {
  const scaled = (side: number) => Math.max(1, Math.round(scale * side));
  const [width, height] = [scaled(bitmap.width), scaled(bitmap.height)];
  const canvas = new OffscreenCanvas(width, height);
  const ink = canvas.getContext("2d");
  if (!ink) throw new Error("The browser has no room for the image.");
  ink.fillStyle = "white";
  ink.fillRect(0, 0, width, height);
  ink.imageSmoothingQuality = "high";
  ink.drawImage(bitmap, 0, 0, width, height);
  return canvas.convertToBlob({ type: "image/jpeg", quality: QUALITY });
}
