// Damaged and hostile sound files for transcription: each must be refused or transcribed, and cost only what it
// contains.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { box, wav } from "../audio/sounds.ts";
import { damaged } from "../fuzz/bytes.ts";
import { dice, type Dice } from "../support/dice.ts";
import { lasting, transcribe, recording } from "./engine-client.ts";
import { flood } from "./flood.ts";
import { bytesOf as text, together, type Bytes } from "./hostile-pictures.ts";
import type { Options, Row } from "./row.ts";

const FIXTURES = join(import.meta.dir, "../audio/fixtures");
const MB = 1024 * 1024;

/** Returns a WAV file of floats. */
function floats(seconds: number, value: (index: number) => number): Bytes {
  const file = Buffer.from(wav({ seconds, coding: "float" }));
  for (let at = file.length - seconds * 64_000, index = 0; at < file.length; at += 4)
    file.writeFloatLE(value(index++), at);
  return file;
}

function nested(depth: number): Bytes {
  let inner = box("free");
  for (let level = 0; level < depth; level++) inner = box("moov", inner);
  return together(box("ftyp", text("isom")), inner);
}

/** Returns an ID3 tag that claims this many bytes. */
const tag = (says: number, has = says): Bytes =>
  together(text("ID3\x04\0\0"), Buffer.from([21, 14, 7, 0].map((shift) => (says >> shift) & 0x7f)), Buffer.alloc(has));

/** Returns empty chunks, to precede the sound. */
const chunks = (count: number): Bytes => {
  const sound = wav({ seconds: 1 });
  return together(sound.subarray(0, 12), Buffer.alloc(count * 8, text("junk\0\0\0\0")), sound.subarray(12));
};

function hostile(fixture: (name: string) => Bytes, speech: Bytes, roll: Dice): Readonly<Record<string, Bytes>> {
  const mp3 = fixture("tone.mp3");
  return {
    "a header of 8 hours": wav({ seconds: 1, dataBytes: 8 * 3600 * 32_000 }),
    "a header of 4 GB": wav({ seconds: 1, dataBytes: 0xffff_ffff }),
    "1 Hz": wav({ seconds: 600, rate: 1 }),
    "4 MHz": wav({ seconds: 0.01, rate: 4_000_000 }),
    "32 channels": wav({ seconds: 0.1, channels: 32 }),
    "no sample": wav({ seconds: 0 }),
    "0.01 s": wav({ seconds: 0.01 }),
    "one sample": wav({ seconds: 1 / 16_000 }),
    "one byte": text("R"),
    "cut in its header": wav({ seconds: 1 }).slice(0, 30),
    "a million chunks": chunks(1_000_000),
    "boxes in boxes": nested(20_000),
    "a playlist": text("#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n"),
    "a playlist behind a tag": together(tag(100), text("#EXTM3U\nfile:///etc/passwd\n")),
    "a list for ffmpeg": text("ffconcat version 1.0\nfile /etc/passwd\n"),
    "a page that is WAV": together(wav({ seconds: 1 }), text("<script>alert(1)</script>")),
    "an archive that is MP3": together(text("PK\x03\x04"), mp3),
    "MP3 behind WAV": together(wav({ seconds: 0 }), mp3),
    "a tag that says 256 MB": together(tag(256 * MB - 1, 100), mp3),
    "a tag of 64 MB": together(tag(64 * MB), mp3),
    "a thousand tags": together(...Array.from({ length: 1000 }, () => tag(10)), mp3),
    "no numbers": floats(3, () => Number.NaN),
    infinities: floats(3, (index) => (index % 2 === 0 ? Infinity : -Infinity)),
    "the largest numbers": floats(3, () => 3.4e38),
    "a constant": floats(3, () => 1),
    "the loudest noise": floats(3, () => roll(2) * 2 - 1),
    "speech with holes": floats(3, (index) => (index % 100 === 0 ? Number.NaN : (speech[44 + 2 * index] ?? 0) / 256)),
    "an hour of nothing": lasting(together(wav({ seconds: 0 }), Buffer.alloc(2)), 3600),
    "a thousand recordings in one": together(...Array.from({ length: 1000 }, () => fixture("opus.ogg"))),
    "random bytes behind a FLAC head": together(
      fixture("tone.flac").slice(0, 42),
      Buffer.from(Array.from({ length: MB }, () => roll(256))),
    ),
  };
}

export async function sounds({ count = 500, seed = 1 }: Options): Promise<Row[]> {
  const roll = dice(seed);
  const names = readdirSync(FIXTURES).filter((name) => !name.endsWith(".ts"));
  const whole = new Map<string, Bytes>();
  for (const name of names) whole.set(name, await Bun.file(join(FIXTURES, name)).bytes());
  whole.set("tone.wav", wav({ seconds: 2 }));
  const speech = lasting(await recording(), 3);
  whole.set("speech.wav", speech);
  const kinds = [...whole];
  // Expensive files come first, because memory held at half time counts as permanent.
  const files = [
    ...Object.entries(hostile((name) => whole.get(name) ?? speech, speech, roll)),
    ...Array.from({ length: count }, (_, index) => {
      const [name, bytes] = kinds[index % kinds.length] ?? ["", speech];
      return [`${name}, damage ${index}`, damaged(bytes, roll)] as const;
    }),
    ...Array.from({ length: 100 }, (_, n) => [`tiny ${n}`, wav({ seconds: 0.01 })] as const),
  ];
  return flood({
    promise: "A sound file is transcribed or refused",
    what: "damaged and hostile sound files",
    kind: "transcription",
    requests: files.map(([name, bytes]) => [name, transcribe(bytes)]),
    proper: [200, 400, 413, 422],
    whole: transcribe(speech),
  });
}
