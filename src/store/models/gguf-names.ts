// Reads the format, quantization, part number and kind (model or projector) from a model file's name.

/** Quantization with which file names end by convention: Q4_K_M, IQ2_XXS, UD-Q4_K_XL, BF16, MXFP4_MOE. */
const QUANT =
  /(?<![A-Za-z0-9])((?:UD-)?(?:I?Q\d(?:_[A-Z0-9]{1,3})*|TQ\d_\d|BF16|FP?16|FP?32|MXFP4(?:_MOE)?|NVFP4))(?![A-Za-z0-9])/gi;
const PART = /-(\d{5})-of-(\d{5})$/;

/** Returns the quantization in a path, in capitals; the file's name takes precedence over its folders'. */
export function quantOf(path: string): string | undefined {
  for (const segment of path.split("/").toReversed()) {
    const found = [...stemOf(segment).matchAll(QUANT)].at(-1)?.[1];
    if (found) return found.toUpperCase().replace(/^FP/, "F");
  }
  return undefined;
}

/** Returns the path without extension and part number: equal for all files of one model. */
export const stemOf = (path: string): string => path.replace(/\.(?:gguf|bin)$/i, "").replace(PART, "");

/** Returns the part number of a path and the number of parts; a model in one file is part 1 of 1. */
export function partOf(path: string): { readonly part: number; readonly parts: number } {
  const found = PART.exec(path.replace(/\.gguf$/i, ""));
  return found ? { part: Number(found[1]), parts: Number(found[2]) } : { part: 1, parts: 1 };
}

/** Returns the path of another part of the same model. */
export const otherPart = (path: string, part: number): string =>
  path.replace(/-\d{5}(-of-\d{5}\.gguf)$/i, `-${String(part).padStart(5, "0")}$1`);

const isGguf = (path: string): boolean => /\.gguf$/i.test(path);

/** Returns whether a path is a speech recognition model in whisper.cpp's format. */
export const isWhisper = (path: string): boolean => /^ggml-.+\.bin$/i.test(baseName(path));

/** Returns whether a path has a format that svc serves. */
export const isModelFile = (path: string): boolean => isGguf(path) || isWhisper(path);

/** Returns whether a path is a projector, which turns images or sound into embeddings for the model beside it. */
export const isProjector = (path: string): boolean => isGguf(path) && /mmproj/i.test(baseName(path));

/** Returns whether a path holds the weights of a model, as far as its name shows. */
export const isModel = (path: string): boolean => isModelFile(path) && !/mmproj|imatrix/i.test(baseName(path));

export const baseName = (path: string): string => path.slice(path.lastIndexOf("/") + 1);
