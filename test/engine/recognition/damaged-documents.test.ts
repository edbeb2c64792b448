// Files with a few wrong bytes: each is read, or refused as the client's, and none holds the next one up.

import { expect, setDefaultTimeout, spyOn, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SvcError } from "../../../src/domain/errors.ts";
import { Documents } from "../../../src/engine/recognition/child/documents.ts";
import { dice, pick } from "../../support/dice.ts";
import { sharedFolder } from "../../support/folders.ts";
import { drawn, pdfOf, pngOf } from "../../support/pages.ts";

setDefaultTimeout(600_000);

/** `npm run test:fuzz` tries more. */
const ROUNDS = Number(process.env["FUZZ_CASES"] ?? 80);
const folder = sharedFolder();
const pictures = join(import.meta.dir, "../../fixtures/pictures");

test("a few wrong bytes are never more than a refusal", async () => {
  const roll = dice(11);
  const whole: readonly [Uint8Array, ...Uint8Array[]] = [
    pdfOf([{ lines: ["Hello"] }, { lines: ["World"] }]),
    await pngOf(await drawn({ lines: ["a"], paper: [60, 40] })),
    ...readdirSync(pictures).map((name) => readFileSync(join(pictures, name))),
  ];
  const documents = new Documents();
  const path = join(folder, "damaged");
  let [read, refused] = [0, 0];
  using log = spyOn(console, "log");
  for (let id = 1; id <= ROUNDS; id++) {
    const content = new Uint8Array(pick(roll, whole));
    for (let left = 1 + roll(6); left > 0; left--) {
      // Heads say more than what follows them.
      const among = roll(2) === 0 ? Math.min(200, content.length) : content.length;
      content[roll(among)] = roll(256);
    }
    writeFileSync(path, content);
    const file = { id, path, field: "file" };
    try {
      const pages = await documents.count(file);
      for (let number = 1; number <= Math.min(pages, 3); number++) {
        await documents.read(file, number, async (page) => void (await page.picture(72)));
      }
      read++;
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      expect(["unprocessable_media", "unsupported_media_input"]).toContain(error.code);
      expect(error.details.param).toBe("file");
      refused++;
    }
  }
  expect(Math.min(read, refused)).toBeGreaterThan(ROUNDS / 10);
  // Decoders keep what they think of it to themselves.
  expect(log).not.toHaveBeenCalled();
});
