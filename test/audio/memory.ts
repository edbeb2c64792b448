// Measures the memory for a recording of two hours: the resident size must stay level while it is read.
//   bun test/audio/memory.ts

import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openAudio } from "../../ffi/audio/binding.ts";
import { developmentLibraries } from "../../ffi/runtime/native-files.ts";
import { openSound } from "../../src/audio/decode/open-sound.ts";
import { SAMPLE_RATE } from "../../src/audio/decode/sound-tools.ts";
import { runProgram } from "../../src/engine/process/program.ts";
import { wav } from "./sounds.ts";

const HOURS = 2;
const REPORT_EVERY_S = 20 * 60;
const mebibytes = () => Math.round(process.memoryUsage.rss() / 2 ** 20);

const path = join(tmpdir(), `svc-two-hours-${process.pid}.wav`);
try {
  const writer = Bun.file(path).writer();
  const minute = wav({ seconds: 60, dataBytes: HOURS * 3600 * SAMPLE_RATE * 2 });
  writer.write(minute.subarray(0, 44));
  for (let at = 0; at < HOURS * 60; at++) {
    writer.write(minute.subarray(44));
    await writer.flush();
  }
  await writer.end();
  Bun.gc(true);
  console.log(`the file has ${Math.round(Bun.file(path).size / 2 ** 20)} MiB; before: ${mebibytes()} MiB`);
  const tools = { audio: openAudio(developmentLibraries()), run: runProgram };
  const sound = await openSound({ path }, tools, { maxSeconds: HOURS * 3600, field: "file" });
  let samples = 0;
  let next = REPORT_EVERY_S;
  for await (const window of sound.windows) {
    samples += window.length;
    if (samples / SAMPLE_RATE < next) continue;
    console.log(`after ${next / 60} minutes: ${mebibytes()} MiB`);
    next += REPORT_EVERY_S;
  }
  console.log(`${samples / SAMPLE_RATE} seconds in all`);
} finally {
  rmSync(path, { force: true });
}
