// Kokoro's side of the speech engine: the inputs that its model gets for a text. A small model stands in, whose
// output reveals its inputs.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SpeechWork } from "../../../src/domain/speech.ts";
import { Kokoro } from "../../../src/engine/speech/child/kokoro.ts";
import { fakeProgram, NOTES, type FakeProgram } from "../../support/fake-program.ts";
import { sharedFolder } from "../../support/folders.ts";
import { kokoroBytes, voiceBytes } from "../../support/kokoro-bytes.ts";
import { rejectionMessage } from "../../support/thrown.ts";
import { until } from "../../support/until.ts";

setDefaultTimeout(60_000);

const words = join(import.meta.dir, "../../../vendor/.build/speech/current");
const isBuilt = existsSync(words);
if (!isBuilt) console.log("Kokoro is not tested: the build left out the dictionaries (see its output)");

const folder = sharedFolder();

describe.skipIf(!isBuilt)("kokoro", () => {
  let reader: FakeProgram;
  let kokoro: Kokoro;
  const file = (name: string) => join(folder, name);
  const files = () => ({ model: file("model.onnx"), voices: file("voices"), words });
  const work = (voice: string, speed = 1): SpeechWork => ({ text: "", voice, speed, format: "pcm" });

  beforeAll(async () => {
    mkdirSync(file("voices"));
    for (const name of ["af_heart", "bf_emma", "ff_siwis"]) writeFileSync(file(`voices/${name}.bin`), voiceBytes());
    writeFileSync(file("voices/am_short.bin"), voiceBytes().subarray(4));
    writeFileSync(file("model.onnx"), kokoroBytes());
    writeFileSync(file("other.onnx"), kokoroBytes("input_ids"));
    writeFileSync(file("wrong.onnx"), kokoroBytes("pixels"));
    reader = fakeProgram("espeak-ng", `${NOTES}\ncat arguments input >> all\nprintf ' t^ʃˈe^ə(en)\\n fˈa^ɪ\\n'`);
    kokoro = await Kokoro.load({ ...files(), reader: { name: "espeak-ng", path: reader.path, env: {} } });
  });
  afterAll(() => reader.remove());

  test("a US voice gets svc's phonemes, the style for their number, and the speed", async () => {
    const [piece = ""] = await kokoro.pieces("Hello.", work("af_heart"));
    expect(piece).toBe("həlˈO.");
    const { samples, phonemes } = await kokoro.speak(piece, work("af_heart", 2));
    expect([samples.length, phonemes]).toEqual([800, 8]);
    expect(samples[0]).toBeCloseTo(0.006 + 0.02, 5);
  });

  test("speeds that the model does not support are derived from the nearest one", async () => {
    for (const [speed, samples] of [
      [0.25, 1600],
      [4, 400],
    ] as const) {
      expect((await kokoro.speak("həlˈO.", work("af_heart", speed))).samples).toHaveLength(samples);
    }
  });

  test("the first portions are short, and shorter at lower speeds", async () => {
    const long = "The quick brown fox jumps over the lazy dog near the river bank, ".repeat(5);
    for (const [speed, most] of [
      [1, 100],
      [0.5, 50],
      [4, 100],
    ] as const) {
      const pieces = await kokoro.pieces(long, work("af_heart", speed));
      expect(pieces.every(({ length }) => length > 0 && length <= most)).toBe(true);
    }
    expect(await kokoro.pieces("👋", work("af_heart"))).toEqual([]);
  });

  test("other languages are phonemized by the host's program, clause by clause", async () => {
    expect(await kokoro.pieces("-v [[x]]; $(id)! 👋", work("bf_emma"))).toEqual(["ʧˈɛː fˈI; ʧˈɛː fˈI!"]);
    expect(await kokoro.pieces("Ça va", work("ff_siwis"))).toEqual(["ʧˈeə fˈI"]);
    const given = ["-q", "--ipa", "--tie=^", "-b", "1", "-v"];
    const run = (language: string, text: string) => [...given, language, "--stdin", text].join("\n");
    expect(reader.read("all")).toBe(run("en-gb", "-v [ [x] ]") + run("en-gb", "$(id)") + run("fr-fr", "Ça va"));
  });

  test("a sentence that is not wanted any more stops the host's program, and starts it for no further clause", async () => {
    const slow = fakeProgram("espeak-ng", "echo started >> all\nexec sleep 60");
    const patient = await Kokoro.load({ ...files(), reader: { name: "espeak-ng", path: slow.path, env: {} } });
    const abort = new AbortController();
    const pieces = rejectionMessage(patient.pieces("One, two, three.", work("bf_emma"), abort.signal));
    await until(() => existsSync(join(slow.folder, "all")) && slow.read("all") !== "");
    abort.abort(new Error("nobody listens"));
    expect(await pieces).toBe("nobody listens");
    expect(slow.read("all")).toBe("started\n");
    slow.remove();
  });

  test("a voice fails when it needs a missing program, and so does an unknown voice", async () => {
    const mute = await Kokoro.load(files());
    expect(await rejectionMessage(mute.pieces("Hello.", work("bf_emma")))).toContain("nobody reads");
    expect(await rejectionMessage(mute.speak("a", work("am_short")))).toContain("is not a voice of Kokoro");
    expect(await rejectionMessage(Kokoro.load({ ...files(), model: file("wrong.onnx") }))).toContain(
      "inputs are pixels",
    );
    expect(await rejectionMessage(Kokoro.load({ ...files(), model: file("voices/af_heart.bin") }))).not.toBe(
      "no failure",
    );
  });

  test("a damaged net for unknown words is named while the voice loads, whatever it will say", async () => {
    const net = "unknown-words.onnx";
    mkdirSync(file("words"));
    for (const name of readdirSync(words)) if (name !== net) symlinkSync(join(words, name), file(`words/${name}`));
    writeFileSync(file(`words/${net}`), readFileSync(join(words, net)).subarray(0, 100_000));
    expect(await rejectionMessage(Kokoro.load({ ...files(), words: file("words") }))).toStartWith(
      `${net} cannot be used: `,
    );
  });

  test("the input names of another export are recognized", async () => {
    const other = await Kokoro.load({ ...files(), model: file("other.onnx") });
    expect((await other.speak("həlˈO.", work("af_heart"))).samples).toHaveLength(800);
  });
});
