// Stands in for programs that the host does not have: shell scripts written by a test. Like any other program of svc,
// they start with an empty environment.

import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface FakeProgram {
  readonly path: string;
  readonly folder: string;
  /** Returns the content of a file in the program's folder. */
  read(name: string): string;
  remove(): void;
}

/** Creates a program; `script` runs in the program's own folder. */
export function fakeProgram(name: string, script: string): FakeProgram {
  const folder = mkdtempSync(join(tmpdir(), "svc-program-"));
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\ncd ${folder}\n${script}\n`);
  chmodSync(path, 0o755);
  return {
    path,
    folder,
    read: (file) => readFileSync(join(folder, file), "utf8"),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Records the program's arguments, input and environment in files. */
export const NOTES = `printf '%s\\n' "$@" > arguments
cat > input
env > environment`;

/** Returns a WAV file of a tone that is `seconds` long. */
export function tone(sampleRate: number, seconds: number, channels = 1): Uint8Array {
  const samples = Int16Array.from({ length: Math.round(sampleRate * seconds) * channels }, (_, at) =>
    Math.round(16_000 * Math.sin((2 * Math.PI * 440 * Math.floor(at / channels)) / sampleRate)),
  );
  const head = Buffer.alloc(44);
  head.write("RIFF\0\0\0\0WAVEfmt ", 0, "latin1");
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(channels, 22);
  head.writeUInt32LE(sampleRate, 24);
  head.writeUInt32LE(sampleRate * 2 * channels, 28);
  head.writeUInt16LE(2 * channels, 32);
  head.writeUInt16LE(16, 34);
  head.write("data", 36, "latin1");
  // The size that programs write when they do not know how much data will follow.
  head.writeUInt32LE(0x7fff_f000, 40);
  return Buffer.concat([head, new Uint8Array(samples.buffer)]);
}
