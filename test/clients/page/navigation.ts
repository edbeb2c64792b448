// Checks of the page's address, the browser's Back, and keys that act on the shown chat.

import type { Browser, Page } from "puppeteer-core";
import { check, equal } from "../checks.ts";
import { answered, choose, openTab, press, say, until } from "./browser.ts";

const heading = (page: Page) => page.$eval("main h1", (one) => one.textContent ?? "");
const shows = (page: Page, title: string) =>
  until(page, `document.querySelector("main h1")?.textContent === ${JSON.stringify(title)}`);
const hash = (page: Page) => page.evaluate(() => location.hash);

/** Follows the link with this name in the list of chats. */
const open = (page: Page, title: string) =>
  page.evaluate((name) => {
    [...document.querySelectorAll<HTMLElement>(".side-column .chats a")].find((one) => one.innerText === name)?.click();
  }, title);

/** Begins a chat with this message, which becomes its title. */
async function chat(page: Page, message: string): Promise<void> {
  await page.click(".button.new");
  await shows(page, "New chat");
  await say(page, message);
  await answered(page);
}

export async function checkNavigation(browser: Browser, url: string): Promise<void> {
  const { page } = await openTab(browser, url);
  await page.goto(url);
  await page.waitForSelector(".suggestions button:enabled");
  await choose(page, "script/script");

  await check("the address, Back and Forward lead to the chat that is shown", async () => {
    await chat(page, "one");
    const one = await hash(page);
    await page.click(".button.new");
    await shows(page, "New chat");
    await page.goBack();
    await shows(page, "one");
    await page.goForward();
    await shows(page, "New chat");
    await page.click(".button.new");
    await until(page, `document.activeElement.id === "message"`);
    await open(page, "one");
    await shows(page, "one");
    await page.goBack();
    await shows(page, "New chat");
    equal(await hash(page), "#chat");
    await open(page, "one");
    await shows(page, "one");
    equal(await hash(page), one);
  });
  await check("the logo begins a chat, and from the other view leads back to the shown one", async () => {
    await page.click('.places a[href="#watch"]');
    await shows(page, "Watch");
    await page.click(".side-column .brand");
    await shows(page, "one");
    await page.click(".side-column .brand");
    await shows(page, "New chat");
    await open(page, "one");
    await shows(page, "one");
  });
  await check("a chat can be opened at the moment in which another begins", async () => {
    await page.evaluate(async () => {
      const link = document.querySelector<HTMLElement>(".chats a[aria-current]");
      const moved = new Promise((resolve) => addEventListener("hashchange", resolve, { once: true }));
      location.hash = "#chat";
      await moved;
      link?.click();
    });
    await Bun.sleep(200);
    await shows(page, "one");
  });
  await check("Back leads from a branch to the chat that it was made of", async () => {
    const one = await hash(page);
    await press(page, "Branch into a new chat");
    await shows(page, "one (branch)");
    await until(page, `location.hash.length > 5 && location.hash !== ${JSON.stringify(one)}`);
    await page.goBack();
    await shows(page, "one");
    equal(await hash(page), one);
  });
  await check("a chat that is deleted, also in another tab, takes its address along", async () => {
    const { page: other } = await openTab(browser, url);
    await other.goto(page.url());
    await shows(other, "one");
    await press(other, "This chat", ".top");
    await press(other, "Delete", ".top");
    await until(other, `location.hash === "#chat"`);
    await shows(other, "New chat");
    await other.close();
    await page.bringToFront();
    await shows(page, "New chat");
    await until(page, `location.hash === "#chat"`);
    await page.reload();
    await page.waitForSelector(".welcome h2");
  });
  equal(await heading(page), "New chat");
  await page.close();
}
