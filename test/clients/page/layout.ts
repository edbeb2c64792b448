// Checks of what fits where: long names, small screens, tables, and text from right to left.

import type { Browser, Page } from "puppeteer-core";
import { check, equal, ok, same } from "../checks.ts";
import { answered, choose, openTab, say, shot, until } from "./browser.ts";

/** Returns what is outside of the window, or covers its neighbour, among the elements that `selector` matches. */
const misplaced = (page: Page, selector: string) =>
  page.$$eval(selector, (all) => {
    const boxes = all.map((one) => one.getBoundingClientRect()).filter(({ width }) => width > 0);
    return boxes
      .filter(({ left, right }, at) => left < 0 || right > innerWidth || left < (boxes[at - 1]?.right ?? 0) - 1)
      .map(({ left, right }) => [left, right]);
  });

const style = (page: Page, selector: string, name: "direction" | "textAlign") =>
  page.$eval(selector, (one, property) => getComputedStyle(one)[property], name);

export async function checkLayout(browser: Browser, url: string): Promise<void> {
  const { page } = await openTab(browser, url);
  await page.goto(url);
  await page.waitForSelector(".suggestions button:enabled");
  await choose(page, "script/script");
  await say(page, "everything");
  await answered(page);

  await check("the columns of a table are aligned as it says", async () => {
    equal(await style(page, "td:nth-child(2)", "textAlign"), "start");
    ok((await style(page, "td:nth-child(3)", "textAlign")).endsWith("right"), "the numbers are not at the right");
  });
  await check("long lines of code are scrolled within their frame, with the keyboard, too", async () => {
    await page.focus(".code pre");
    await page.keyboard.press("ArrowRight");
    await until(page, `document.querySelector(".code pre").scrollLeft > 0`);
    await shot(page, "code");
  });
  await check("on a touch screen, everything that is pressed is large enough for a finger", async () => {
    await page.setViewport({ width: 360, height: 740, isMobile: true, hasTouch: true });
    await page.waitForSelector(".markdown table");
    const small = await page.$$eval(":is(button, summary)", (all) =>
      all
        .map((one) => [one.ariaLabel, one.getBoundingClientRect()] as const)
        .filter(([, { width, height }]) => width > 0 && Math.min(width, height) < 40)
        .map(([name, { width, height }]) => `${name}: ${width} × ${height}`),
    );
    same(small, []);
    await page.setViewport({ width: 1280, height: 820 });
    await page.waitForSelector(".markdown table");
  });
  await check("long names of models leave room for what is beside and below them", async () => {
    await choose(page, "script/an-organisation");
    for (const width of [320, 360, 412, 700, 900, 1280]) {
      await page.setViewport({ width, height: 740 });
      same(await misplaced(page, ".top > :is(.icon-button, .menu)"), []);
      same(
        await page.$$eval(".top .icon-button", (all) =>
          all.map((one) => one.getBoundingClientRect().width).filter((wide) => wide !== 0 && wide !== 40),
        ),
        [],
      );
      await page.click(".picker");
      await page.waitForSelector(".choice");
      same(await misplaced(page, ".top .panel:not([hidden])"), []);
      await shot(page, `models-${width}`);
      await page.keyboard.press("Escape");
    }
    await page.setViewport({ width: 360, height: 740 });
    const [height = 0, shown = 0] = await page.$eval("#message", (one) => [one.scrollHeight, one.clientHeight]);
    ok(height <= shown && height < 50, `the placeholder needs ${height} of ${shown} pixels`);
    await shot(page, "long-name");
    await page.setViewport({ width: 1280, height: 820 });
  });
  await check("the charts fill their rows on every screen", async () => {
    await page.click('.places a[href="#watch"]');
    await page.waitForSelector(".watch .chart");
    for (const width of [360, 412, 768, 1280, 1920]) {
      await page.setViewport({ width, height: 740 });
      const short = await page.$eval(".charts", (row) => {
        const boxes = [...row.children].map((one) => one.getBoundingClientRect());
        const { right } = row.getBoundingClientRect();
        const ends = boxes.filter(({ top }, at) => boxes[at + 1]?.top !== top);
        return ends.map((end) => right - end.right).filter((gap) => Math.abs(gap) > 1);
      });
      same(short, []);
    }
    await page.setViewport({ width: 1280, height: 820 });
    await page.goBack();
    await page.waitForSelector("#message");
  });
  await check("text from right to left is laid out so, and code within is not", async () => {
    await page.click(".button.new");
    await page.waitForSelector(".suggestions button:enabled");
    await page.type("#message", "شرح");
    equal(await style(page, "#message", "direction"), "rtl");
    await page.keyboard.press("Enter");
    await answered(page, "Then in English.");
    for (const selector of [".bubble", ".markdown p", ".markdown ol", ".markdown blockquote", ".chats a"])
      equal(await style(page, selector, "direction"), "rtl");
    for (const selector of [".markdown p code", ".markdown pre", ".block:last-child p"])
      equal(await style(page, selector, "direction"), "ltr");
    await shot(page, "right-to-left");
  });
  await page.close();
}
