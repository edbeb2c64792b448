// Small media: those that are refused or answered at once, and seldom ones with something to recognise.

import { join } from "node:path";
import { pick, type Dice } from "../../support/dice.ts";
import { drawn, pngOf } from "../../support/pages.ts";
import { wavOf } from "../../support/wav.ts";
import { MARK, PIXEL } from "../seed-parts.ts";

type Bytes = Uint8Array<ArrayBuffer>;

export const CHAT = "/v1/chat/completions";
const RECORDING = join(import.meta.dir, "../../fixtures/sounds/jfk.wav");
const RATE = 16_000;
const WAV_HEAD = 44;
/** One in so many sounds and pictures has a content. */
const RARE = 20;

const PICTURE = new Uint8Array(Buffer.from(PIXEL, "base64"));
const TONE = wavOf(Int16Array.from({ length: RATE / 10 }, (_, at) => 9000 * Math.sin(at / 9)));
export const PICTURE_URL = `data:image/png;base64,${PIXEL}`;
export const SOUND_URL = `data:audio/wav;base64,${Buffer.from(TONE).toString("base64")}`;

const body = { max_tokens: 1, messages: [{ role: "user", content: MARK }] };
const LINES = ["a", "b"].map((id) => `${JSON.stringify({ custom_id: id, method: "POST", url: CHAT, body })}\n`);

export class Media {
  private constructor(
    private readonly page: Bytes,
    private readonly speech: Bytes,
  ) {}

  static async make(): Promise<Media> {
    const page = await drawn({ lines: ["Hello"], paper: [180, 90] });
    const recording = await Bun.file(RECORDING).bytes();
    const samples = new Int16Array(recording.slice(WAV_HEAD, WAV_HEAD + 4 * RATE).buffer);
    return new Media(await pngOf(page), wavOf(samples));
  }

  /** Returns a file for an operation of this path. */
  file(path: string, roll: Dice): Bytes {
    if (path.startsWith("/v1/files")) return new Uint8Array(Buffer.from(pick(roll, [LINES.join(""), LINES[0] ?? ""])));
    const isEmpty = roll(RARE) > 0;
    if (path.includes("/audio/")) return isEmpty ? TONE : this.speech;
    return isEmpty || !path.includes("ocr") ? PICTURE : this.page;
  }
}
