// The recognition engine's part in its own process: reads pages, one at a time.

import { ParentSocket } from "../../../../ffi/runtime/parent-socket.ts";
import type { EngineKind } from "../../process/kind.ts";
import { ABORT_FD } from "../../process/protocol.ts";
import type { PageEvent, PageJob, RecognizerOptions } from "../protocol.ts";
import { loadBarcodeReader } from "./barcodes.ts";
import { Documents } from "./documents.ts";
import { PageReader } from "./page-reader.ts";
import { Ppocr } from "./ppocr.ts";
import { Tesseract } from "./tesseract.ts";
import { Watch } from "./watch.ts";
import { RecognitionLoop } from "./loop.ts";

function computed(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Returns a function that loads something when it is first called, and again after it could not be loaded. */
function lazily<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined;
  return () =>
    (loaded ??= load().catch((error: unknown) => {
      loaded = undefined;
      throw error;
    }));
}

export const recognitionKind: EngineKind<RecognizerOptions, undefined, PageJob, PageEvent> = {
  async load({ tesseract: library, ppocr: files }, send) {
    const watch = new Watch(new ParentSocket(ABORT_FD), { now: () => performance.now(), computed });
    const warn = (text: string) => send({ type: "log", level: "warn", text });
    const tesseract = await Tesseract.load({ ...(library !== undefined && { library }), progress: watch.check, warn });
    const reader = new PageReader({
      documents: new Documents(),
      tesseract,
      ...(files && { ppocr: lazily(() => Ppocr.load(files, watch.check)) }),
      barcodes: lazily(loadBarcodeReader),
      check: watch.check,
    });
    const loop = new RecognitionLoop(reader, watch, send);
    return { ready: undefined, loop };
  },
};
