// Kokoro's voices, as derived from their files.

import { expect, test } from "bun:test";
import { kokoroVoices } from "../../../src/engine/speech/kokoro-voices.ts";
import { KOKORO } from "../../../src/store/models/kokoro.ts";

test("a file name gives language, gender and name, the best voices come first, and other files and unsupported languages are skipped", () => {
  const files = [
    "bf_emma.bin",
    "am_adam.bin",
    "zf_xiaobei.bin",
    "jf_alpha.bin",
    "__proto__.bin",
    "notes.txt",
    "af_heart.pt",
  ];
  expect(kokoroVoices(files, true)).toEqual([
    { id: "bf_emma", name: "Emma", locale: "en-GB", gender: "female", quality: "premium", isSlow: true },
    { id: "am_adam", name: "Adam", locale: "en-US", gender: "male", quality: "enhanced", isSlow: true },
  ]);
});

test("languages other than US English need a program", () => {
  const needs = kokoroVoices(["bf_emma.bin", "am_adam.bin"], false).map(({ id, needs }) => [id, needs]);
  expect(needs).toEqual([
    ["bf_emma", "espeak-ng"],
    ["am_adam", undefined],
  ]);
});

test("every voice that svc pull kokoro downloads is recognized", () => {
  const files = KOKORO.repos[0].files.flatMap(({ path }) =>
    path.startsWith("voices/") ? [path.slice("voices/".length)] : [],
  );
  expect(kokoroVoices(files, true)).toHaveLength(files.length);
  expect(files.length).toBeGreaterThan(40);
});
