// Which voice is chosen when several sources offer voices.

import { describe, expect, test } from "bun:test";
import { SvcError } from "../../src/domain/errors.ts";
import type { Voice } from "../../src/domain/speech.ts";
import {
  aliasesOf,
  chooseVoice,
  offer,
  ready,
  type OfferedVoice,
  type VoiceRequest,
} from "../../src/service/choose-voice.ts";
import { FakeSpeaker } from "../support/fake-speech-engine.ts";

/** Returns voices of one source, each written as `id locale gender`. */
function source(origin: "model" | "program", ...voices: string[]): OfferedVoice[] {
  const engine = new FakeSpeaker(origin, origin);
  const backend = { model: origin, engine, parallel: 1 };
  const listed = voices.map((line): Voice => {
    const [id = "", locale = "", gender = "unspecified"] = line.split(" ");
    return { id, name: id, locale, gender: gender as Voice["gender"], quality: "compact" };
  });
  return offer(backend, listed);
}

const heart = source("model", "heart en-US female");
const many = source(
  "model",
  "af_bella en-US female",
  "bf_nova en-GB female",
  "am_echo en-US male",
  "ff_s fr-FR female",
);
const program = source("program", "p:de de", "p:en-us en-US male", "p:cmn cmn male");
const other = source("program", "q:pt pt-BR female", "q:de de-DE female");

function chosen(offered: readonly OfferedVoice[], wish: VoiceRequest): string {
  try {
    return chooseVoice(offered, wish).voice.id;
  } catch (error) {
    return error instanceof SvcError ? `${error.code} ${error.details.param}` : "?";
  }
}

describe("a voice of a program on the host", () => {
  const all = [...heart, ...program, ...other];
  test.each<[VoiceRequest, string]>([
    [{}, "heart"],
    [{ locale: "en-GB" }, "heart"],
    [{ name: "onyx" }, "heart"],
    [{ name: "p:en-us" }, "p:en-us"],
    [{ locale: "de-AT" }, "p:de"],
    [{ name: "nova", locale: "DE_at" }, "p:de"],
    [{ locale: "pt-BR" }, "q:pt"],
    [{ locale: "zh-CN" }, "p:cmn"],
    [{ name: "q:de", locale: "de" }, "q:de"],
  ])("is chosen only by its id or for a language that no model speaks: %p is %s", (wish, id) => {
    expect(chosen(all, wish)).toBe(id);
  });

  test("is chosen when there is no model, preferably one for the default language", () => {
    expect(chosen([...program, ...other], {})).toBe("p:en-us");
    expect(chosen(other, {})).toBe("q:pt");
  });
});

describe("a voice name of OpenAI", () => {
  const all = [...heart, ...many];
  test.each<[VoiceRequest, string]>([
    [{ name: "nova" }, "bf_nova"],
    [{ name: "echo" }, "am_echo"],
    [{ name: "onyx" }, "am_echo"],
    [{ name: "alloy" }, "heart"],
    [{ name: "alloy", locale: "en-GB" }, "bf_nova"],
    [{ name: "onyx", locale: "fr" }, "ff_s"],
  ])("%p selects the voice of that name, otherwise a similar one: %s", (wish, id) => {
    expect(chosen(all, wish)).toBe(id);
  });

  test("is an alias of one voice only", () => {
    const aliases = [...aliasesOf(all)].map(([{ voice }, names]) => [voice.id, names.join(" ")]);
    expect(aliases).toEqual([
      ["heart", "alloy coral marin sage shimmer"],
      ["am_echo", "ash ballad cedar echo fable onyx verse"],
      ["bf_nova", "nova"],
    ]);
  });
});

describe("without a locale, a script that identifies the language", () => {
  const all = [...heart, ...source("program", "p:ru ru", "p:ja ja", "p:cmn cmn", "p:hi hi", "p:ko ko")];
  test.each<[VoiceRequest, string]>([
    [{ text: "Доброе утро, это Bun." }, "p:ru"],
    [{ text: "Доброе утро.", name: "nova" }, "p:ru"],
    [{ text: "東京は今日も晴れです。" }, "p:ja"],
    [{ text: "データー" }, "p:ja"],
    [{ text: "今天天气很好。" }, "p:cmn"],
    [{ text: "안녕하세요" }, "p:ko"],
    [{ text: "नमस्ते दुनिया" }, "p:hi"],
    [{ text: "I met 東京太郎 in Москва today." }, "heart"],
    [{ text: "Доброе утро.", name: "heart" }, "heart"],
    [{ text: "Доброе утро.", locale: "en" }, "heart"],
    [{ text: "Guten Morgen." }, "heart"],
    [{ text: "123" }, "heart"],
  ])("selects a voice for that language: %p is %s", (wish, id) => {
    expect(chosen(all, wish)).toBe(id);
  });

  test("is refused when no voice speaks the language, and the error lists the languages with a voice", () => {
    expect(() => chooseVoice(heart, { text: "שלום", name: "alloy" })).toThrow(
      "'input' must be in a language that a voice speaks: en-US; got a text in the script of he.",
    );
    expect(chosen(heart, { text: "สวัสดี" })).toBe("invalid_value input");
  });
});

test.each<[VoiceRequest, string]>([
  [{ name: "nobody" }, "not_found voice"],
  [{ name: "constructor" }, "not_found voice"],
  [{ name: "nobody", locale: "de" }, "not_found voice"],
  [{ name: "heart", locale: "de" }, "invalid_value locale"],
  [{ locale: "tlh" }, "invalid_value locale"],
  [{ locale: "*" }, "invalid_value locale"],
])("%p is refused: %s", (wish, refusal) => {
  expect(chosen([...heart, ...program], wish)).toBe(refusal);
});

test("a voice that needs a missing program is not chosen, and requests for it or its language name the program", () => {
  const [voice] = source("model", "ff_siwis fr-FR female");
  const french = { ...voice!, voice: { ...voice!.voice, needs: "espeak-ng" } };
  const all = [...heart, french];
  const refusal = (wish: VoiceRequest): string => {
    try {
      return chooseVoice(all, wish).voice.id;
    } catch (error) {
      return error instanceof SvcError ? `${error.code} ${error.details.param}: ${error.message}` : "?";
    }
  };
  expect(ready(all)).toEqual(heart);
  expect(refusal({ name: "ff_siwis" })).toBe(
    "invalid_value voice: 'voice' needs the program espeak-ng, which is not installed on the server's host.",
  );
  expect(refusal({ locale: "fr" })).toBe(
    "invalid_value locale: 'locale' must be a language that a voice speaks: en-US. With the program espeak-ng on the server's host there is one for this language.",
  );
  expect(chosen([...all, ...source("program", "p:fr fr")], { locale: "fr" })).toBe("p:fr");
});
