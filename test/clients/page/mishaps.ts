// What goes wrong between people, models and servers, and what the page makes of it.

import type { Page } from "puppeteer-core";
import { check, equal, same } from "../checks.ts";
import { answered, choose, press, say, shot, until } from "./browser.ts";

/** Runs in the page: stores ten chats whose second message no version of the page would have stored. */
async function storeBroken(): Promise<void> {
  const turns = {
    a: { id: "a", parent: null, role: "user", text: "A good question", createdAt: 1 },
    b: { id: "b", parent: "a", role: "assistant", text: "A", createdAt: 2, stats: { tokensPerSecond: "fast" } },
    c: { id: "c", parent: "b", role: "user", text: "Another question", createdAt: 3 },
  };
  const conversation = { title: "Broken", createdAt: 1, updatedAt: 3, turns, leaf: "c", settings: {} };
  const opened = await new Promise<IDBDatabase>((resolve) => {
    const request = indexedDB.open("svc", 1);
    request.addEventListener("success", () => resolve(request.result));
  });
  const writing = opened.transaction("conversations", "readwrite");
  for (let id = 0; id < 10; id++) writing.objectStore("conversations").put({ ...conversation, id: `broken${id}` });
  await new Promise((resolve) => writing.addEventListener("complete", resolve));
  opened.close();
}

/** Replaces the text of a field. */
async function retype(page: Page, field: string, text: string): Promise<void> {
  await page.focus(field);
  await page.keyboard.down("Control");
  await page.keyboard.press("a");
  await page.keyboard.up("Control");
  await page.keyboard.press("Backspace");
  await page.type(field, text);
}

/** Checks a page of a server that also has the scripted model. */
export async function checkMishaps(page: Page, url: string): Promise<void> {
  await check("an answer that nests thousands deep leaves the page usable", async () => {
    await page.click(".button.new");
    await choose(page, "script/script");
    await say(page, "degenerate");
    await answered(page, ">>>>");
    await say(page, "hello");
    await answered(page, "You said: hello");
  });
  await check("a list of models that cannot be read again leaves the models that are known", async () => {
    await page.evaluate(() => {
      const known = globalThis.fetch;
      const failing = (input: string | URL | Request, init?: RequestInit) => {
        if (!String(input).endsWith("/v1/models")) return known(input, init);
        globalThis.fetch = known;
        return Promise.reject(new Error("There is no network."));
      };
      Object.assign(globalThis, { known, fetch: failing });
    });
    await say(page, "hello again");
    await answered(page, "You said: hello again");
    await until(page, "globalThis.fetch === globalThis.known");
    await page.click(".button.new");
    await until(page, `document.querySelector(".welcome")?.innerText.includes("How can I help?")`);
    equal((await page.$$(".suggestions button:enabled")).length, 4);
  });
  await check("code in a list or a quote has its language and a button that copies it", async () => {
    await say(page, "steps");
    await answered(page, "Quote it");
    const heads = await page.$$eval(".turn:last-child .code-head", (all) =>
      all.map(({ innerText }) => innerText.trim()),
    );
    same(heads, ["python", "text"]);
    await page.evaluate(() => {
      const writeText = (text: string) => Promise.resolve(void Object.assign(globalThis, { copied: text }));
      Object.defineProperty(navigator, "clipboard", { value: { writeText } });
    });
    await page.click(".turn:last-child [aria-label='Copy code']");
    await until(page, `globalThis.copied === "print(1)"`);
    await shot(page, "steps");
  });
  await check("what is being written waits in its chat while others and the other view are shown", async () => {
    const draft = `document.querySelector("#message")?.value`;
    const first = page.url();
    await page.type("#message", "half a");
    await page.click('.places a[href="#watch"]');
    await page.waitForSelector(".watch");
    await page.goBack();
    await until(page, `${draft} === "half a"`);
    await page.click(".button.new");
    await until(page, `${draft} === ""`);
    await page.type("#message", "another");
    await page.goto(first);
    await page.reload();
    await until(page, `${draft} === "half a"`);
    await page.type("#message", " sentence");
    await page.waitForSelector('.composer [aria-label="Send"]:enabled');
    await page.keyboard.press("Enter");
    await answered(page, "You said: half a sentence");
    await until(page, `${draft} === ""`);
    await page.click(".button.new");
    await until(page, `${draft} === "another"`);
    await page.focus("#message");
    await page.keyboard.press("End");
    for (const _ of "another") await page.keyboard.press("Backspace");
  });
  await check("an edited message and the result of a call wait in their chat, too", async () => {
    await say(page, "How is the weather?");
    await answered(page, '"unit": "celsius"');
    await press(page, "Edit", ".turn.user");
    await retype(page, ".editor textarea", "Another question");
    await page.type(".call textarea", "mild");
    await page.click('.places a[href="#watch"]');
    await page.waitForSelector(".watch");
    await page.goBack();
    const written = `[...document.querySelectorAll(".thread textarea")].map((one) => one.value).join()`;
    await until(page, `${written} === "Another question,mild"`);
    await page.reload();
    await until(page, `${written} === "Another question,mild"`);
    await press(page, "Send the result");
    await answered(page, "It is mild in Paris.");
    await press(page, "Send", ".editor");
    await answered(page, "You said: Another question");
    await until(page, `${written} === ""`);
    await page.click(".button.new");
  });
  await check("calls that are cut by Stop have no fields for results, and another message can follow", async () => {
    await say(page, "How is the weather? Tell me slowly.");
    await until(page, `document.querySelector(".turn:last-child .call")?.innerText.includes("Paris")`);
    await page.keyboard.press("Escape");
    await answered(page, "stopped");
    equal(await page.$(".turn:last-child .call textarea"), null);
    await say(page, "hello");
    await answered(page, "You said: hello");
    await page.click(".button.new");
  });
  await check("settings that are not accepted stay, and keep their dialog open until they are mended", async () => {
    const settings = `JSON.parse(localStorage.getItem("svc.settings") ?? "{}")`;
    await choose(page, "svc-mini");
    await press(page, "Settings", ".top");
    await page.type("dialog textarea.mono", "42");
    for (let tries = 0; tries < 3; tries++) await page.keyboard.press("Escape");
    await press(page, "Close", "dialog");
    await until(page, `document.querySelector("dialog small.error")?.innerText.includes("an object with a name")`);
    await retype(page, "dialog textarea.mono", '{"name": "look"}');
    await retype(page, 'dialog input[type="number"]', "9");
    await press(page, "Close", "dialog");
    await page.keyboard.press("Escape");
    equal(await page.$eval('dialog input[type="number"]', (input) => (input as HTMLInputElement).value), "9");
    await retype(page, 'dialog input[type="number"]', "0.9");
    await page.keyboard.press("Escape");
    await until(page, `!document.querySelector("dialog")`);
    await until(page, `${settings}.temperature === 0.9 && ${settings}.tools === '{"name": "look"}'`);
    // This model has no tools, but would get these.
    await choose(page, "script/script");
    await press(page, "Settings", ".top");
    for (const field of ["dialog textarea.mono", 'dialog input[type="number"]']) await retype(page, field, "");
    await press(page, "Close", "dialog");
    await until(page, `!document.querySelector("dialog") && !("tools" in ${settings})`);
  });
  await check("a message that cannot be shown does not take the others with it", async () => {
    await page.evaluate(storeBroken);
    await page.goto(`${url}/#chat/broken0`);
    await until(page, `document.querySelector(".thread")?.innerText.includes("This message cannot be shown.")`);
    const shown = `document.querySelector(".thread")?.innerText`;
    await until(page, `${shown}.includes("A good question") && ${shown}.includes("Another question")`);
  });
  await check("an export that fails says why", async () => {
    await page.evaluate(() => {
      const { get } = IDBObjectStore.prototype;
      IDBObjectStore.prototype.get = () => {
        IDBObjectStore.prototype.get = get;
        throw new Error("The database cannot be read.");
      };
    });
    await press(page, "Settings", ".top");
    await press(page, "Export all", "dialog");
    await until(page, `document.querySelector("dialog")?.innerText.includes("The database cannot be read.")`);
    await page.keyboard.press("Escape");
  });
  await check("an export waits until the browser has room for its file, and says how many it saved", async () => {
    await page.evaluate(() => {
      const { text } = Blob.prototype;
      Blob.prototype.text = () => {
        Blob.prototype.text = text;
        Object.assign(globalThis, { waited: true });
        return Promise.reject(new Error("The file cannot be read."));
      };
    });
    await press(page, "Settings", ".top");
    await press(page, "Export all", "dialog");
    await until(page, `document.querySelector("dialog")?.innerText.includes("1 file saved.") && globalThis.waited`);
    await page.keyboard.press("Escape");
  });
  await check("a search that finds no chat says so", async () => {
    await page.reload();
    await page.waitForSelector(".chats [type=search]");
    await page.type(".chats [type=search]", "nothing like it");
    await until(page, `document.querySelector(".chats")?.innerText.includes("No chat has these words in its name.")`);
  });
  await check("Escape in the search empties it, and stops an answer only where it is empty", async () => {
    await say(page, "Something endless");
    await until(page, `document.querySelector(".answer")?.innerText.includes("word5")`);
    // Some browsers do not empty it themselves, as Chromium does not on a key that no person pressed.
    await page.evaluate(() => {
      const pressed = new KeyboardEvent("keydown", { key: "Escape", bubbles: true, cancelable: true });
      document.querySelector(".chats [type=search]")?.dispatchEvent(pressed);
    });
    await until(page, `document.querySelector(".chats [type=search]").value === ""`);
    await until(page, `document.querySelector('.turn:last-child[aria-busy="true"]')`);
    await page.focus(".chats [type=search]");
    await page.keyboard.press("Escape");
    await answered(page, "stopped");
  });
}
