// How programs on the host are asked for voices and sound, with scripts in their place.

import { afterEach, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { espeakVoices } from "../../../../src/engine/speech/host/espeak.ts";
import { languageTag, type HostProgram } from "../../../../src/engine/speech/host/host-program.ts";
import { sayVoices } from "../../../../src/engine/speech/host/macos-say.ts";
import { plainText } from "../../../../src/engine/speech/host/plain-text.ts";
import { PROGRAMS } from "../../../../src/engine/speech/host/programs.ts";
import { sapiVoices } from "../../../../src/engine/speech/host/sapi.ts";
import { fakeProgram, NOTES, tone, type FakeProgram } from "../../../support/fake-program.ts";

const programs: FakeProgram[] = [];
afterEach(() => {
  for (const program of programs.splice(0)) program.remove();
});

const env = { HOME: "/home/somebody" };
const live = () => new AbortController().signal;

/** Installs a script under this name and returns it with the program that uses it. */
function install(name: string, script: string): { readonly fake: FakeProgram; readonly program: HostProgram } {
  const fake = fakeProgram(name, script);
  programs.push(fake);
  writeFileSync(join(fake.folder, "sound"), tone(22_050, 0.5));
  return { fake, program: { name, path: fake.path, env } };
}

/** Returns the sound of a program, and the input that the program got. */
async function say(program: HostProgram, fake: FakeProgram, voice: string, speed = 1, text = "- Hello; $(id)") {
  const sound = await PROGRAMS[program.name]!.say(program, { voice, text, speed }, live());
  return { sound, given: fake.read("arguments").trim().split("\n"), input: fake.read("input") };
}

describe("espeak-ng", () => {
  const listing = `Pty Language       Age/Gender VoiceName          File                 Other Languages
 5  af              --/M      Afrikaans          gmw/af
 5  chr-US-Qaaa-x-west --/M      Cherokee_          iro/chr
 2  en-gb           --/M      English_(Great_Britain) gmw/en               (en 2)
 5  en-gb-x-rp      --/-      English_(Received_Pronunciation) gmw/en-GB-x-rp       (en-gb 4)(en 5)
 5  de              23/F      German             gmw/de
 7  de              --/M      german-mbrola-1    mb/mb-de1
 9  de              --/M      german-again       other/de
`;

  test("its voices are those of the listing, by priority, without voices of other programs or that it cannot find again", () => {
    expect(espeakVoices(listing, "espeak-ng")).toEqual([
      { id: "espeak-ng:en-gb", name: "English (Great Britain)", locale: "en-GB", gender: "male", quality: "compact" },
      { id: "espeak-ng:af", name: "Afrikaans", locale: "af", gender: "male", quality: "compact" },
      {
        id: "espeak-ng:en-gb-x-rp",
        name: "English (Received Pronunciation)",
        locale: "en-GB-x-rp",
        gender: "unspecified",
        quality: "compact",
      },
      { id: "espeak-ng:de", name: "German", locale: "de", gender: "female", quality: "compact" },
    ]);
    expect(espeakVoices("segmentation fault\n\n5 de\n", "espeak-ng")).toEqual([]);
  });

  test("text is passed by standard input, with the environment that was found", async () => {
    const { fake, program } = install("espeak-ng", `${NOTES}\ncat sound`);
    const { sound, given, input } = await say(program, fake, "de", 2);
    expect(given).toEqual(["-v", "de", "-s", "350", "-b", "1", "--stdin", "--stdout"]);
    expect(input).toBe("- Hello; $(id)");
    expect([sound.sampleRate, sound.samples.length]).toEqual([22_050, 11_025]);
    expect(fake.read("environment")).toContain("HOME=/home/somebody");
    expect(fake.read("environment")).not.toContain("PATH=/");
  });
});

describe("piper", () => {
  const describe_ = (audio: object, more: object = {}) =>
    JSON.stringify({ audio, language: { code: "de_DE" }, ...more });

  function withVoices(script: string) {
    const { fake, program } = install("piper", script);
    const voicesDir = join(fake.folder, "voices");
    mkdirSync(voicesDir);
    const files: Record<string, string> = {
      "de_DE-anna-medium.onnx.json": describe_({ sample_rate: 16_000, quality: "medium" }, { dataset: "anna" }),
      "de_DE-two-high.onnx.json": describe_(
        { sample_rate: 22_050, quality: "high" },
        { dataset: "two", speaker_id_map: { ann: 0, ben: 7, "c:d": 8, odd: "--debug" } },
      ),
      "old.onnx.json": JSON.stringify({ audio: { sample_rate: 22_050 }, espeak: { voice: "en-us" } }),
      "bad.onnx.json": "{",
      "fast.onnx.json": describe_({ sample_rate: 1e9 }),
    };
    for (const [name, text] of Object.entries(files)) {
      writeFileSync(join(voicesDir, name), text);
      writeFileSync(join(voicesDir, name.slice(0, -5)), "");
    }
    writeFileSync(join(voicesDir, "alone.onnx"), "");
    return { fake, program: { ...program, voicesDir } };
  }

  test("its voices are the described files of the folder, one for each speaker", async () => {
    const { program } = withVoices("");
    const common = { locale: "de-DE", gender: "unspecified" } as const;
    expect(await PROGRAMS["piper"]!.voices(program)).toEqual([
      { id: "piper:de_DE-anna-medium", name: "anna", quality: "enhanced", ...common },
      { id: "piper:de_DE-two-high:ann", name: "two ann", quality: "premium", ...common },
      { id: "piper:de_DE-two-high:ben", name: "two ben", quality: "premium", ...common },
      { id: "piper:de_DE-two-high:c:d", name: "two c:d", quality: "premium", ...common },
      { id: "piper:old", name: "old", locale: "en-US", gender: "unspecified", quality: "compact" },
    ]);
  });

  test("its output is raw sound at the sample rate of the voice", async () => {
    const { fake, program } = withVoices(`${NOTES}\ntail -c +45 sound`);
    const { sound, given, input } = await say(program, fake, "de_DE-two-high:ben", 0.5);
    const file = join(program.voicesDir, "de_DE-two-high.onnx");
    expect(given).toEqual(["--model", file, "--output_raw", "--length_scale", "2.000", "--speaker", "7"]);
    expect(input).toBe("- Hello; $(id)\n");
    expect([sound.sampleRate, sound.samples.length]).toEqual([22_050, 11_025]);
    expect((await say(program, fake, "de_DE-two-high:c:d")).given.slice(-2)).toEqual(["--speaker", "8"]);
  });

  test("a missing folder is an error", async () => {
    const { program } = withVoices("");
    expect(await PROGRAMS["piper"]!.voices({ ...program, voicesDir: "/nowhere" }).catch(() => "failed")).toBe("failed");
  });
});

describe("say of macOS", () => {
  const listing = `Alex                en_US    # Most people recognize me by my voice.
Anna (Premium)      de_DE    # Hallo! Ich heiße Anna.
Eddy (German (Germany)) de_DE    # Hallo! Ich heiße Eddy.
Zoe (Enhanced)      en-US    # Hello! My name is Zoe.
Majed               ar_001   # مرحبًا
`;

  test("its voices are those of the listing, whatever their names", () => {
    expect(sayVoices(listing, "say").map(({ id, locale, quality }) => [id, locale, quality])).toEqual([
      ["say:Alex", "en-US", "compact"],
      ["say:Anna (Premium)", "de-DE", "premium"],
      ["say:Eddy (German (Germany))", "de-DE", "compact"],
      ["say:Zoe (Enhanced)", "en-US", "enhanced"],
      ["say:Majed", "ar-001", "compact"],
    ]);
    expect(sayVoices("", "say")).toEqual([]);
  });

  test("it writes a file, which is read and removed", async () => {
    const { fake, program } = install("say", `${NOTES}\ncp sound "$6"`);
    const { sound, given, input } = await say(program, fake, "Eddy (German (Germany))");
    const file = given[5] ?? "";
    expect(given.slice(0, 6)).toEqual(["-v", "Eddy (German (Germany))", "-f", "-", "-o", file]);
    expect(given.slice(6)).toEqual(["--file-format=WAVE", "--data-format=LEI16@24000"]);
    expect(input).toBe("- Hello; $(id)");
    expect(sound.samples).toHaveLength(11_025);
    expect(await Bun.file(file).exists()).toBe(false);
  });

  test("a run that writes nothing has failed", async () => {
    const { fake, program } = install("say", NOTES);
    expect(await say(program, fake, "Alex").catch(({ name }: Error) => name)).toBe("ProgramError");
  });
});

describe("Windows", () => {
  const scriptOf = (given: readonly string[]) => Buffer.from(given.at(-1) ?? "", "base64").toString("utf16le");

  test("its voices are those that System.Speech lists", async () => {
    const listing = `[{"name":"Microsoft Hedda Desktop","locale":"de-DE","gender":"Female"},{"name":"X","locale":"en-US","gender":"NotSet"}]`;
    const { fake, program } = install("sapi", `printf '%s\\n' "$@" > arguments\nprintf '%s' '${listing}'`);
    expect(await PROGRAMS["sapi"]!.voices(program)).toEqual([
      {
        id: "sapi:Microsoft Hedda Desktop",
        name: "Microsoft Hedda Desktop",
        locale: "de-DE",
        gender: "female",
        quality: "compact",
      },
      { id: "sapi:X", name: "X", locale: "en-US", gender: "unspecified", quality: "compact" },
    ]);
    const given = fake.read("arguments").trim().split("\n");
    expect(given.slice(0, 4)).toEqual(["-NoLogo", "-NoProfile", "-NonInteractive", "-EncodedCommand"]);
    expect(scriptOf(given)).toContain("GetInstalledVoices()");
    expect(() => sapiVoices("Access denied", "sapi")).toThrow();
  });

  test("the script is constant: voice and text are passed by standard input", async () => {
    const { fake, program } = install("sapi", `${NOTES}\ntail -c +45 sound`);
    const first = await say(program, fake, "Microsoft Hedda Desktop", 1, "'); Remove-Item *; ('");
    expect(first.input).toBe("Microsoft Hedda Desktop\n'); Remove-Item *; ('");
    expect([first.sound.sampleRate, first.sound.samples.length]).toEqual([24_000, 11_025]);
    expect((await say(program, fake, "O'Hara")).given).toEqual(first.given);
  });
});

test.each([
  ["one\r\ntwo\0\x01\u2028three", "one two three"],
  ["[[h@l@U]] and [[[slnc 5000]]]", "[ [h@l@U] ] and [ [ [slnc 5000] ] ]"],
  ["<speak><break time='9s'/></speak>", "<speak><break time='9s'/></speak>"],
  ["a\ud800b", "a\ufffdb"],
  ["\x01\n", ""],
])("%p is passed to a program as the text %p", (given, text) => expect(plainText(given)).toBe(text));

test.each([
  ["en_us", "en-US"],
  ["EN-gb-x-RP", "en-GB-x-rp"],
  ["zh_hant_tw", "zh-Hant-TW"],
  ["es-419", "es-419"],
  ["de", "de"],
])("%p is normalized to the language tag %p", (given, tag) => expect(languageTag(given)).toBe(tag));
