// Checks of recordings that are dropped onto a chat.

import { readFileSync } from "node:fs";
import type { Browser, Page } from "puppeteer-core";
import { check, ok } from "../checks.ts";
import { JFK, JFK_WORDS, saidIn } from "../sounds.ts";
import { answered, choose, openTab, say, shot, until } from "./browser.ts";

/** Drops a sound file with this name onto the page. */
export const dropSound = (page: Page, name: string): Promise<void> =>
  page.evaluate(
    (fileName, content) => {
      const dataTransfer = new DataTransfer();
      const bytes = Uint8Array.from(atob(content), (one) => one.charCodeAt(0));
      dataTransfer.items.add(new File([bytes], fileName, { type: "audio/wav" }));
      for (const type of ["dragover", "drop"]) {
        document.body.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
      }
    },
    name,
    readFileSync(JFK, "base64"),
  );

/** For a server with `--transcribe-input`. */
export async function checkSounds(browser: Browser, url: string): Promise<void> {
  const { page } = await openTab(browser, url);
  await page.goto(url);
  await page.waitForSelector(".suggestions button:enabled");
  await choose(page, "svc-mini");
  await check("the words of a recording that is dropped are read for a model that does not hear", async () => {
    await dropSound(page, "speech.wav");
    await until(page, `document.querySelector(".composer .attachments audio")?.duration > 10`);
    await say(page, "What is said there?");
    await answered(page, "Read from speech.wav", 60_000);
    await page.click(".answer summary");
    const text = await until<string>(page, `document.querySelector(".answer details[open] pre")?.innerText`);
    ok(saidIn(text, JFK_WORDS), text);
    await shot(page, "sound");
  });
  await page.close();
}
