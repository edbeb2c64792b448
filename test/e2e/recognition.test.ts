// The compiled binary reads pictures and documents with what is embedded.

import { expect, setDefaultTimeout, test } from "bun:test";
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RecognitionTask } from "../../src/domain/recognition.ts";
import { RecognitionEngine } from "../../src/engine/recognition/recognition-engine.ts";
import { withSandbox } from "../support/binary.ts";
import { runToEnd } from "../support/program.ts";
import { compiledLaunch } from "../support/launch.ts";
import { drawn, pdfOf, pngOf } from "../support/pages.ts";

setDefaultTimeout(120_000);
const fixtures = join(import.meta.dir, "../fixtures/pictures");

test("svc ocr reads a picture with the embedded English data, and a document", () =>
  withSandbox(async ({ root, command }) => {
    const [picture, document] = [join(root, "a.png"), join(root, "b.pdf")];
    writeFileSync(picture, await pngOf(await drawn({ lines: ["From a picture"], paper: [300, 150] })));
    writeFileSync(document, pdfOf([{ lines: ["From a document"] }]));
    const { code, out, err } = await runToEnd([...command(), "ocr", picture, document]);
    // There would be a warning if the native library could not be loaded.
    expect(err).not.toContain("WebAssembly");
    expect([code, out]).toEqual([0, `${picture}:\nFrom a picture\n\n${document}:\nFrom a document\n\n`]);
  }));

test("decoders for picture formats and barcodes are embedded", () =>
  withSandbox(async ({ root }) => {
    const engine = new RecognitionEngine({
      engine: {},
      model: { id: "tesseract", created: 0 },
      launch: compiledLaunch(),
      idleMs: 0,
    });
    try {
      const task: RecognitionTask = { barcodes: true };
      for (const name of ["plain.heic", "jpeg.tiff", "lzw.tiff", "turned.jpg"]) {
        const path = join(root, name);
        copyFileSync(join(fixtures, name), path);
        const work = { path, field: "file", task, maxPages: 1 };
        const events = await Array.fromAsync(engine.run({ work }, new AbortController().signal));
        const sizes = events.flatMap((event) => (event.type === "page" ? [event.page.width * event.page.height] : []));
        expect([name, sizes]).toEqual([name, [64 * 32]]);
      }
    } finally {
      await engine.stop();
    }
  }));
