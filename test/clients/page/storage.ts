// Checks of how the page fares with a browser that stores no chats, or no more of them.

import type { Browser } from "puppeteer-core";
import { check } from "../checks.ts";
import { answered, choose, openTab, press, say, until } from "./browser.ts";

export async function checkStorage(browser: Browser, url: string): Promise<void> {
  await checkFullStorage(browser, url);
  await checkWithoutDatabase(browser, url);
}

/** In a context of its own: for a while, Chromium remembers how much room an origin has. */
async function checkFullStorage(browser: Browser, url: string): Promise<void> {
  const context = await browser.createBrowserContext();
  const { page } = await openTab(context, url);
  const devtools = await page.createCDPSession();
  const room = (limit?: { readonly quotaSize: number }) =>
    devtools.send("Storage.overrideQuotaForOrigin", { origin: url, ...limit });
  const told = `(document.querySelector(".composer .error")?.innerText ?? "")`;
  const shows = (text: string) => until(page, `document.querySelector(".thread").innerText.includes("${text}")`);
  await page.goto(url);
  await page.waitForSelector(".suggestions button:enabled");
  await choose(page, "script/script");

  await check("a chat that the browser has no room for stays in this tab until there is room", async () => {
    await room({ quotaSize: 1 });
    await say(page, "No room for this");
    await answered(page, "You said: No room for this");
    await until(page, `${told}.startsWith("The browser has no room for this chat")`);
    await page.click(".button.new");
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
    await until(page, `document.querySelector(".sidebar").innerText.includes("This window keeps no chats.")`);
    await press(page, "Settings", ".top");
    await until(page, `document.querySelector("dialog").innerText.includes("This window keeps no chats:")`);
    await until(
      page,
      `[...document.querySelectorAll("dialog button")].some((b) => b.innerText.trim() === "Import" && b.disabled)`,
    );
    await page.keyboard.press("Escape");
  });
  await page.close();
}
