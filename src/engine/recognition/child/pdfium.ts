// PDFium as WebAssembly: its C functions and access to its memory.

import { PDFiumModule } from "@hyzyla/pdfium";
import wasm from "@hyzyla/pdfium/pdfium.wasm" with { type: "file" };
import { limitedModule } from "./wasm-memory.ts";

/** As in fpdfview.h and fpdf_text.h; handles and pointers are numbers, 0 for none. */
interface Functions {
  _FPDF_InitLibraryWithConfig(config: object): void;
  _FPDF_LoadMemDocument(bytes: number, length: number, password: number): number;
  _FPDF_CloseDocument(document: number): void;
  _FPDF_GetLastError(): number;
  _FPDF_GetPageCount(document: number): number;
  _FPDF_LoadPage(document: number, index: number): number;
  _FPDF_ClosePage(page: number): void;
  _FPDF_GetPageWidthF(page: number): number;
  _FPDF_GetPageHeightF(page: number): number;
  /** Left, top, right and bottom. */
  _FPDF_GetPageBoundingBox(page: number, rectangle: number): number;
  _FPDFPage_SetMediaBox(page: number, left: number, bottom: number, right: number, top: number): void;
  _FPDFPage_GetAnnotCount(page: number): number;
  _FPDFPage_GetAnnot(page: number, index: number): number;
  _FPDFPage_CloseAnnot(annotation: number): void;
  _FPDFAnnot_GetSubtype(annotation: number): number;
  /** Right angles by which viewers turn the page, clockwise. */
  _FPDFPage_GetRotation(page: number): number;
  _FPDFPage_Flatten(page: number, usage: number): number;
  _FPDFPage_CountObjects(page: number): number;
  _FPDFPage_GetObject(page: number, index: number): number;
  _FPDFPageObj_GetType(object: number): number;
  _FPDFPageObj_GetBounds(object: number, left: number, bottom: number, right: number, top: number): number;
  _FPDFPageObj_GetMatrix(object: number, matrix: number): number;
  _FPDFFormObj_CountObjects(form: number): number;
  _FPDFFormObj_GetObject(form: number, index: number): number;
  _FPDFText_LoadPage(page: number): number;
  _FPDFText_ClosePage(text: number): void;
  _FPDFText_CountChars(text: number): number;
  _FPDFText_GetUnicode(text: number, index: number): number;
  _FPDFText_HasUnicodeMapError(text: number, index: number): number;
  /** Radians by which the character is turned on the page, clockwise. */
  _FPDFText_GetCharAngle(text: number, index: number): number;
  _FPDFText_GetLooseCharBox(text: number, index: number, rectangle: number): number;
  _FPDF_PageToDevice(
    page: number,
    startX: number,
    startY: number,
    sizeX: number,
    sizeY: number,
    rotate: number,
    pageX: number,
    pageY: number,
    deviceX: number,
    deviceY: number,
  ): number;
  _FPDFBitmap_CreateEx(width: number, height: number, format: number, pixels: number, stride: number): number;
  _FPDFBitmap_FillRect(bitmap: number, left: number, top: number, width: number, height: number, color: number): void;
  _FPDFBitmap_Destroy(bitmap: number): void;
  _FPDF_RenderPageBitmap(
    bitmap: number,
    page: number,
    startX: number,
    startY: number,
    sizeX: number,
    sizeY: number,
    rotate: number,
    flags: number,
  ): void;
  readonly wasmExports: { malloc(bytes: number): number; free(pointer: number): void };
  readonly HEAPU8: Uint8Array;
}

/** Results of FPDF_GetLastError: a password is needed, or PDFium does not know the encryption. */
const ENCRYPTED: readonly number[] = [4, 5];

export class Pdfium {
  private constructor(readonly functions: Functions) {}

  static async load(): Promise<Pdfium> {
    const { buffer: wasmBinary } = await limitedModule(wasm);
    const quiet = { print() {}, printErr() {} };
    const module = { wasmBinary, locateFile: () => "", ...quiet };
    const functions = (await PDFiumModule(module)) as unknown as Functions;
    functions._FPDF_InitLibraryWithConfig({ version: 2 });
    return new Pdfium(functions);
  }

  /** Calls `use` with this many bytes of PDFium's memory, then frees them. Throws Error when memory runs out. */
  within<T>(bytes: number, use: (pointer: number) => T): T {
    const pointer = this.allocate(bytes);
    try {
      return use(pointer);
    } finally {
      this.free(pointer);
    }
  }

  allocate(bytes: number): number {
    const pointer = this.functions.wasmExports.malloc(bytes);
    if (pointer === 0) throw new Error(`PDFium has no ${bytes} bytes left`);
    return pointer;
  }

  free(pointer: number): void {
    this.functions.wasmExports.free(pointer);
  }

  /** Returns 32-bit floats in PDFium's memory. */
  floats(pointer: number, count: number): Float32Array {
    return new Float32Array(this.functions.HEAPU8.buffer, pointer, count);
  }

  integers(pointer: number, count: number): Int32Array {
    return new Int32Array(this.functions.HEAPU8.buffer, pointer, count);
  }

  /** Returns why a document could not be opened. */
  failure(): "encrypted" | "damaged" {
    return ENCRYPTED.includes(this.functions._FPDF_GetLastError()) ? "encrypted" : "damaged";
  }
}
