// The descriptions of embedded models before they are unpacked must match their files.

import { expect, test } from "bun:test";
import { nativeFiles } from "../../ffi/runtime/native-files.ts";
import { ALL_MINILM, WHISPER_BASE } from "../../src/cli/engines.ts";
import { readEmbeddingFile } from "../../src/model/model-file.ts";
import { readWhisperFile } from "../../src/model/whisper-file.ts";
import { isBuilt } from "../native/whisper-harness.ts";

const { embeddedEmbeddings = "", embeddedTranscription = "" } = isBuilt ? nativeFiles("") : {};

test.skipIf(embeddedEmbeddings === "")("the embedding model is described as in its file", () => {
  const { modified: _, ...known } = ALL_MINILM;
  expect(readEmbeddingFile(embeddedEmbeddings, false)).toMatchObject(known);
});

test.skipIf(embeddedTranscription === "")("the transcription model is described as in its file", () => {
  const { modified: _, ...known } = WHISPER_BASE;
  expect(readWhisperFile(embeddedTranscription)).toMatchObject(known);
});
