// The Vercel AI SDK and its OpenAI provider: transcription and speech.

import { createOpenAI } from "@ai-sdk/openai";
import { APICallError, experimental_generateSpeech as generateSpeech, experimental_transcribe as transcribe } from "ai";
import { readFileSync } from "node:fs";
import { check, equal, ok, same, untilIdle } from "./checks.ts";
import { failure } from "./sdk.ts";
import {
  FORMATS,
  isFormat,
  JFK,
  JFK_WORDS,
  longRecording,
  saidIn,
  SENTENCE,
  SENTENCE_WORDS,
  silence,
} from "./sounds.ts";

/** Registers the checks. */
export async function audioChecks(): Promise<void> {
  const openai = createOpenAI({ baseURL: `${process.env["SVC_URL"]}/v1`, apiKey: "unused" });
  const listen = { model: openai.transcription("whisper-1"), maxRetries: 0 };
  const say = { model: openai.speech("tts-1"), text: SENTENCE, maxRetries: 0 };

  await check("transcribe gives text, segments, language and duration", async () => {
    const result = await transcribe({ ...listen, audio: readFileSync(JFK) });
    ok(saidIn(result.text, JFK_WORDS), result.text);
    equal(result.segments.map(({ text }) => text.trim()).join(" "), result.text);
    equal(result.language, "en");
    equal(Math.round(result.durationInSeconds ?? 0), 11);
    same(result.warnings, []);
  });

  await check("transcribe with times of words", async () => {
    const providerOptions = { openai: { timestampGranularities: ["word"], language: "en", temperature: 0 } };
    const { text, segments } = await transcribe({ ...listen, audio: readFileSync(JFK), providerOptions });
    equal(segments.map((word) => word.text).join(" "), text);
  });

  await check("generateSpeech is heard as it was said, in every format", async () => {
    for (const outputFormat of Object.keys(FORMATS) as (keyof typeof FORMATS)[]) {
      const { audio } = await generateSpeech({ ...say, voice: "nova", outputFormat, speed: 1.2 });
      ok(isFormat(audio.uint8Array, outputFormat), `not ${outputFormat}`);
      const { text } = await transcribe({ ...listen, audio: audio.uint8Array });
      ok(saidIn(text, SENTENCE_WORDS), `${outputFormat}: ${text}`);
    }
  });

  await check("silence and an unknown voice are APICallErrors that are not retried", async () => {
    const unheard = await failure(() => transcribe({ ...listen, audio: silence(), maxRetries: 2 }), APICallError);
    equal(unheard.statusCode, 422);
    const unknown = await failure(() => generateSpeech({ ...say, voice: "nobody", maxRetries: 2 }), APICallError);
    equal(unknown.statusCode, 404);
    ok(!unheard.isRetryable && !unknown.isRetryable, "would be retried");
  });

  await check("aborting transcribe ends its work on the server", async () => {
    const abort = new AbortController();
    const call = transcribe({ ...listen, audio: longRecording(), abortSignal: abort.signal });
    setTimeout(() => abort.abort(), 1500);
    await failure(() => call, Error);
    await untilIdle("SVC_URL");
  });
}
