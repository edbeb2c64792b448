// The TypeScript SDK: transcription and speech.

import { createReadStream, readFileSync } from "node:fs";
import { check, equal, ok, same, untilIdle } from "./checks.ts";
import { failure, type Sdk } from "./sdk.ts";
import {
  FORMATS,
  isFormat,
  JFK,
  JFK_WORDS,
  LONG_TEXT,
  longRecording,
  saidIn,
  SENTENCE,
  SENTENCE_WORDS,
  silence,
} from "./sounds.ts";

const model = "whisper-1";

/** Registers the checks. */
export async function audioChecks(sdk: Sdk): Promise<void> {
  await transcriptionChecks(sdk);
  await streamedTranscriptionChecks(sdk);
  await speechChecks(sdk);
}

async function transcriptionChecks({ OpenAI, client, toFile }: Sdk): Promise<void> {
  const { transcriptions, translations } = client.audio;
  const recording = () => createReadStream(JFK);

  await check("a recording from a file's stream is text", async () => {
    const { text } = await transcriptions.create({ model, file: recording() });
    ok(saidIn(text, JFK_WORDS), text);
  });

  await check("a recording from bytes, a File and a file of the runtime is the same text", async () => {
    const bytes = readFileSync(JFK);
    const files = [await toFile(bytes, "jfk.wav"), new File([bytes], "a", { type: "audio/wav" }), Bun.file(JFK)];
    const texts = await Promise.all(files.map(async (file) => (await transcriptions.create({ model, file })).text));
    equal(new Set(texts).size, 1);
    ok(saidIn(texts[0] ?? "", JFK_WORDS), texts[0] ?? "");
  });

  await check("verbose_json has times of words and segments", async () => {
    const { words, segments, text, language, duration } = await transcriptions.create({
      model,
      file: recording(),
      response_format: "verbose_json",
      timestamp_granularities: ["word", "segment"],
    });
    equal(words?.map(({ word }) => word).join(" "), text);
    equal(segments?.map((segment) => segment.text.trim()).join(" "), text);
    ok(
      words?.every(({ start, end }, at) => start <= end && start >= (words[at - 1]?.start ?? 0)),
      "not in order",
    );
    equal(language, "english");
    equal(Math.round(Number(duration)), 11);
  });

  await check("text, srt and vtt are strings", async () => {
    const [text, srt, vtt] = await Promise.all(
      (["text", "srt", "vtt"] as const).map((response_format) =>
        transcriptions.create({ model, file: recording(), response_format, language: "en", temperature: 0 }),
      ),
    );
    ok(saidIn(`${text}`, JFK_WORDS), `${text}`);
    ok(/^1\n00:00:00,\d{3} --> 00:00:\d\d,\d{3}\nAnd so/.test(`${srt}`), `${srt}`);
    ok(/^WEBVTT\n\n00:00:00\.\d{3} --> /.test(`${vtt}`), `${vtt}`);
  });

  await check("prompt, chunking strategy and null fields are taken", async () => {
    const { text } = await transcriptions.create({
      model,
      file: recording(),
      prompt: "Kennedy",
      chunking_strategy: { type: "server_vad", threshold: 0.4 },
      stream: false,
    });
    ok(saidIn(text, JFK_WORDS), text);
  });

  await check("translations are English text", async () => {
    const { text } = await translations.create({ model, file: recording() });
    ok(saidIn(text, JFK_WORDS), text);
    const verbose = await translations.create({ model, file: recording(), response_format: "verbose_json" });
    ok((verbose.segments?.length ?? 0) > 0, JSON.stringify(verbose));
  });

  await check("silence is UnprocessableEntityError no_speech", async () => {
    const file = await toFile(silence(), "silence.wav");
    const error = await failure(() => transcriptions.create({ model, file }), OpenAI.APIError);
    ok(error instanceof OpenAI.UnprocessableEntityError, error.message);
    equal(error.code, "no_speech");
  });

  await check("what is not sound is BadRequestError about file", async () => {
    const file = await toFile(Buffer.from("Good morning."), "a.mp3");
    const error = await failure(() => transcriptions.create({ model, file }), OpenAI.APIError);
    ok(error instanceof OpenAI.BadRequestError, error.message);
    equal(error.param, "file");
  });

  await check("aborting a transcription ends its work on the server", async () => {
    const abort = new AbortController();
    const file = await toFile(longRecording(), "long.wav");
    const call = transcriptions.create({ model, file }, { signal: abort.signal });
    setTimeout(() => abort.abort(), 1500);
    const error = await failure(() => call, OpenAI.APIError);
    ok(error instanceof OpenAI.APIUserAbortError, error.message);
    await untilIdle("SVC_URL");
  });
}

async function streamedTranscriptionChecks({ client, toFile }: Sdk): Promise<void> {
  const { transcriptions } = client.audio;

  await check("a streamed transcription: deltas, then the whole text with usage", async () => {
    const stream = await transcriptions.create({ model, file: createReadStream(JFK), stream: true });
    const events = await Array.fromAsync(stream);
    const deltas = events.flatMap((event) => (event.type === "transcript.text.delta" ? [event.delta] : []));
    const last = events.at(-1);
    ok(last?.type === "transcript.text.done", JSON.stringify(last));
    equal(deltas.join(""), last.text);
    ok(saidIn(last.text, JFK_WORDS), last.text);
    ok((last.usage?.output_tokens ?? 0) > 0, JSON.stringify(last));
  });

  await check("leaving a streamed transcription ends its work on the server", async () => {
    const file = await toFile(longRecording(), "long.wav");
    for await (const event of await transcriptions.create({ model, file, stream: true })) {
      equal(event.type, "transcript.text.delta");
      break;
    }
    await untilIdle("SVC_URL");
  });
}

async function speechChecks({ OpenAI, client, toFile }: Sdk): Promise<void> {
  const { speech, transcriptions } = client.audio;
  const tts = { model: "tts-1", voice: "alloy" as const, input: SENTENCE };
  const bytesOf = async (extra: object = {}) =>
    new Uint8Array(await (await speech.create({ ...tts, ...extra })).arrayBuffer());

  await check("speech is MP3, and heard as it was said", async () => {
    const file = await bytesOf();
    ok(isFormat(file, "mp3"), "not an MP3 file");
    const { text } = await transcriptions.create({ model, file: await toFile(file, "a.mp3") });
    ok(saidIn(text, SENTENCE_WORDS), text);
  });

  await check("speech in every other format", async () => {
    for (const format of Object.keys(FORMATS) as (keyof typeof FORMATS)[]) {
      ok(isFormat(await bytesOf({ response_format: format }), format), `not ${format}`);
    }
    const pcm = await bytesOf({ response_format: "pcm" });
    ok(pcm.length % 2 === 0 && pcm.length > 24_000 * 2, `${pcm.length} bytes`);
  });

  await check("speed makes speech shorter and longer", async () => {
    const lengths = [];
    for (const speed of [4, 1, 0.5]) lengths.push((await bytesOf({ response_format: "pcm", speed })).length);
    same(
      lengths,
      lengths.toSorted((a, b) => a - b),
    );
    equal(new Set(lengths).size, 3);
  });

  await check("speech comes piece by piece", async () => {
    const { body } = await speech.create({ ...tts, input: `${SENTENCE} `.repeat(3), response_format: "pcm" });
    let pieces = 0;
    for await (const _ of body as AsyncIterable<Uint8Array>) pieces++;
    ok(pieces > 1, "one piece");
  });

  await check("speech as events", async () => {
    const answer = await speech.create({ ...tts, response_format: "pcm", stream_format: "sse" });
    const events = (await answer.text())
      .split("\n")
      .flatMap((line) => (line.startsWith("data: ") ? [JSON.parse(line.slice(6)) as Record<string, unknown>] : []));
    equal(events.at(-1)?.["type"], "speech.audio.done");
    const sound = events.slice(0, -1).map(({ audio }) => Buffer.from(`${audio}`, "base64"));
    ok(Buffer.concat(sound).equals(await bytesOf({ response_format: "pcm" })), "not the same sound");
  });

  await check("the voices are those that speak", async () => {
    const { voices } = await client.get<unknown, { voices: { id: string }[] }>("/audio/voices");
    ok(voices.length > 0, "no voices");
    for (const { id } of voices) ok(isFormat(await bytesOf({ voice: id }), "mp3"), id);
  });

  await check("an unknown voice is NotFoundError, too long a text BadRequestError", async () => {
    const unknown = await failure(() => bytesOf({ voice: "nobody" }), OpenAI.APIError);
    ok(unknown instanceof OpenAI.NotFoundError, unknown.message);
    equal(unknown.param, "voice");
    const long = await failure(() => bytesOf({ input: "a".repeat(32_769) }), OpenAI.APIError);
    ok(long instanceof OpenAI.BadRequestError, long.message);
    equal(long.param, "input");
  });

  await check("leaving speech ends its work on the server", async () => {
    const abort = new AbortController();
    const { body } = await speech.create({ ...tts, input: LONG_TEXT }, { signal: abort.signal });
    for await (const _ of body as AsyncIterable<Uint8Array>) break;
    abort.abort();
    await untilIdle("SVC_URL");
  });
}
