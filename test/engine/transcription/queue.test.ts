// Many recordings that wait for their turns.

import { expect, test } from "bun:test";
import { SAMPLE_RATE } from "../../../src/audio/decode/sound-tools.ts";
import { start } from "./worker-rig.ts";

test("recordings of one client cost a few comparisons each, however many wait", async () => {
  const { worker, settle } = start({ parallel: 1 });
  const MANY = 200;
  let reads = 0;
  const sound = { format: { encoding: "ulaw", rate: SAMPLE_RATE }, bytes: new Uint8Array(SAMPLE_RATE) } as const;
  for (let key = 1; key <= MANY; key++) {
    worker.submit(key, {
      work: { translate: false, temperature: 0, words: false, language: "en", sound },
      get client() {
        reads++;
        return "a";
      },
    });
  }
  await settle();
  reads = 0;
  worker.step();
  expect(reads).toBeLessThan(20 * MANY);
});
