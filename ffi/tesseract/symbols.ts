// Functions of Tesseract's C interface, as declared in its capi.h, and one of Leptonica's, which it brings.

import type { FFIFunction } from "bun:ffi";

const i32 = "i32";
const ptr = "ptr";
/** TessBaseAPI*, ETEXT_DESC*. */
const object = "u64";
/** BOOL, an int. */
const bool = i32;

export const symbols = {
  TessBaseAPICreate: { args: [], returns: object },
  TessBaseAPIDelete: { args: [object], returns: "void" },
  /** Frees dictionaries of all instances that none uses any more. The handle is ignored. */
  TessBaseAPIClearPersistentCache: { args: [object], returns: "void" },
  TessBaseAPISetVariable: { args: [object, ptr, ptr], returns: bool },
  /** folder, languages, engine mode, configs and their number, names and values of variables and their number, … */
  TessBaseAPIInit4: { args: [object, ptr, ptr, i32, ptr, i32, ptr, ptr, "usize", bool], returns: i32 },
  TessBaseAPISetPageSegMode: { args: [object, i32], returns: "void" },
  /** pixels, width, height, bytes per pixel, bytes per row */
  TessBaseAPISetImage: { args: [object, ptr, i32, i32, i32, i32], returns: "void" },
  TessBaseAPISetSourceResolution: { args: [object, i32], returns: "void" },
  TessBaseAPISetRectangle: { args: [object, i32, i32, i32, i32], returns: "void" },
  TessBaseAPIRecognize: { args: [object, object], returns: i32 },
  TessBaseAPIGetTsvText: { args: [object, i32], returns: ptr },
  TessDeleteText: { args: [ptr], returns: "void" },
  TessBaseAPIClear: { args: [object], returns: "void" },
  TessMonitorCreate: { args: [], returns: object },
  TessMonitorDelete: { args: [object], returns: "void" },
  TessMonitorSetCancelFunc: { args: [object, "function"], returns: "void" },
  setMsgSeverity: { args: [i32], returns: i32 },
} as const satisfies Record<string, FFIFunction>;
