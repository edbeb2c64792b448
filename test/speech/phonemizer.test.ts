// The voice's reader: as the original reads, and safe for any text. Needs the data that the build makes with pip.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { builtPhonemizer } from "./built-voice.ts";

const reader = builtPhonemizer();
if (reader === undefined)
  console.log("the reader of texts is not tested: the build left out the voice (see its output)");

const phonemes = (text: string): string => reader?.phonemes(text) ?? "";

test.skipIf(!reader)("150 demanding lines are read as the original reads them", async () => {
  const golden: [string, string][] = await Bun.file(join(import.meta.dir, "../fixtures/speech/phonemes.json")).json();
  expect(golden).toHaveLength(150);
  expect(golden.map(([line]) => [line, phonemes(line)])).toEqual(golden);
});

test.skipIf(!reader)("what a word is and what follows it decide how it sounds", () => {
  expect(phonemes("I read it.")).not.toBe(phonemes("I have read it."));
  expect(phonemes("the end, the start")).toBe("ði ˈɛnd, ðə stˈɑɹt");
  expect(phonemes("I used to run.")).toContain("jˈust tə");
  expect(phonemes("I used two runs.")).toContain("jˈuzd");
});

test.skipIf(!reader)("names behind which no numeral stands keep their letters", () => {
  expect(phonemes("King Charles")).toBe("kˈɪŋ ʧˈɑɹlz");
  expect(phonemes("Louis XIV")).toBe(phonemes("Louis the fourteenth"));
});

test.skipIf(!reader)("one digit after the point of an amount counts tens of cents", () => {
  expect(phonemes("It costs $3.5.")).toBe(phonemes("It costs $3.50."));
  expect(phonemes("£0.5")).toBe(phonemes("£0.50"));
  expect(phonemes("$3.05")).not.toBe(phonemes("$3.5"));
});

test.skipIf(!reader)("a link is read without its target, a picture as its description", () => {
  const plain = phonemes("see the docs here");
  expect(phonemes("see [the docs](https://example.com/a_(b)?c) here")).toBe(plain);
  expect(phonemes("see [![the docs](a.png)](https://example.com) here")).toBe(plain);
  expect(phonemes("see [the docs](/fɔ/) here")).toBe(plain);
});

test.skipIf(!reader)("markup and commands are read as text, characters without sound are passed over", () => {
  expect(phonemes('<break time="3s"/>')).toContain("bɹˈAk");
  expect(phonemes("$(reboot) `ls`")).toContain("ɹˈibˌut");
  expect(phonemes("no\u{1f600}\u{1f469}\u200d\u{1f467} \u{fe0f}way")).toBe(phonemes("no way"));
  expect(["", " \n", "\0\x07\x1b", "\ud800\udc00\ud800", "\u{1f600}"].map(phonemes)).toEqual(["", "", "", "", ""]);
});

test.skipIf(!reader)("the acoustic model gets phonemes by their numbers", () => {
  expect(phonemes("😀")).toBe("");
  expect(reader?.ids("həlˈO 漢.")).toEqual([0, 50, 83, 54, 156, 31, 16, 4, 0]);
});
