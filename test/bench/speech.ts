// `bun test/bench/speech.ts`: transcription compared with whisper.cpp's own programs with the same models, and
// synthesized speech transcribed again. Prints Markdown rows. Ends with 1 when too many words of a voice are wrong, or the
// first byte of its speech takes too large a share of the whole, whatever the machine. Needs `bun build.ts bench`.
//   --sentences N (50)   --threads N (2)
//   --voices af_bella,bf_emma   only these voices: word errors of their speech, and their speed

import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { dice } from "../support/dice.ts";
import { sentence, wordErrors, wordsOf } from "./sentences.ts";
import { median } from "./stats.ts";
import { firstText, hear, NOISE, noisy, RATE, say, wav } from "./spoken.ts";
import { whisperCli, withWhisperServer } from "./whisper-programs.ts";
import { enginesOf, processorTicks } from "../support/processes.ts";
import { withServer, type TestServer } from "../support/server.ts";

const ROOT = join(import.meta.dir, "../..");
const BUILD = join(ROOT, "vendor/.build");
const { values } = parseArgs({
  options: { sentences: { type: "string" }, threads: { type: "string" }, voices: { type: "string" } },
});
const KOKORO = join(BUILD, "kokoro/current");
const sentences = Number(values.sentences ?? 50);
const threads = Number(values.threads ?? 2);

async function timed<T>(work: () => Promise<T>): Promise<[T, number]> {
  const started = performance.now();
  return [await work(), (performance.now() - started) / 1000];
}

/** Largest share of wrong words when a voice is read back. */
const MOST_WRONG = 0.03;
/** Largest share of the time for ten sentences until their first byte, once the voice is loaded. */
const MOST_UNTIL_FIRST = 0.3;
const CLIPS = 20;
/** Seconds between the sentences of a recording, and its length at least. */
const [PAUSE, RECORDING] = [0.5, 300];

/** What must hold on any machine, and does not. */
const faults: string[] = [];

const row = (...cells: (string | number)[]) => console.log(`| ${cells.join(" | ")} |`);
const fixed = (value: number) => value.toFixed(2);

const folder = mkdtempSync(join(tmpdir(), "svc-speech-"));
const flags = ["--threads", String(threads), "--ctx", "1024", "--parallel", "2"];
if (existsSync(KOKORO)) flags.push("--kokoro", KOKORO);

/** Returns the share of wrong words. */
function wordErrorRate(said: readonly string[], heard: readonly string[]): number {
  const wrong = heard.reduce((sum, text, at) => sum + wordErrors(wordsOf(said[at] ?? ""), wordsOf(text)), 0);
  return wrong / said.flatMap(wordsOf).length;
}

const percent = (share: number) => `${(100 * share).toFixed(1)} %`;

function checkWords(voice: string, wrong: number): void {
  if (wrong > MOST_WRONG)
    faults.push(`${voice}: ${percent(wrong)} of the words are wrong, more than ${percent(MOST_WRONG)}`);
}

/** Speaks a text. Returns the seconds until the first byte and until the end. */
async function spoken({ url }: TestServer, input: string): Promise<{ first: number; whole: number }> {
  const body = JSON.stringify({ input, response_format: "mp3" });
  const headers = { "content-type": "application/json" };
  const started = performance.now();
  const seconds = () => (performance.now() - started) / 1000;
  const response = await fetch(`${url}/v1/audio/speech`, { method: "POST", headers, body });
  const reader = response.body?.getReader();
  await reader?.read();
  const first = seconds();
  while (!(await reader?.read())?.done);
  return { first, whole: seconds() };
}

/** Measures the first byte of ten sentences, first with an engine that is not loaded. */
async function firstBytes(server: TestServer): Promise<void> {
  const roll = dice(9);
  const input = Array.from({ length: 10 }, () => sentence(roll)).join(" ");
  const cold = await spoken(server, input);
  row("10 sentences, the voice not loaded: first byte, s", fixed(cold.first), "–", "–");
  const warm = [await spoken(server, input), await spoken(server, input), await spoken(server, input)];
  const share = median(warm.map(({ first, whole }) => first / whole));
  row("10 sentences: first byte, share of the whole", fixed(share), "–", "–");
  if (share > MOST_UNTIL_FIRST)
    faults.push(`the first byte took ${fixed(share)} of the whole, more than ${MOST_UNTIL_FIRST}`);
}

/** Joins sounds, with a pause after each. */
function joined(sounds: readonly Int16Array[]): Int16Array<ArrayBuffer> {
  const starts: number[] = [];
  let length = 0;
  for (const sound of sounds) {
    starts.push(length);
    length += sound.length + PAUSE * RATE;
  }
  const all = new Int16Array(length);
  for (const [at, sound] of sounds.entries()) all.set(sound, starts[at]);
  return all;
}

const secondsOf = (sounds: readonly Int16Array[]) => sounds.reduce((sum, { length }) => sum + length / RATE, 0);

/** Writes clips of one and of two sentences in turns. */
function writtenClips(sounds: readonly Int16Array[]): string[] {
  const clips = Array.from({ length: CLIPS }, (_, at) => {
    const first = at + Math.floor(at / 2);
    const [one, other] = [sounds[first % sounds.length], sounds[(first + 1) % sounds.length]];
    return joined([one, at % 2 === 1 ? other : undefined].filter((sound) => sound !== undefined));
  });
  const lengths = clips.map(({ length }) => length / RATE);
  row("clips, s", `${Math.min(...lengths).toFixed(1)} to ${Math.max(...lengths).toFixed(1)}`, "–", "–");
  return clips.map((clip, at) => {
    const file = join(folder, `clip-${at}.wav`);
    writeFileSync(file, wav(clip));
    return file;
  });
}

/** Measures a recording of minutes, whole and as a stream. */
async function minutes({ url }: TestServer, sounds: readonly Int16Array[]): Promise<void> {
  const parts: Int16Array[] = [];
  for (let at = 0; secondsOf(parts) + PAUSE * parts.length < RECORDING; at++) {
    parts.push(sounds[at % sounds.length] ?? new Int16Array());
  }
  const file = join(folder, "minutes.wav");
  writeFileSync(file, wav(joined(parts)));
  const [, ours] = await timed(() => hear(url, "/v1/audio/transcriptions", file));
  const [, theirs] = await timed(() => whisperCli([file], { threads }));
  const what = `a recording of ${RECORDING / 60} minutes`;
  row(`${what}, s`, fixed(ours), `${fixed(theirs)}, whisper-cli`, fixed(theirs / ours));
  const { first, whole } = await firstText(url, file);
  row(`${what}, streamed: first text, s`, `${fixed(first)} of ${fixed(whole)}`, "–", "–");
}

/** Returns the processor seconds of the engines that speak, since their start. */
const processorSeconds = ({ pid }: TestServer): number => processorTicks(enginesOf(pid, "speech")) / 100;

async function readBack(server: TestServer, voice: string, said: readonly string[]): Promise<void> {
  // Loads the model.
  await say(server, "Hello.", voice);
  const before = processorSeconds(server);
  const heard: string[] = [];
  let [length, spent] = [0, 0];
  for (const [at, text] of said.entries()) {
    const [sound, seconds] = await timed(() => say(server, text, voice));
    [length, spent] = [length + sound.length / RATE, spent + seconds];
    const file = join(folder, `${voice}-${at}.wav`);
    writeFileSync(file, wav(sound));
    heard.push(await hear(server.url, "/v1/audio/transcriptions", file));
  }
  const busy = processorSeconds(server) - before;
  const wrong = wordErrorRate(said, heard);
  checkWords(voice, wrong);
  row(voice, percent(wrong), fixed(spent / length), fixed(busy / length));
}
try {
  await withServer(flags, async (server) => {
    const roll = dice(7);
    const said = Array.from({ length: sentences }, () => sentence(roll));
    if (values.voices !== undefined) {
      row("voice", "word errors", "seconds for one of sound", "of the processor");
      row("---", "---", "---", "---");
      for (const voice of values.voices.split(",")) await readBack(server, voice, said);
      return;
    }
    row("what", "svc", "beside it", "ratio (over 1: svc better)");
    row("---", "---", "---", "---");

    await firstBytes(server);

    const [sounds, speaking] = await timed(async () => {
      const all: Int16Array[] = [];
      for (const text of said) all.push(await say(server, text));
      return all;
    });
    const seconds = secondsOf(sounds);
    row(`${sentences} sentences said, seconds of sound in a second`, fixed(seconds / speaking), "–", "–");

    for (const [name, level] of Object.entries(NOISE)) {
      const files = sounds.map((pcm, at) => {
        const file = join(folder, `${name}-${at}.wav`);
        writeFileSync(file, wav(noisy(pcm, level, roll)));
        return file;
      });
      await hear(server.url, "/v1/audio/transcriptions", files[0] ?? "");
      const [ours, ourTime] = await timed(async () => {
        const texts: string[] = [];
        for (const file of files) texts.push(await hear(server.url, "/v1/audio/transcriptions", file));
        return texts;
      });
      const [theirs, theirTime] = await timed(() => whisperCli(files, { threads }));
      const wrong = wordErrorRate(said, ours);
      if (level === 0) checkWords("the default voice", wrong);
      const equal = ours.filter((text, at) => text === theirs[at]).length;
      row(
        `${name}: word errors`,
        percent(wrong),
        `${percent(wordErrorRate(said, theirs))}, whisper-cli`,
        `${equal} of ${files.length} texts equal`,
      );
      row(
        `${name}: one after the other, s`,
        fixed(ourTime),
        `${fixed(theirTime)}, whisper-cli`,
        fixed(theirTime / ourTime),
      );
    }

    const clips = writtenClips(sounds);
    // Loads the model again if it has been idle for too long.
    await hear(server.url, "/v1/audio/transcriptions", clips[0] ?? "");
    await minutes(server, sounds);

    const [, oneByOne] = await timed(async () => {
      for (const file of clips) await hear(server.url, "/v1/audio/transcriptions", file);
    });
    const [, byCli] = await timed(() => whisperCli(clips, { threads }));
    row(
      `${CLIPS} clips, one after the other, s`,
      fixed(oneByOne),
      `${fixed(byCli)}, whisper-cli`,
      fixed(byCli / oneByOne),
    );
    await withWhisperServer(threads, async (url) => {
      await hear(url, "/inference", clips[0] ?? "");
      // With many clients whisper-server resets some connections: their requests are sent again.
      const heardByServer = (file: string): Promise<string> =>
        hear(url, "/inference", file).catch((error: NodeJS.ErrnoException) => {
          if (error.code !== "ECONNRESET") throw error;
          return heardByServer(file);
        });
      const heardBySvc = (file: string) => hear(server.url, "/v1/audio/transcriptions", file);
      for (const clients of [1, 16]) {
        const all = (transcribe: (file: string) => Promise<string>) => async () => {
          const queue = [...clips];
          const client = async () => {
            for (let file = queue.pop(); file; file = queue.pop()) await transcribe(file);
          };
          await Promise.all(Array.from({ length: clients }, client));
        };
        const times = { ours: [] as number[], theirs: [] as number[] };
        for (let run = 0; run < 3; run++) {
          times.ours.push((await timed(all(heardBySvc)))[1]);
          times.theirs.push((await timed(all(heardByServer)))[1]);
        }
        const [ours, theirs] = [median(times.ours), median(times.theirs)];
        row(
          `${CLIPS} clips, ${clients} client${clients > 1 ? "s at once" : ""}, s`,
          fixed(ours),
          `${fixed(theirs)}, whisper-server`,
          fixed(theirs / ours),
        );
      }
    });
  });
} finally {
  rmSync(folder, { recursive: true });
}
for (const fault of faults) console.log(`- ${fault}`);
process.exit(faults.length > 0 ? 1 : 0);
