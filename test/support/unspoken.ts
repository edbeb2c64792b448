// Sounds in which nobody speaks, 16,000 samples a second, the same at each run.

import { randomNumbers } from "./dice.ts";

const RATE = 16_000;
const NOTES = [220, 261.6, 329.6, 392, 440, 349.2, 293.7, 246.9];

/** Returns samples of a sound, whose loudness at each second `level` says. */
const sound = (seconds: number, level: (second: number) => number): Float32Array =>
  Float32Array.from({ length: seconds * RATE }, (_, at) => level(at / RATE));

/** A tone with its overtones, as a string has them. */
function tone(hertz: number, second: number): number {
  let sum = 0;
  for (let overtone = 1; overtone <= 8; overtone++) {
    sum += Math.sin(2 * Math.PI * hertz * overtone * second) / overtone;
  }
  return sum;
}

/** A plucked string, four notes a second, and drums. */
export function music(seconds: number): Float32Array {
  const random = randomNumbers(1);
  return sound(seconds, (second) => {
    const [note, beat] = [Math.floor(second * 4), (second * 2) % 1];
    const string = Math.exp(-3 * ((second * 4) % 1)) * tone(NOTES[note % NOTES.length] ?? 0, second);
    const drum = Math.exp(-12 * beat) * Math.sin(2 * Math.PI * (60 + 80 * Math.exp(-30 * beat)) * beat);
    const cymbal = Math.exp(-25 * ((second * 4) % 1)) * (random() - 0.5);
    return 0.2 * string + 0.4 * drum + 0.1 * cymbal;
  });
}

/** The hum of a machine, and its hiss. */
export function machine(seconds: number): Float32Array {
  const random = randomNumbers(1);
  return sound(seconds, (second) => 0.1 * tone(50, second) + 0.1 * (random() - 0.5));
}
