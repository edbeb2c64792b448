// A program that prints how long each given file plays: `bun play.ts LIBRARIES FILE…`. Meant to be compiled.

import { openAudio } from "../../../ffi/audio/binding.ts";
import { openSound } from "../../../src/audio/decode/open-sound.ts";
import { runProgram } from "../../../src/engine/process/program.ts";

const [libraries = "", ...paths] = process.argv.slice(2);
const tools = { audio: openAudio(libraries), run: runProgram };
for (const path of paths) {
  const sound = await openSound(path, tools, { maxSeconds: 60, field: "file" });
  let samples = 0;
  for await (const window of sound.windows) samples += window.length;
  console.log(samples);
}
