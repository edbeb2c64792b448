// The compiled binary as a speech engine, with its embedded WebAssembly: every format, and a word without an entry.

import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { SPEECH_FORMATS } from "../../src/domain/speech.ts";
import { SpeechEngine } from "../../src/engine/speech/speech-engine.ts";
import { withSandbox } from "../support/binary.ts";
import { compiledLaunch } from "../support/launch.ts";

setDefaultTimeout(120_000);

const voice = join(import.meta.dir, "../../vendor/.build/speech/current");
const isBuilt = existsSync(voice);
if (!isBuilt) console.log("skipped: the voice was not built");

test.skipIf(!isBuilt)("a sentence is spoken in every format", () =>
  withSandbox(async () => {
    const engine = new SpeechEngine({
      engine: { source: { type: "heart", folder: voice } },
      model: { id: "hibari", created: 0, origin: "model", voices: async () => [] },
      launch: compiledLaunch(),
      idleMs: 0,
    });
    try {
      for (const format of SPEECH_FORMATS) {
        const work = { text: format === "pcm" ? "Hello xyzzy world." : "Hi.", voice: "heart", speed: 1, format };
        let bytes = 0;
        for await (const event of engine.run({ work }, new AbortController().signal)) {
          if (event.type === "audio") bytes += event.bytes.length;
        }
        expect([format, bytes > 1000]).toEqual([format, true]);
      }
    } finally {
      await engine.stop();
    }
  }),
);
