// Checks of what is stored of an answer that is interrupted, and of a browser that stores no chats, or no more of them.

import type { Browser, Page } from "puppeteer-core";
import { check } from "../checks.ts";
import { answered, choose, openTab, press, say, until } from "./browser.ts";

export async function checkStorage(browser: Browser, url: string): Promise<void> {
  await checkInterruptions(browser, url);
  await checkFullStorage(browser, url);
  await checkWithoutDatabase(browser, url);
}

async function checkInterruptions(browser: Browser, url: string): Promise<void> {
  const { page } = await openTab(browser, url);
  await page.goto(url);
  await page.waitForSelector(".suggestions button:enabled");
  await choose(page, "script/script");
  /** Begins an answer in a chat with large files, which is stored rarely. */
  const begin = async () => {
    await page.click(".button.new");
    await until(page, `document.querySelector(".welcome") && document.activeElement.id === "message"`);
    await page.evaluate(() => {
      const dataTransfer = new DataTransfer();
      for (const name of ["a.txt", "b.txt", "c.txt"]) dataTransfer.items.add(new File(["x".repeat(400_000)], name));
      document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
    });
    await until(page, `document.querySelectorAll(".composer .attachments li").length === 3`);
    await until(page, `!document.querySelector('[aria-label="Reading files"]')`);
    await say(page, "Something endless");
    await until(page, `document.querySelector(".answer")?.innerText.includes("word60")`);
  };
  const shows = (one: Page) =>
    until(one, `document.querySelector(".turn:last-child.answer")?.innerText.includes("word50")`, 8000);

  await check("a reload loses no more than the last words of an answer, also in a chat with large files", async () => {
    await begin();
    await page.reload();
    await shows(page);
  });
  await check("a tab that is hidden stores what it has of an answer", async () => {
    await begin();
    const { page: other } = await openTab(browser, url);
    await other.goto(page.url());
    await shows(other);
    await other.close();
    await page.bringToFront();
    await page.keyboard.press("Escape");
    await answered(page, "stopped");
  });
  await page.close();
}

/** In a context of its own: for a while, Chromium remembers how much room an origin has. */
async function checkFullStorage(browser: Browser, url: string): Promise<void> {
  const context = await browser.createBrowserContext();
  const { page } = await openTab(context, url);
  const devtools = await page.createCDPSession();
  const room = (limit?: { readonly quotaSize: number }) =>
    devtools.send("Storage.overrideQuotaForOrigin", { origin: url, ...limit });
  const told = `(document.querySelector(".composer .error")?.innerText ?? "")`;
  const shows = (text: string) => until(page, `document.querySelector(".thread")?.innerText.includes("${text}")`);
  await page.goto(url);
  await page.waitForSelector(".suggestions button:enabled");
  await choose(page, "script/script");

  await check("a chat that the browser has no room for stays in this tab until there is room", async () => {
    await room({ quotaSize: 1 });
    await say(page, "No room for this");
    await answered(page, "You said: No room for this");
    await until(page, `${told}.startsWith("The browser has no room for this chat")`);
    await page.click(".button.new");
    await page.waitForSelector(".suggestions button:enabled");
    await until(page, `${told} === ""`);
    await page.click(".side-column .chats a");
    await shows("You said: No room for this");
    await until(page, `${told}.startsWith("The browser has no room for this chat")`);
    await room();
    await say(page, "Now there is");
    await answered(page, "You said: Now there is");
    await until(page, `${told} === ""`);
    await page.reload();
    await shows("You said: Now there is");
  });
  await check("after the browser's data of the page are deleted, chats are stored again", async () => {
    const erased = [
      () => devtools.send("Storage.clearDataForOrigin", { origin: url, storageTypes: "indexeddb" }),
      () =>
        page.evaluate(async () => {
          const deleting = indexedDB.deleteDatabase("svc");
          await new Promise((resolve) => deleting.addEventListener("success", resolve));
        }),
    ];
    for (const [at, erase] of erased.entries()) {
      await erase();
      await say(page, `Still here ${at}?`);
      await answered(page, `You said: Still here ${at}?`);
      await Bun.sleep(200);
      await page.reload();
      await shows(`You said: Still here ${at}?`);
    }
  });
  await context.close();
}

async function checkWithoutDatabase(browser: Browser, url: string): Promise<void> {
  const { page } = await openTab(browser, url);
  await check("a window without a database says that it keeps no chats", async () => {
    await page.evaluateOnNewDocument(() => Reflect.deleteProperty(globalThis, "indexedDB"));
    await page.goto(url);
    await until(page, `document.querySelector(".sidebar")?.innerText.includes("This window keeps no chats.")`);
    await press(page, "Settings", ".top");
    await until(page, `document.querySelector("dialog")?.innerText.includes("This window keeps no chats:")`);
    await until(
      page,
      `[...document.querySelectorAll("dialog button")].some((b) => b.innerText.trim() === "Import" && b.disabled)`,
    );
    await page.keyboard.press("Escape");
  });
  await page.close();
}
