// svc's transcription against whisper.cpp's own program, of the same sources and with the same models, at temperature 0: is the
// text equal letter by letter? Prints Markdown rows and every difference. Three comparisons of each file: svc's library and the
// program hear all of it; both hear what svc's voice detection leaves of it; and the route, which does that, and has encoders of
// the sound's size. Needs `bun build.ts bench`. Other languages are spoken by the host's espeak-ng, where there is one.
//   --sentences N (50)   --threads N (2)   --sets clean,es   these sets alone

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { sentence, wordErrors, wordsOf } from "../bench/sentences.ts";
import { floatWav, hear, NOISE, noisy, say, wav } from "../bench/spoken.ts";
import { whisperCli } from "../bench/whisper-programs.ts";
import { dice } from "../support/dice.ts";
import { withServer } from "../support/server.ts";
import { OwnRecogniser } from "./own-recogniser.ts";
import { formatTable } from "./report.ts";

const JFK = join(import.meta.dir, "../fixtures/sounds/jfk.wav");
const JFK_TEXT =
  "And so my fellow Americans, ask not what your country can do for you, ask what you can do for your country.";

/** By espeak-ng's names of languages, which are Whisper's, too. */
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

interface Difference {
  readonly where: string;
  readonly ours: string;
  readonly theirs: string;
}

const folder = mkdtempSync(join(tmpdir(), "svc-transcription-"));
const rows: string[][] = [];
const differences: Difference[] = [];
const own = await OwnRecogniser.load(threads);

async function written(name: string, said: string, samples: Int16Array): Promise<Clip> {
  const file = join(folder, `${name}.wav`);
  await Bun.write(file, wav(samples));
  return { file, said };
}

/** Equal texts; of those that differ, the program's in a process of its own, which carries nothing over from other files. */
async function equal(
  where: string,
  clips: readonly Clip[],
  ours: readonly string[],
  cli: (files: readonly string[]) => Promise<string[]>,
): Promise<{ readonly theirs: readonly string[]; readonly cell: string }> {
  const theirs = await cli(clips.map(({ file }) => file));
  for (const [at, { file }] of clips.entries()) {
    if (ours[at] !== theirs[at]) [theirs[at] = ""] = await cli([file]);
    if (ours[at] === theirs[at]) continue;
    differences.push({ where: `${where} ${at + 1}`, ours: ours[at] ?? "", theirs: theirs[at] ?? "" });
  }
  return { theirs, cell: `${ours.filter((text, at) => text === theirs[at]).length} of ${clips.length}` };
}

async function compare(name: string, url: string, clips: readonly Clip[], language = "en"): Promise<void> {
  const texts: [string[], string[]] = [[], []];
  const detected: Clip[] = [];
  for (const { file, said } of clips) {
    const samples = await own.samples(file, true);
    texts[0].push(await own.text(await own.samples(file, false), { language }));
    texts[1].push(await own.text(samples, { language }));
    const speech = join(folder, `speech-${basename(file)}`);
    await Bun.write(speech, floatWav(samples));
    detected.push({ file: speech, said });
  }
  const cli = (files: readonly string[]) => whisperCli(files, { threads, language });
  const plain = await equal(`${name}, library`, clips, texts[0], cli);
  const heard = await equal(`${name}, library with voice detection`, detected, texts[1], cli);
  const routed: string[] = [];
  for (const { file } of clips) routed.push(await hear(url, "/v1/audio/transcriptions", file, { language }));
  const same = routed.filter((text, at) => text === heard.theirs[at]).length;
  for (const [at, text] of routed.entries()) {
    if (text === heard.theirs[at]) continue;
    differences.push({ where: `${name}, route ${at + 1}`, ours: text, theirs: heard.theirs[at] ?? "" });
  }
  const wrong = (heardTexts: readonly string[]) => {
    const errors = heardTexts.map((text, at) => wordErrors(wordsOf(clips[at]?.said ?? ""), wordsOf(text)));
    const words = clips.flatMap(({ said }) => wordsOf(said)).length;
    return `${((100 * errors.reduce((sum, one) => sum + one, 0)) / words).toFixed(1)} %`;
  };
  const row = [name, plain.cell, heard.cell, `${same} of ${clips.length}`, wrong(routed), wrong(heard.theirs)];
  rows.push(row);
  console.error(row.join("  "));
}

const flags = ["--no-model", "--threads", String(threads)];
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
      const voice = `espeak-ng:${language === "pt" ? "pt-br" : language === "fr" ? "fr-fr" : language}`;
      const clips: Clip[] = [];
      for (const [at, text] of lines.entries()) {
        clips.push(await written(`${language}-${at}`, text, await say(server, text, voice)));
      }
      await compare(language, server.url, clips, language);
    }
  });
} finally {
  rmSync(folder, { recursive: true });
}
const head = ["sounds", "library", "with voice detection", "route", "wrong words, svc", "whisper-cli"];
console.log(formatTable(head, rows).join("\n"));
for (const { where, ours, theirs } of differences)
  console.log(`- ${where}\n  - svc: ${ours}\n  - whisper-cli: ${theirs}`);
process.exit(0);
