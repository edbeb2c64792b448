// Any speed, from a voice that has some by itself.

import { stretch } from "../../../audio/time-stretch.ts";

/** Speeds at which a voice speaks well by itself. */
interface OwnSpeeds {
  readonly slowest: number;
  readonly fastest: number;
}

/** The nearest of its own speeds; the rest is left to stretching. */
export const ownSpeed = (speed: number, { slowest, fastest }: OwnSpeeds): number =>
  Math.min(fastest, Math.max(slowest, speed));

/** What `say` makes at the nearest of its own speeds, at the one that is wanted and the same pitch. */
export async function sayAt(
  speed: number,
  own: OwnSpeeds,
  sampleRate: number,
  say: (given: number) => Promise<Float32Array>,
): Promise<Float32Array> {
  const given = ownSpeed(speed, own);
  const samples = await say(given);
  return given === speed ? samples : stretch(samples, speed / given, sampleRate);
}
