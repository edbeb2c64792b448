// svc's transcription compared with whisper.cpp's own program, from the same sources and with the same models, at
// temperature 0: is the text equal, letter by letter? Prints Markdown rows and every difference. Three comparisons of
// each file: svc's library and the program get all of it; both get what svc's voice detection keeps; and svc's route,
// which uses voice detection and encoders of the sound's size. Ends with 1 when a text of the first two differs. Needs
// `bun build.ts bench`. Other languages are spoken by the host's espeak-ng, if installed, and by Kokoro, if built.
//   --sentences N (50)   --threads N (2)   --sets clean,es   only these sets

import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { sentence, wordErrors, wordsOf } from "../bench/sentences.ts";
import { floatWav, hear, NOISE, noisy, say, wav } from "../bench/spoken.ts";
import { whisperCli } from "../bench/whisper-programs.ts";
import { dice } from "../support/dice.ts";
import { withServer } from "../support/server.ts";
import { OwnTranscriber } from "./own-transcriber.ts";

const JFK = join(import.meta.dir, "../fixtures/sounds/jfk.wav");
const JFK_TEXT =
  "And so my fellow Americans, ask not what your country can do for you, ask what you can do for your country.";

/** Sentences by Whisper's language codes. */
const LANGUAGES: Readonly<Record<string, readonly string[]>> = {
  de: [
    "Der Zug nach Hamburg fährt heute von einem anderen Gleis.",
    "Meine Schwester hat gestern einen alten Schrank gekauft.",
    "Am Montag regnet es den ganzen Tag.",
    "Wir treffen uns um acht Uhr vor dem Bahnhof.",
  ],
  es: [
    "El tren para Madrid sale de otra vía esta mañana.",
    "Mi hermana compró ayer un armario viejo.",
    "El lunes va a llover todo el día.",
    "Nos vemos a las ocho delante de la estación.",
  ],
  fr: [
    "Le train pour Paris part aujourd'hui d'un autre quai.",
    "Ma sœur a acheté hier une vieille armoire.",
    "Il va pleuvoir toute la journée lundi.",
    "Nous nous retrouvons à huit heures devant la gare.",
  ],
  it: [
    "Il treno per Roma parte oggi da un altro binario.",
    "Mia sorella ha comprato ieri un vecchio armadio.",
    "Lunedì pioverà tutto il giorno.",
    "Ci vediamo alle otto davanti alla stazione.",
  ],
  pt: [
    "O trem para o Rio sai hoje de outra plataforma.",
    "Minha irmã comprou ontem um armário velho.",
    "Na segunda-feira vai chover o dia inteiro.",
    "Encontramo-nos às oito horas em frente à estação.",
  ],
};

/** Kokoro's voices for languages that it has, because Whisper base understands little of espeak-ng's speech. */
const VOICES: Readonly<Record<string, string>> = {
  de: "espeak-ng:de",
  es: "ef_dora",
  fr: "ff_siwis",
  it: "if_sara",
  pt: "pf_dora",
};
const KOKORO = join(import.meta.dir, "../../vendor/.build/kokoro/current");

const { values } = parseArgs({
  options: { sentences: { type: "string" }, threads: { type: "string" }, sets: { type: "string" } },
});
const sentences = Number(values.sentences ?? 50);
const threads = Number(values.threads ?? 2);
const isWanted = (name: string) => values.sets === undefined || values.sets.split(",").includes(name);

interface Clip {
  readonly file: string;
  readonly said: string;
}

const folder = mkdtempSync(join(tmpdir(), "svc-transcription-"));
const own = await OwnTranscriber.load(threads);

async function written(name: string, said: string, samples: Int16Array): Promise<Clip> {
  const file = join(folder, `${name}.wav`);
  await Bun.write(file, wav(samples));
  return { file, said };
}

const cli = (files: readonly string[], language: string) => whisperCli(files, { threads, language });

/**
 * Returns the program's texts; those that differ from svc's are repeated in a process without state from other files.
 */
async function programs(clips: readonly Clip[], ours: readonly string[], language: string): Promise<string[]> {
  const files = clips.map(({ file }) => file);
  const texts = await cli(files, language);
  for (const [at, file] of files.entries())
    if (ours[at] !== texts[at]) texts.splice(at, 1, ...(await cli([file], language)));
  return texts;
}

/** Whether all texts were equal that must be. */
let held = true;

/** Counts equal texts and prints the others. `mustBe`: whether a difference is a failure. */
function equal(where: string, ours: readonly string[], theirs: readonly string[], mustBe = true): string {
  const others = ours.flatMap((text, at) => (text === theirs[at] ? [] : [[at + 1, text, theirs[at]]]));
  for (const [at, text, other] of others) console.log(`- ${where} ${at}\n  - svc: ${text}\n  - whisper-cli: ${other}`);
  if (mustBe && others.length > 0) held = false;
  return `${ours.length - others.length} of ${ours.length}`;
}

function wrongWords(clips: readonly Clip[], texts: readonly string[]): string {
  const errors = texts.map((text, at) => wordErrors(wordsOf(clips[at]?.said ?? ""), wordsOf(text)));
  const words = clips.flatMap(({ said }) => wordsOf(said)).length;
  return `${((100 * errors.reduce((sum, one) => sum + one, 0)) / words).toFixed(1)} %`;
}

async function compare(name: string, url: string, clips: readonly Clip[], language = "en"): Promise<void> {
  const [whole, detected, routed]: [string[], string[], string[]] = [[], [], []];
  const speech: Clip[] = [];
  for (const { file, said } of clips) {
    const samples = await own.samples(file, true);
    whole.push(await own.text(await own.samples(file, false), { language }));
    detected.push(await own.text(samples, { language }));
    routed.push(await hear(url, "/v1/audio/transcriptions", file, { language }));
    speech.push({ file: join(folder, `speech-${basename(file)}`), said });
    await Bun.write(speech.at(-1)?.file ?? "", floatWav(samples));
  }
  const theirs = await programs(clips, whole, language);
  const theirsDetected = await programs(speech, detected, language);
  const cells = [
    name,
    equal(`${name}, all sound`, whole, theirs),
    equal(`${name}, speech`, detected, theirsDetected),
    equal(`${name}, route`, routed, theirsDetected, false),
    wrongWords(clips, routed),
    wrongWords(clips, theirsDetected),
    wrongWords(clips, theirs),
  ];
  row(...cells);
}

const row = (...cells: readonly string[]) => console.log(`| ${cells.join(" | ")} |`);
row(
  "sounds",
  "equal: all sound",
  "speech",
  "route",
  "wrong words: svc",
  "whisper-cli, speech",
  "whisper-cli, all sound",
);
row("---", "---", "---", "---", "---", "---", "---");
const flags = ["--no-model", "--threads", String(threads), ...(existsSync(KOKORO) ? ["--kokoro", KOKORO] : [])];
try {
  await withServer(flags, async (server) => {
    if (isWanted("jfk")) await compare("jfk", server.url, [{ file: JFK, said: JFK_TEXT }]);
    const roll = dice(7);
    const said = Array.from({ length: sentences }, () => sentence(roll));
    const sounds: Int16Array[] = [];
    if (Object.keys(NOISE).some(isWanted)) for (const text of said) sounds.push(await say(server, text));
    for (const [name, level] of Object.entries(NOISE)) {
      if (!isWanted(name)) continue;
      const noise = dice(11);
      const clips = sounds.map((pcm, at) => written(`${name}-${at}`, said[at] ?? "", noisy(pcm, level, noise)));
      await compare(name, server.url, await Promise.all(clips));
    }
    for (const [language, lines] of Object.entries(LANGUAGES)) {
      if (!isWanted(language)) continue;
      if (!Bun.which("espeak-ng")) {
        console.log(`${language}: left out, there is no espeak-ng`);
        continue;
      }
      const clips: Clip[] = [];
      for (const [at, text] of lines.slice(0, sentences).entries()) {
        clips.push(await written(`${language}-${at}`, text, await say(server, text, VOICES[language])));
      }
      await compare(language, server.url, clips, language);
    }
  });
} finally {
  rmSync(folder, { recursive: true });
}
process.exit(held ? 0 : 1);
