// Checks of what the keyboard reaches: where the focus is after an action, and what Enter and Escape do.

import type { Browser, Page } from "puppeteer-core";
import { check, equal } from "../checks.ts";
import { answered, choose, openTab, press, say, until } from "./browser.ts";

/** Names what has the focus, and the index of its turn. */
const focused = (page: Page) =>
  page.evaluate(() => {
    const { activeElement: one } = document;
    const turn = one?.closest(".turn");
    return `${one?.ariaLabel ?? one?.tagName} ${turn ? [...(turn.parentElement?.children ?? [])].indexOf(turn) : ""}`;
  });

/** Presses a button of a turn with the keyboard. */
async function enter(page: Page, name: string, turn = 1): Promise<void> {
  await page.focus(`.turn:nth-child(${turn + 1}) [aria-label="${name}"]`);
  await page.keyboard.press("Enter");
}

export async function checkFocus(browser: Browser, url: string): Promise<void> {
  const { page, wrong } = await openTab(browser, url);
  await page.goto(url);
  await page.waitForSelector(".suggestions button:enabled");

  await check("Enter chooses a model and closes the menu", async () => {
    await choose(page, "svc-mini");
    await page.click(".picker");
    await page.waitForSelector(".choice");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await until(page, `!document.querySelector(".choice")`);
    await Bun.sleep(100);
    equal(await page.$(".choice"), null);
    equal(await focused(page), "Model: script/script ");
  });
  await check("the focus stays in the turn whose buttons were used", async () => {
    await choose(page, "script/script");
    await say(page, "one");
    await answered(page);
    await enter(page, "Regenerate");
    await answered(page, "2/2");
    equal(await focused(page), "script/script 1");
    await enter(page, "Regenerate");
    await answered(page, "3/3");
    await enter(page, "Previous version");
    await answered(page, "2/3");
    equal(await focused(page), "Previous version 1");
    await page.keyboard.press("Enter");
    await answered(page, "1/3");
    equal(await focused(page), "Next version 1");
  });
  await check("the focus stays in the turn that was edited, whichever way that ends", async () => {
    await enter(page, "Edit", 0);
    await page.waitForSelector(".editor textarea");
    await page.keyboard.press("Escape");
    await page.waitForSelector(".turn.user");
    equal(await focused(page), "Edit 0");
    await page.keyboard.press("Enter");
    await page.waitForSelector(".editor textarea");
    await page.keyboard.type("Not ");
    await page.keyboard.down("Control");
    await page.keyboard.press("Enter");
    await page.keyboard.up("Control");
    await answered(page, "Not one");
    equal(await focused(page), "Edit 0");
  });
  await check("an edit that is shown again leaves the focus where it is", async () => {
    await say(page, "two");
    await answered(page, "You said: two");
    await enter(page, "Edit", 2);
    await page.waitForSelector(".editor textarea");
    equal(await focused(page), "Text 2");
    await enter(page, "Previous version", 0);
    await until(page, `!document.querySelector(".editor")`);
    await enter(page, "Next version", 0);
    await page.waitForSelector(".editor textarea");
    equal(await focused(page), "Previous version 0");
    await press(page, "Cancel", ".editor");
  });
  await check("the focus stays in the answer whose calls were answered", async () => {
    await page.click(".button.new");
    await say(page, "How is the weather?");
    await answered(page, '"unit": "celsius"');
    await page.type(".call textarea", "mild");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await answered(page, "It is mild in Paris.");
    equal(await focused(page), "script/script 1");
  });
  await check("copying works over plain HTTP, and says so where the browser refuses it", async () => {
    await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: undefined, configurable: true }));
    await enter(page, "Copy");
    await page.waitForSelector('[aria-label="Copied"]');
    equal(await focused(page), "Copied 1");
    await page.evaluate(() => {
      const value = { writeText: () => Promise.reject(new Error("no")) };
      Object.defineProperty(navigator, "clipboard", { value, configurable: true });
    });
    await press(page, "Copy");
    await until(page, `document.querySelector("[role=alert]")?.innerText === "The browser does not allow copying."`);
  });
  await check("Enter sends, unless it confirms a word of an input method", async () => {
    await page.type("#message", "two");
    // In Safari, the composition has ended before its last key is reported.
    for (const how of [{ isComposing: true }, { keyCode: 229 }]) {
      await page.evaluate((init) => {
        const pressed = new KeyboardEvent("keydown", { key: "Enter", bubbles: true, ...init });
        document.querySelector("#message")?.dispatchEvent(pressed);
      }, how);
    }
    equal(await page.$eval("#message", (one) => (one as HTMLTextAreaElement).value), "two");
    await page.keyboard.press("Enter");
    await answered(page, "You said: two");
  });
  await check("an older answer cannot be regenerated while another is written", async () => {
    const again = () => page.$eval('[aria-label="Regenerate"]', (one) => (one as HTMLButtonElement).disabled);
    equal(await again(), false);
    await say(page, "Something endless");
    await until(page, `document.querySelector(".turn:last-child")?.innerText.includes("word5")`);
    equal(await again(), true);
    await page.keyboard.press("Escape");
    await answered(page, "stopped");
  });
  await check("Escape stops an answer that is seen, unless it ends an input method's composition", async () => {
    await say(page, "Something endless");
    await until(page, `document.querySelector(".turn:last-child")?.innerText.includes("word5")`);
    await page.evaluate(() => {
      for (const how of [{ isComposing: true }, { keyCode: 229 }]) {
        const pressed = new KeyboardEvent("keydown", { key: "Escape", bubbles: true, ...how });
        document.querySelector("#message")?.dispatchEvent(pressed);
      }
    });
    await page.click('.places a[href="#watch"]');
    await page.waitForSelector(".watch");
    await page.keyboard.press("Escape");
    await page.goBack();
    await until(page, `document.querySelector('.turn:last-child[aria-busy="true"]')`);
    await page.keyboard.press("Escape");
    await answered(page, "stopped");
  });
  await check(
    "in Watch, the focus stays on a request's button while one above ends, and a button cancels its row",
    async () => {
      const begin = (id: string) =>
        page.evaluate(async (name) => {
          const headers = { "Content-Type": "application/json", "X-Request-Id": name };
          const messages = [{ role: "user", content: "Something endless" }];
          const body = JSON.stringify({ model: "script/script", stream: true, messages });
          await fetch("/v1/chat/completions", { method: "POST", headers, body });
        }, id);
      /** Whether each running request has a button. */
      const buttons = (wanted: readonly boolean[]) =>
        until(
          page,
          `[...document.querySelectorAll('[aria-label="Running requests"] tbody tr')].map((row) => row.querySelector("button") !== null).join() === "${wanted.join()}"`,
        );
      for (const id of ["first", "twin", "twin"]) await begin(id);
      await page.click('.places a[href="#watch"]');
      await buttons([true, false, true]);
      await page.focus(".watch tr:last-child button.danger");
      await page.evaluate(() => fetch("/v1/chat/completions/first/cancel", { method: "POST" }).then(() => {}));
      await buttons([false, true]);
      equal(await focused(page), "BUTTON ");
      await page.keyboard.press("Enter");
      await buttons([true]);
      await press(page, "Cancel", ".watch");
      await buttons([]);
      await page.goBack();
    },
  );
  equal(wrong.join(), "");
  await page.close();
}
