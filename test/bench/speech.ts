// `bun test/bench/speech.ts`: transcription compared with whisper.cpp's own programs with the same models, and
// synthesized speech transcribed again. Prints Markdown rows. Needs `bun build.ts bench`.
//   --sentences N (50)   --threads N (2)
//   --voices af_bella,bf_emma   only these voices: word errors of their speech, and their speed

import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { dice } from "../support/dice.ts";
import { sentence, wordErrors, wordsOf } from "./sentences.ts";
import { median } from "./stats.ts";
import { hear, NOISE, noisy, RATE, say, wav } from "./spoken.ts";
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

const row = (...cells: (string | number)[]) => console.log(`| ${cells.join(" | ")} |`);
const fixed = (value: number) => value.toFixed(2);

const folder = mkdtempSync(join(tmpdir(), "svc-speech-"));
const flags = ["--threads", String(threads), "--ctx", "1024", "--parallel", "2"];
if (existsSync(KOKORO)) flags.push("--kokoro", KOKORO);

/** Returns the share of wrong words in percent. */
function wordErrorRate(said: readonly string[], heard: readonly string[]): string {
  const wrong = heard.reduce((sum, text, at) => sum + wordErrors(wordsOf(said[at] ?? ""), wordsOf(text)), 0);
  return `${((100 * wrong) / said.flatMap(wordsOf).length).toFixed(1)} %`;
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
  row(voice, wordErrorRate(said, heard), fixed(spent / length), fixed(busy / length));
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

    const [sounds, spoken] = await timed(async () => {
      const all: Int16Array[] = [];
      for (const text of said) all.push(await say(server, text));
      return all;
    });
    const seconds = sounds.reduce((sum, { length }) => sum + length / RATE, 0);
    row(`${sentences} sentences said, seconds of sound in a second`, fixed(seconds / spoken), "–", "–");

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
      const errors = (texts: readonly string[]) => wordErrorRate(said, texts);
      const equal = ours.filter((text, at) => text === theirs[at]).length;
      row(
        `${name}: word errors`,
        errors(ours),
        `${errors(theirs)}, whisper-cli`,
        `${equal} of ${files.length} texts equal`,
      );
      row(
        `${name}: one after the other, s`,
        fixed(ourTime),
        `${fixed(theirTime)}, whisper-cli`,
        fixed(theirTime / ourTime),
      );
    }

    const clips = sounds.slice(0, 20).map((_, at) => join(folder, `clean-${at}.wav`));
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
          `20 clips, ${clients} client${clients > 1 ? "s at once" : ""}, s`,
          fixed(ours),
          `${fixed(theirs)}, whisper-server`,
          fixed(theirs / ours),
        );
      }
    });

    const long = said.slice(0, 10).join(" ");
    const body = JSON.stringify({ input: long, response_format: "mp3" });
    const headers = { "content-type": "application/json" };
    const started = performance.now();
    const response = await fetch(`${server.url}/v1/audio/speech`, { method: "POST", headers, body });
    const reader = response.body?.getReader();
    await reader?.read();
    const first = performance.now() - started;
    while (!(await reader?.read())?.done);
    row("10 sentences: first byte, share of the whole", fixed(first / (performance.now() - started)), "–", "–");
  });
} finally {
  rmSync(folder, { recursive: true });
}
process.exit(0);
