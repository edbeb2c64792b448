// Reads the EXIF orientation, the one entry that changes how a picture looks.

const ORIENTATION = 0x0112;

/** Returns the orientation (1 to 8) in an EXIF block, or undefined when there is none or the block is damaged. */
export function exifOrientation(block: Uint8Array): number | undefined {
  const prefix = String.fromCharCode(...block.subarray(0, 6)) === "Exif\0\0" ? 6 : 0;
  const view = new DataView(block.buffer, block.byteOffset + prefix, block.byteLength - prefix);
  try {
    const little = view.getUint16(0) === 0x4949;
    const directory = view.getUint32(4, little);
    const entries = view.getUint16(directory, little);
    for (let index = 0; index < entries; index++) {
      const entry = directory + 2 + index * 12;
      if (view.getUint16(entry, little) !== ORIENTATION) continue;
      const value = view.getUint16(entry + 8, little);
      return value >= 1 && value <= 8 ? value : undefined;
    }
  } catch (error) {
    // The block points outside itself. A picture without orientation is still usable.
    if (!(error instanceof RangeError)) throw error;
  }
  return undefined;
}

/** Turns a picture with this orientation upright. */
export function upright(image: Bun.Image, orientation: number): Bun.Image {
  // Bun rotates clockwise first and mirrors afterwards, whatever the order of the calls.
  if (orientation === 2) return image.flop();
  if (orientation === 3) return image.rotate(180);
  if (orientation === 4) return image.flip();
  if (orientation === 5) return image.rotate(90).flop();
  if (orientation === 6) return image.rotate(90);
  if (orientation === 7) return image.rotate(90).flip();
  return orientation === 8 ? image.rotate(270) : image;
}
