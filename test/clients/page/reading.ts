// Checks of where the conversation is scrolled to, and of where the focus is, while one reads.

import type { Browser, Page } from "puppeteer-core";
import { check, equal, ok } from "../checks.ts";
import { answered, choose, openTab, press, say, until } from "./browser.ts";

/** Distances of the view from the start and the end of the conversation, in pixels. */
const where = (page: Page) =>
  page.$eval(".thread", ({ scrollTop, scrollHeight, clientHeight }) => ({
    top: scrollTop,
    toEnd: scrollHeight - scrollTop - clientHeight,
  }));

/** Resolves once the answer has grown by lines. */
async function grown(page: Page): Promise<void> {
  const height = await page.$eval(".thread", ({ scrollHeight }) => scrollHeight);
  await until(page, `document.querySelector(".thread").scrollHeight > ${height + 40}`);
  await Bun.sleep(50);
}

export async function checkReading(browser: Browser, url: string): Promise<void> {
  const { page } = await openTab(browser, url);
  await page.setViewport({ width: 700, height: 500 });
  await page.goto(url);
  await page.waitForSelector(".suggestions button:enabled");
  await choose(page, "script/script");
  await say(page, "everything");
  await answered(page);

  await check("the view follows an answer until one scrolls up, and again from the end on", async () => {
    await say(page, "Something endless");
    await until(page, `document.querySelector(".turn:last-child")?.innerText.includes("word5")`);
    await grown(page);
    ok((await where(page)).toEnd <= 1, "the view did not follow");
    await page.mouse.move(350, 200);
    await page.mouse.wheel({ deltaY: -30 });
    await Bun.sleep(400);
    const { top } = await where(page);
    await grown(page);
    equal((await where(page)).top, top);
    await press(page, "To the newest message", ".thread-frame");
    await grown(page);
    ok((await where(page)).toEnd <= 1, "the button did not make it follow");
    await page.focus(".thread");
    await page.keyboard.press("ArrowUp");
    await Bun.sleep(400);
    const raised = (await where(page)).top;
    await grown(page);
    equal((await where(page)).top, raised);
    await page.keyboard.press("End");
    await Bun.sleep(500);
    await grown(page);
    ok((await where(page)).toEnd <= 1, "the end of the view did not make it follow");
    await page.keyboard.press("Escape");
    await answered(page, "stopped");
  });
  await check("an editor that opens in a chat that just fits is seen from its top", async () => {
    const { page: other } = await openTab(browser, url);
    try {
      await other.setViewport({ width: 700, height: 2000 });
      await other.goto(url);
      await choose(other, "script/script");
      await say(other, "everything");
      await answered(other);
      const spare = await other.$eval(".thread", (thread) => {
        const last = thread.querySelector(".turn:last-child");
        return thread.getBoundingClientRect().bottom - (last?.getBoundingClientRect().bottom ?? 0) - 32;
      });
      await other.setViewport({ width: 700, height: Math.ceil(2000 - spare) });
      await Bun.sleep(300);
      await press(other, "Edit", ".turn.user");
      await other.waitForSelector(".editor textarea");
      await Bun.sleep(300);
      ok(await other.$eval(".editor", (one) => one.getBoundingClientRect().top >= 56), "its top is covered");
    } finally {
      await other.close();
      await page.bringToFront();
    }
  });
  await check("another version of a turn is shown where that turn is", async () => {
    await press(page, "Edit", ".turn:first-child");
    await page.waitForSelector(".editor textarea");
    await page.keyboard.type("Again ");
    await press(page, "Send", ".editor");
    await answered(page);
    await page.$eval(".thread", (one) => one.scrollTo({ top: 0 }));
    await press(page, "Previous version", ".turn:first-child");
    await until(page, `document.querySelectorAll(".turn").length === 4`);
    await Bun.sleep(300);
    equal((await where(page)).top, 0);
  });
  await check("a short chat, begun where the suggestions need scrolling, has no button to its end", async () => {
    await page.evaluate(() => (location.hash = "#chat"));
    await page.waitForSelector(".suggestions button:enabled");
    await Bun.sleep(300);
    await say(page, "one");
    await answered(page, "You said: one");
    await Bun.sleep(300);
    ok((await where(page)).toEnd <= 1, "the chat needs scrolling");
    equal(await page.$(".to-end"), null);
  });
  await check("a new chat begins at its top, also on a small screen, with nothing over it", async () => {
    await page.setViewport({ width: 360, height: 640 });
    await page.evaluate(() => (location.hash = "#chat"));
    await page.waitForSelector(".suggestions button:enabled");
    await Bun.sleep(300);
    equal((await where(page)).top, 0);
    equal(await page.$(".to-end"), null);
    await page.reload();
    await page.waitForSelector(".suggestions button:enabled");
    await Bun.sleep(300);
    equal((await where(page)).top, 0);
    equal(await page.$(".to-end"), null);
  });
  await page.close();
}
