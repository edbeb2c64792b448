// Tesseract as a native library, through its C interface: the functions are those of its capi.h, and one of Leptonica's,
// which it brings.

import { CString, JSCallback, ptr, type FFIFunction } from "bun:ffi";
import { openSymbols, type Native } from "../runtime/library.ts";

const i32 = "i32";
const address = "ptr";
/** TessBaseAPI*, ETEXT_DESC*. */
const object = "u64";
/** BOOL, an int. */
const bool = i32;

const symbols = {
  TessBaseAPICreate: { args: [], returns: object },
  TessBaseAPIDelete: { args: [object], returns: "void" },
  /** Frees dictionaries of all instances that none uses any more. The handle is ignored. */
  TessBaseAPIClearPersistentCache: { args: [object], returns: "void" },
  TessBaseAPISetVariable: { args: [object, address, address], returns: bool },
  /** folder, languages, engine mode, configs and their number, names and values of variables and their number, … */
  TessBaseAPIInit4: {
    args: [object, address, address, i32, address, i32, address, address, "usize", bool],
    returns: i32,
  },
  TessBaseAPISetPageSegMode: { args: [object, i32], returns: "void" },
  /** pixels, width, height, bytes per pixel, bytes per row */
  TessBaseAPISetImage: { args: [object, address, i32, i32, i32, i32], returns: "void" },
  TessBaseAPISetSourceResolution: { args: [object, i32], returns: "void" },
  TessBaseAPISetRectangle: { args: [object, i32, i32, i32, i32], returns: "void" },
  TessBaseAPIRecognize: { args: [object, object], returns: i32 },
  TessBaseAPIGetTsvText: { args: [object, i32], returns: address },
  TessDeleteText: { args: [address], returns: "void" },
  TessBaseAPIClear: { args: [object], returns: "void" },
  TessMonitorCreate: { args: [], returns: object },
  TessMonitorDelete: { args: [object], returns: "void" },
  TessMonitorSetCancelFunc: { args: [object, "function"], returns: "void" },
  setMsgSeverity: { args: [i32], returns: i32 },
} as const satisfies Record<string, FFIFunction>;

const LSTM_ONLY = 1;
const GREY_BYTES = 1;
/** Leptonica's severity above that of all its messages, which are about lines that it does not find. */
const SILENT = 6;

/** Opens the library. Throws an Error with the system's reason when it cannot be used on this machine. */
export function openTesseract(path: string): Native<typeof symbols> {
  const native = openSymbols(path, symbols);
  native.setMsgSeverity(SILENT);
  return native;
}

/** The picture that is read: one byte per pixel, row by row from the top. */
interface Picture {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

/** One instance of Tesseract. It blocks the thread while it reads. */
export class NativeTesseract {
  private readonly handle: bigint;
  private readonly monitor: bigint;
  private readonly isCancelled: JSCallback;
  private failure: unknown;

  /** `progress`: called about once per line; an error that it throws ends the reading. */
  constructor(
    private readonly native: ReturnType<typeof openTesseract>,
    progress: () => void,
  ) {
    this.handle = native.TessBaseAPICreate();
    this.monitor = native.TessMonitorCreate();
    this.isCancelled = new JSCallback(
      () => {
        try {
          progress();
          return 0;
        } catch (error) {
          this.failure = error;
          return 1;
        }
      },
      { args: ["ptr", "i32"], returns: "i32" },
    );
    native.TessMonitorSetCancelFunc(this.monitor, this.isCancelled.ptr);
    // Its output is only about fonts and resolutions.
    native.TessBaseAPISetVariable(this.handle, text("debug_file"), text("/dev/null"));
  }

  /** Loads NAME.traineddata of these languages from a folder; returns whether that was possible. */
  load(folder: string, languages: readonly string[], { dictionaries }: { readonly dictionaries: boolean }): boolean {
    const count = dictionaries ? 0 : DICTIONARIES.texts.length;
    const [data, all] = [text(folder), text(languages.join("+"))];
    const [names, values] = [DICTIONARIES.addresses, OFF.addresses];
    const { handle, native } = this;
    return native.TessBaseAPIInit4(handle, data, all, LSTM_ONLY, null, 0, names, values, count, 0) === 0;
  }

  /** Sets the picture, which is copied, and its resolution. */
  setPicture({ data, width, height }: Picture, dotsPerInch: number): void {
    this.native.TessBaseAPISetImage(this.handle, data, width, height, GREY_BYTES, width);
    this.native.TessBaseAPISetSourceResolution(this.handle, dotsPerInch);
  }

  /**
   * Limits `recognize` to a part of the picture; words keep their positions in the picture. A part without pixels would
   * end the process.
   */
  setRectangle(left: number, top: number, width: number, height: number): void {
    this.native.TessBaseAPISetRectangle(this.handle, left, top, Math.max(1, width), Math.max(1, height));
  }

  /** Returns whether the picture was read. `layout`: a page segmentation mode. Throws what `progress` threw. */
  recognize(layout: number): boolean {
    this.failure = undefined;
    this.native.TessBaseAPISetPageSegMode(this.handle, layout);
    const status = this.native.TessBaseAPIRecognize(this.handle, this.monitor);
    if (this.failure !== undefined) throw this.failure;
    return status === 0;
  }

  /**
   * Returns what was recognised as tab-separated values: a row for each page, block, paragraph, line and word. Undefined
   * when nothing was.
   */
  tsv(): string | undefined {
    const address = this.native.TessBaseAPIGetTsvText(this.handle, 0);
    if (!address) return undefined;
    const rows = new CString(address).toString();
    this.native.TessDeleteText(address);
    return rows;
  }

  /** Frees the picture and what was recognised. */
  clear(): void {
    this.native.TessBaseAPIClear(this.handle);
  }

  /** Frees everything; nothing may be called afterwards. */
  close(): void {
    this.native.TessBaseAPIDelete(this.handle);
    this.native.TessBaseAPIClearPersistentCache(this.handle);
    this.native.TessMonitorDelete(this.monitor);
    this.isCancelled.close();
  }
}

const text = (value: string): Uint8Array => Buffer.from(`${value}\0`);

/** Returns a `char**`, and the texts, which must live as long. */
function strings(values: readonly string[]) {
  const texts = values.map(text);
  return { texts, addresses: BigUint64Array.from(texts, (one) => BigInt(ptr(one))) };
}

/** Dictionaries have an effect only if they are loaded. */
const DICTIONARIES = strings(["load_system_dawg", "load_freq_dawg"]);
const OFF = strings(["0", "0"]);
