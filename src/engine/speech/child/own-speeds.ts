// Gives a voice with a limited range of speeds any speed.

import { stretch } from "../../../audio/time-stretch.ts";
import { cut } from "../../../speech/sentences.ts";

/** Range of speeds at which a voice speaks well by itself. */
interface OwnSpeeds {
  readonly slowest: number;
  readonly fastest: number;
}

/** Returns the nearest of the voice's own speeds; stretching does the rest. */
const ownSpeed = (speed: number, { slowest, fastest }: OwnSpeeds): number =>
  Math.min(fastest, Math.max(slowest, speed));

/** Divides phonemes into pieces of at most `most`; fewer for slow speech, which takes longer to compute. */
export function inPieces(phonemes: string, most: number, speed: number, own: OwnSpeeds): string[] {
  return phonemes === "" ? [] : cut(phonemes, Math.floor(most * Math.min(1, ownSpeed(speed, own))));
}

/** Has `say` speak at the nearest of its own speeds and stretches the sound to the wanted one, at the same pitch. */
export async function sayAt(
  speed: number,
  own: OwnSpeeds,
  say: (given: number) => Promise<Float32Array>,
): Promise<Float32Array> {
  const given = ownSpeed(speed, own);
  const samples = await say(given);
  return given === speed ? samples : stretch(samples, speed / given);
}
