// Checks of what comes in through the clipboard and by dropping, and of what comes out as sound.

import type { Browser, Page } from "puppeteer-core";
import { check, equal, same } from "../checks.ts";
import { answered, choose, openTab, press, say, until } from "./browser.ts";

/** Pastes a picture with these texts beside it; returns whether the browser would insert a text, too. */
const paste = (page: Page, texts: Readonly<Record<string, string>>) =>
  page.evaluate((beside) => {
    const clipboardData = new DataTransfer();
    for (const [type, text] of Object.entries(beside)) clipboardData.setData(type, text);
    clipboardData.items.add(new File(["x"], "picture.png", { type: "image/png" }));
    const event = new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true });
    return document.querySelector("#message")?.dispatchEvent(event);
  }, texts);

const complaint = (page: Page) => page.$eval(".composer", (one) => one.querySelector(".error")?.textContent ?? "");

export async function checkFiles(browser: Browser, url: string): Promise<void> {
  const { page } = await openTab(browser, url);
  await page.goto(url);
  await page.waitForSelector(".suggestions button:enabled");
  await choose(page, "script/script");

  await check("of what an office program copies, the text is pasted, not its picture", async () => {
    equal(await paste(page, { "text/plain": "A table", "text/html": "<b>A table</b>" }), true);
    await Bun.sleep(100);
    equal(await complaint(page), "");
    // A file manager copies a file with its name.
    equal(await paste(page, { "text/plain": "picture.png" }), false);
    await until(
      page,
      `document.querySelector(".composer .error")?.innerText.startsWith("script/script takes no images.")`,
    );
  });
  await check("a file that is dropped where nothing takes it does not replace the page", async () => {
    await page.click('.places a[href="#watch"]');
    await page.waitForSelector(".watch");
    await Bun.sleep(100);
    const isDefault = await page.evaluate(() => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(["x"], "notes.txt", { type: "text/plain" }));
      return ["dragover", "drop"].map((type) =>
        document.body.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true })),
      );
    });
    same(isDefault, [false, false]);
    await page.goBack();
  });
  await check("only one answer speaks at a time", async () => {
    await choose(page, "script/script");
    await say(page, "one. ".repeat(40));
    await answered(page);
    await say(page, "two. ".repeat(40));
    await answered(page, "two");
    await press(page, "Read aloud", ".turn:nth-child(2)");
    await page.waitForSelector('.turn:nth-child(2) [aria-label="Stop reading"]', { timeout: 60_000 });
    await press(page, "Read aloud", ".turn:nth-child(4)");
    await page.waitForSelector('.turn:nth-child(4) [aria-label="Stop reading"]', { timeout: 60_000 });
    equal((await page.$$('[aria-label="Stop reading"]')).length, 1);
  });
  await check("a message waits for files that are still being read", async () => {
    const turns = async () => (await page.$$(".turn")).length;
    const before = await turns();
    await page.evaluate(() => {
      const { arrayBuffer } = Blob.prototype;
      Blob.prototype.arrayBuffer = async function () {
        Blob.prototype.arrayBuffer = arrayBuffer;
        await new Promise((resolve) => setTimeout(resolve, 2000));
        return arrayBuffer.call(this);
      };
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(["x"], "notes.txt", { type: "text/plain" }));
      document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
    });
    await page.waitForSelector('[aria-label="Reading files"]:disabled');
    await say(page, "three");
    equal(await turns(), before);
    await page.waitForSelector('.composer [aria-label="Send"]:enabled');
    await page.keyboard.press("Enter");
    await answered(page, "three");
    const asked = await page.$$eval(".turn", (all) => all.at(-2)?.innerText ?? "");
    equal(asked.includes("notes.txt"), true);
  });
  await page.close();
}
