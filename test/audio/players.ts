// Tests whether common players can read the encoders' files: `bun test/audio/players.ts`. Needs ffmpeg and sox.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FORMATS } from "../../src/audio/encode/formats.ts";

const RATE = 24_000;
const SHARE = 0.02;
const sound = Float32Array.from({ length: 5 * RATE + 123 }, (_, at) => 0.5 * Math.sin(at / 20) * Math.sin(at / 9000));
const folder = mkdtempSync(join(tmpdir(), "svc-players-"));

function decodedSamples(command: readonly string[]): number {
  const { stdout, success, stderr } = Bun.spawnSync([...command]);
  if (!success) throw new Error(`${command[0]}: ${stderr.toString()}`);
  return stdout.length / 2;
}

let failures = 0;
for (const [name, format] of Object.entries(FORMATS)) {
  const encoder = await format.make();
  const streamed = Buffer.concat([encoder.push(sound), encoder.finish()]);
  const whole = Buffer.from(streamed);
  format.complete?.(whole, sound.length);
  for (const [kind, bytes] of Object.entries({ streamed, whole })) {
    const file = join(folder, `${kind}.${name}`);
    await Bun.write(file, bytes);
    const raw = name === "pcm" ? ["-f", "s16le", "-ar", String(RATE), "-ac", "1"] : [];
    const counts = {
      ffmpeg: decodedSamples(["ffmpeg", "-v", "error", ...raw, "-i", file, "-ar", String(RATE), "-f", "s16le", "-"]),
      ...(["wav", "flac"].includes(name) && {
        sox: decodedSamples(["sox", "-V1", "--ignore-length", file, "-t", "raw", "-"]),
      }),
    };
    for (const [program, count] of Object.entries(counts)) {
      const isGood = Math.abs(count / sound.length - 1) <= SHARE;
      if (!isGood) failures++;
      console.log(`${isGood ? "ok" : "NOT"}  ${name} ${kind} by ${program}: ${count} of ${sound.length} samples`);
    }
  }
}
rmSync(folder, { recursive: true });
process.exit(failures === 0 ? 0 : 1);
