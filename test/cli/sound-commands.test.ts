// `svc transcribe` and `svc say` as programs: what they refuse before anything is computed, what one writes and the other
// reads, and an interrupt.

import { beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sharedFolder } from "../support/folders.ts";
import { childrenOf } from "../support/processes.ts";
import { voiceTable } from "../../src/cli/say.ts";
import { nativeFiles } from "../../ffi/runtime/native-files.ts";
import { options } from "../../src/config/options.ts";
import { isBuilt, wordsOf } from "../native/whisper-harness.ts";
import { wavOf } from "../support/wav.ts";
import { PROGRAM } from "../support/server.ts";

setDefaultTimeout(60_000);

const folder = sharedFolder();
const at = (name: string) => join(folder, name);
/** "And so my fellow Americans", of a longer recording. */
const clip = at("clip.wav");

beforeAll(async () => {
  const recording = await Bun.file(join(import.meta.dir, "../fixtures/sounds/jfk.wav")).arrayBuffer();
  writeFileSync(clip, wavOf(new Int16Array(recording, 44, 2.3 * 16_000)));
  for (const name of ["a.wav", "a.mp3", "b.wav"]) writeFileSync(at(name), "no sound");
});

function start(...args: string[]) {
  const env = { ...process.env, TMPDIR: folder, NO_COLOR: "1" };
  return Bun.spawn([...PROGRAM, ...args], { env, stdio: ["pipe", "pipe", "pipe"] });
}

async function endOf(child: Pick<ReturnType<typeof start>, "exited" | "stderr">): Promise<[number, string]> {
  const [code, text] = await Promise.all([child.exited, new Response(child.stderr).text()]);
  // On a busy machine they take so long that lines tell how far they are.
  const lines = text.split("\n").filter((line) => !/^speaking: |: (?:\d+ % {2})?\d+:\d\d/.test(line));
  return [code, lines.join("\n")];
}

const BELOW_FILE = "cannot be written: a folder of its path is a file.";

test.each([
  ["two results of one name", ["transcribe", at("a.wav"), at("a.mp3"), "-o", at("texts")], 2, "a.txt"],
  [
    "two recordings for one file",
    ["transcribe", at("a.wav"), at("b.wav"), "-o", at("both.srt")],
    2,
    "-o must name a folder",
  ],
  [
    "a file of an unknown ending",
    ["transcribe", at("a.wav"), "-o", at("a.doc")],
    2,
    "that ends in .txt, .srt, .vtt or .json, or a folder with / at its end.",
  ],
  [
    "a file of another form",
    ["transcribe", at("a.wav"), "-o", at("a.srt"), "--format", "vtt"],
    2,
    "-o names a file for srt, and --format is vtt",
  ],
  ["an unknown form", ["transcribe", at("a.wav"), "--format", "constructor"], 2, "--format must be one of text, srt"],
  ["standard input twice", ["transcribe", "-", "-"], 2, "Standard input can be named once; got 2 times."],
  ["a folder", ["transcribe", at("")], 1, "it is a folder; name the files in it."],
  ["a file without a name", ["transcribe", ""], 2, "svc: The name of a file is empty."],
  ["a recording that is not there", ["transcribe", at("c.wav")], 1, "c.wav: there is no such file."],
  ["a path below a file", ["transcribe", at("a.wav/b.wav")], 1, "cannot be read: a folder of its path is a file."],
  ["a name that is too long", ["transcribe", "x".repeat(300)], 1, "cannot be read: the name is too long."],
  ["a speed that is no number", ["say", "hi", "--speed", "fast", "-o", at("hi.wav")], 2, "--speed must be a number"],
  ["an infinite speed", ["say", "hi", "--speed", "1e999", "-o", at("hi.wav")], 2, "--speed must be a number"],
  ["a form of no list", ["say", "hi", "--json", "-o", at("hi.wav")], 2, "--json belongs to"],
  ["a folder for sound", ["say", "hi", "-o", at("")], 2, "is a folder."],
  ["no speed", ["say", "hi", "--speed", "", "-o", at("hi.wav")], 2, "--speed needs a value"],
  // Before the recording is read: an hour of work would be lost.
  ["texts below a file", ["transcribe", at("a.wav"), "-o", at("b.wav/texts/")], 1, `a.txt ${BELOW_FILE}`],
  ["a text below a file", ["transcribe", at("a.wav"), "-o", at("b.wav/a.srt")], 1, `a.srt ${BELOW_FILE}`],
  ["sound below a file", ["say", "hi", "-o", at("b.wav/sounds/hi.wav")], 1, `hi.wav ${BELOW_FILE}`],
] as const)("refuses %s in one sentence", async (_, args, code, sentence) => {
  const [exit, text] = await endOf(start(...args));
  expect(text.split("\n")).toHaveLength(2);
  expect([exit, text]).toEqual([code, expect.stringContaining(sentence)]);
});

test.skipIf(!isBuilt)("a value that the API refuses is told by the option that was typed", async () => {
  const say = (...args: string[]) => endOf(start("say", "hi", "-o", at("hi.wav"), ...args));
  expect(await say("--voice", "nobody")).toEqual([2, expect.stringMatching(/^svc: --voice names no voice/)]);
  expect(await say("--format", "xyz")).toEqual([2, expect.stringMatching(/^svc: --format must be one of mp3/)]);
  expect(await say("--format", "flak")).toEqual([2, expect.stringContaining("Did you mean flac?")]);
  const text = /^svc: The text must have a letter or a digit that can be spoken; got 3 characters/;
  expect(await endOf(start("say", "...", "-o", at("hi.wav")))).toEqual([2, expect.stringMatching(text)]);
  const language = "--language must be a language that speech is recognised in";
  expect(await endOf(start("transcribe", clip, clip, "--language", "xx"))).toEqual([
    2,
    expect.stringContaining(`svc: ${clip}: ${language}, as en, pt-BR or german; got "xx".`),
  ]);
});

const SAID = "my fellow Americans";

test.skipIf(!isBuilt)("of several recordings, those that fail are told and the others go on", async () => {
  const child = start("transcribe", at("c.wav"), at("b.wav/c.wav"), at("a.wav"), clip, "--format", "json");
  const [[code, errors], out] = await Promise.all([endOf(child), new Response(child.stdout).text()]);
  const lines = out.trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({ file: clip, text: expect.stringContaining(SAID) }),
  ]);
  expect(errors.trimEnd().split("\n")).toEqual([
    `svc: ${at("c.wav")}: there is no such file.`,
    `svc: ${at("b.wav/c.wav")}: it cannot be read: a folder of its path is a file.`,
    expect.stringContaining(`svc: ${at("a.wav")}: it must be WAV`),
    "svc: 3 of 4 recordings could not be transcribed.",
  ]);
  expect(code).toBe(1);
});

test("why a recording failed is told at any log level, in the log's format", async () => {
  const missing = [at("c.wav"), at("d.wav")];
  const reasons = missing.map((file) => `${file}: there is no such file.`);
  const messages = [...reasons, "2 of 2 recordings could not be transcribed."];
  const [, text] = await endOf(start("transcribe", ...missing, "--quiet"));
  expect(text).toBe(messages.map((message) => `svc: ${message}\n`).join(""));
  const [, json] = await endOf(start("transcribe", ...missing, "--log-level", "error", "--log-format", "json"));
  const lines = json.trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line))).toMatchObject(messages.map((message) => ({ level: "error", message })));
});

test.skipIf(!isBuilt)("one result goes to the file that -o names, whose ending says what it is", async () => {
  const [code, errors] = await endOf(start("transcribe", clip, "-o", at("said.vtt")));
  expect([code, errors]).toEqual([0, `${clip}: ${at("said.vtt")}\n`]);
  expect(await Bun.file(at("said.vtt")).text()).toStartWith("WEBVTT\n\n00:00:00.");
});

const speaks = isBuilt && nativeFiles("").embeddedVoice !== undefined;

test.skipIf(!speaks)("what is said into a file is heard from standard input", async () => {
  const said = "The children are playing in the garden.";
  expect(await endOf(start("say", said, "-o", at("said.mp3")))).toEqual([
    0,
    `${at("said.mp3")}: ${said.length} characters spoken\n`,
  ]);
  const child = start("transcribe", "-", "--language", "en");
  child.stdin.write(await Bun.file(at("said.mp3")).bytes());
  await child.stdin.end();
  const [[code, errors], text] = await Promise.all([endOf(child), new Response(child.stdout).text()]);
  expect([code, errors, wordsOf(text)]).toEqual([0, "", wordsOf(said)]);
  expect(readdirSync(folder).filter((name) => name.startsWith("svc-stdin-"))).toEqual([]);
});

test.skipIf(!speaks)("speech ends when nobody reads it any more", async () => {
  const child = start("say", "The quick brown fox jumps over the lazy dog. ".repeat(500), "--format", "wav");
  const reader = child.stdout.getReader();
  expect(Buffer.from((await reader.read()).value ?? []).toString("latin1")).toStartWith("RIFF");
  await reader.cancel();
  // On a busy machine it has shown by then how far it is.
  expect(await endOf(child)).toEqual([0, expect.stringMatching(/^(speaking: .*\n)*$/)]);
});

test("voices of the model that speaks by default are listed before those of programs", () => {
  const voice = (id: string, model: string, ...aliases: string[]) => {
    const kind = { gender: "female", quality: "premium", realtime: true } as const;
    return { id, name: id, locale: "en-US", ...kind, model, aliases };
  };
  const voices = [voice("af", "espeak-ng"), voice("heart", "hibari", "alloy"), voice("zu", "espeak-ng")];
  const names = voiceTable({ voices })
    .split("\n")
    .map((line) => line.split(" ")[0]);
  expect(names).toEqual(["VOICE", "heart", "af", "zu", ""]);
});

test.skipIf(!isBuilt)("the voices are listed, as lines or as JSON, also those of a language", async () => {
  const voicesOf = async (...args: string[]) => {
    // Those of a config file that a server shares have nothing to do with speech.
    const named = options.filter(({ group, orName }) => group === "Model" && orName);
    const models = named.map(({ name }) => `--${name}=${at("none.gguf")}`);
    const child = start(
      "say",
      "--voices",
      "--no-host-voices",
      "--ocr-engine=ppocr",
      "--ocr-language=tlh",
      ...models,
      ...args,
    );
    const [code, text] = await Promise.all([child.exited, new Response(child.stdout).text()]);
    return [code, text] as const;
  };
  const [code, table] = await voicesOf();
  expect([code, table]).toEqual([0, expect.stringMatching(/^VOICE +LOCALE +GENDER +QUALITY +MODEL\n/)]);
  const [, json] = await voicesOf("--json", "--locale", "tlh");
  expect(JSON.parse(json)).toEqual({ voices: [] });
});

test.skipIf(!isBuilt)(
  "standard input that cannot be copied is told in one sentence, and leaves nothing behind",
  async () => {
    const refused = async (setting: string) => {
      const command = ["sh", "-c", `${setting}; exec "$0" "$@"`, ...PROGRAM, "transcribe", "-"];
      const env = { ...process.env, TMPDIR: folder };
      return endOf(Bun.spawn(command, { env, stdin: new Blob(["x".repeat(1e6)]), stdout: "pipe", stderr: "pipe" }));
    };
    const sentence = (where: string, why: string) => `svc: standard input: it cannot be copied to ${where}: ${why}.\n`;
    expect(await refused(`export TMPDIR=${at("nowhere")}`)).toEqual([
      1,
      sentence(at("nowhere"), "there is no such file or folder"),
    ]);
    expect(await refused("ulimit -f 100")).toEqual([1, expect.stringContaining("the file is too large for this disk")]);
    expect(readdirSync(folder).filter((name) => name.startsWith("svc-stdin-"))).toEqual([]);
  },
);

test.skipIf(!isBuilt)("an interrupt ends the wait for standard input, and leaves nothing behind", async () => {
  const child = start("transcribe", "-");
  child.stdin.write("the beginning");
  await child.stdin.flush();
  const waits = () => readdirSync(folder).some((name) => name.startsWith("svc-stdin-") && existsSync(at(name)));
  while (!waits()) await Bun.sleep(5);
  child.kill("SIGINT");
  expect(await child.exited).toBe(130);
  expect([waits(), childrenOf(child.pid)]).toEqual([false, []]);
});
