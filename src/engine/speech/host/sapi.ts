// The voices of Windows (SAPI), through PowerShell and .NET's System.Speech. The scripts contain nothing from a
// request: the voice's name and the text are read from standard input.

import { readSamples } from "../../../audio/decode/wav.ts";
import { SPEECH_RATE, type Voice } from "../../../domain/speech.ts";
import { programOutput } from "../../process/program.ts";
import { languageTag, LIST_LIMITS, SOUND_LIMITS, type ProgramKind } from "./host-program.ts";

const BEGIN = `$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
Add-Type -AssemblyName System.Speech
$voice = New-Object System.Speech.Synthesis.SpeechSynthesizer
$stdout = [Console]::OpenStandardOutput()`;

const LIST = `${BEGIN}
$found = @($voice.GetInstalledVoices() | Where-Object { $_.Enabled } | ForEach-Object { $_.VoiceInfo } | ForEach-Object {
  @{ name = $_.Name; locale = $_.Culture.Name; gender = $_.Gender.ToString() } })
$bytes = [Text.Encoding]::UTF8.GetBytes((ConvertTo-Json -Compress -InputObject $found))
$stdout.Write($bytes, 0, $bytes.Length)`;

const SAY = `${BEGIN}
$stdin = New-Object IO.StreamReader([Console]::OpenStandardInput(), (New-Object Text.UTF8Encoding $false))
$voice.SelectVoice($stdin.ReadLine())
$text = $stdin.ReadToEnd()
$format = New-Object System.Speech.AudioFormat.SpeechAudioFormatInfo(${SPEECH_RATE}, 'Sixteen', 'Mono')
$sound = New-Object IO.MemoryStream
$voice.SetOutputToAudioStream($sound, $format)
$voice.Speak($text)
$sound.WriteTo($stdout)`;

const GENDERS: Readonly<Record<string, Voice["gender"]>> = { Male: "male", Female: "female" };

export const sapi: ProgramKind = {
  file: "powershell",
  platform: "win32",
  slowest: 1,
  fastest: 1,

  async voices({ name, path, env }) {
    const list = await programOutput(powershell(path, LIST), { ...LIST_LIMITS, env });
    return sapiVoices(new TextDecoder().decode(list), name);
  },

  async say({ path, env }, { voice, text }, signal) {
    const input = `${voice}\n${text}`;
    const bytes = await programOutput(powershell(path, SAY), { ...SOUND_LIMITS, env, input }, signal);
    return { sampleRate: SPEECH_RATE, samples: readSamples(bytes) };
  },
};

/** Passes scripts as UTF-16 in base64, so that nothing needs quoting. */
const powershell = (path: string, script: string): string[] => {
  const encoded = Buffer.from(script, "utf16le").toString("base64");
  return [path, "-NoLogo", "-NoProfile", "-NonInteractive", "-EncodedCommand", encoded];
};

/** Parses a listing of voices, a JSON array of name, locale and gender. Throws when it is invalid. */
export function sapiVoices(listing: string, program: string): Voice[] {
  const found = JSON.parse(listing) as readonly { name: string; locale: string; gender: string }[];
  return found.map(({ name, locale, gender }) => ({
    id: `${program}:${name}`,
    name,
    locale: languageTag(locale),
    gender: GENDERS[gender] ?? "unspecified",
    quality: "compact",
  }));
}
