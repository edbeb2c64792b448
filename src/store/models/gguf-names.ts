// What the name of a model's file tells: its format, its quantization, which part of a model it is, whether it is a projector.

/** Bits and family, after the makers' habit to end names with them: Q4_K_M, IQ2_XXS, UD-Q4_K_XL, BF16, MXFP4_MOE. */
const QUANT =
  /(?<![A-Za-z0-9])((?:UD-)?(?:I?Q\d(?:_[A-Z0-9]{1,3})*|TQ\d_\d|BF16|FP?16|FP?32|MXFP4(?:_MOE)?|NVFP4))(?![A-Za-z0-9])/gi;
const PART = /-(\d{5})-of-(\d{5})$/;

/** The quantization that a path names, in capitals; its file's name counts before its folders'. */
export function quantOf(path: string): string | undefined {
  for (const segment of path.split("/").toReversed()) {
    const found = [...stemOf(segment).matchAll(QUANT)].at(-1)?.[1];
    if (found) return found.toUpperCase().replace(/^FP/, "F");
  }
  return undefined;
}

/** The path without its ending and without the number of a part: equal for all files of one model. */
export const stemOf = (path: string): string => path.replace(/\.(?:gguf|bin)$/i, "").replace(PART, "");

/** Which of how many parts a path is; a model in one file is 1 of 1. */
export function partOf(path: string): { readonly part: number; readonly parts: number } {
  const found = PART.exec(path.replace(/\.gguf$/i, ""));
  return found ? { part: Number(found[1]), parts: Number(found[2]) } : { part: 1, parts: 1 };
}

/** The path of another part of the same model. */
export const otherPart = (path: string, part: number): string =>
  path.replace(/-\d{5}(-of-\d{5}\.gguf)$/i, `-${String(part).padStart(5, "0")}$1`);

const isGguf = (path: string): boolean => /\.gguf$/i.test(path);

/** A speech recognition model in whisper.cpp's format. */
export const isWhisper = (path: string): boolean => /^ggml-.+\.bin$/i.test(baseName(path));

/** In a format that is served here. */
export const isModelFile = (path: string): boolean => isGguf(path) || isWhisper(path);

/** A file that turns images or sound into embeddings for the model beside it. */
export const isProjector = (path: string): boolean => isGguf(path) && /mmproj/i.test(baseName(path));

/** Weights of a model of its own, as far as a name can tell. */
export const isModel = (path: string): boolean => isModelFile(path) && !/mmproj|imatrix/i.test(baseName(path));

export const baseName = (path: string): string => path.slice(path.lastIndexOf("/") + 1);
