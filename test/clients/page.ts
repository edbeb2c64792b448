// The web page in Chromium, used as people do, with an svc of its own (from source, or the command after two dashes)
// that serves svc-mini, the usual engines and a scripted model: chats, stops, regenerates, edits, reloads, exports,
// draws, speaks, watches. `CHROMIUM` names the browser; without one it checks nothing, which in CI is a failure.
// `SHOTS=folder` keeps screenshots.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { HTTPRequest, Page } from "puppeteer-core";
import { PROGRAM, withServer } from "../support/server.ts";
import { check, equal, ok, same, summary } from "./checks.ts";
import {
  answered,
  axeFindings,
  choose,
  openBrowser,
  openTab,
  press,
  say,
  scheme,
  shot,
  until,
} from "./page/browser.ts";
import { checkFiles } from "./page/files.ts";
import { checkFocus } from "./page/focus.ts";
import { checkLayout } from "./page/layout.ts";
import { checkMishaps } from "./page/mishaps.ts";
import { checkNavigation } from "./page/navigation.ts";
import { checkPictures } from "./page/pictures.ts";
import { checkReading } from "./page/reading.ts";
import { scriptedModel } from "./page/scripted-model.ts";
import { checkSounds } from "./page/sounds.ts";
import { checkStorage } from "./page/storage.ts";
import { chromium, withoutChromium } from "./pages.ts";

const KEY = "a-key-of-the-page-test";

const browserPath = chromium();
const command = process.argv.length > 2 ? process.argv.slice(2) : PROGRAM;

/** Runs in the page: drops a picture of a word onto it. */
async function dropPicture(): Promise<void> {
  const canvas = new OffscreenCanvas(420, 120);
  const ink = canvas.getContext("2d");
  if (!ink) throw new Error("no canvas");
  ink.fillStyle = "white";
  ink.fillRect(0, 0, 420, 120);
  ink.fillStyle = "black";
  ink.font = "48px sans-serif";
  ink.fillText("Invoice 4711", 40, 78);
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([await canvas.convertToBlob()], "invoice.png", { type: "image/png" }));
  for (const type of ["dragover", "drop"]) {
    document.body.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
  }
}

/** Asserts that axe finds nothing, in light and dark mode. */
async function isAccessible(page: Page, name: string): Promise<void> {
  for (const colours of ["light", "dark"] as const) {
    await scheme(page, colours);
    await Bun.sleep(200);
    same(await axeFindings(page), []);
    await shot(page, `${name}-${colours}`);
  }
  await scheme(page, "light");
}

async function checkPage(url: string, executable: string): Promise<void> {
  const browser = await openBrowser(executable);
  const { page, wrong } = await openTab(browser, url);
  const downloads = mkdtempSync(join(tmpdir(), "svc-page-"));
  const session = await browser.target().createCDPSession();
  await session.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: downloads });
  const turns = () => page.$$eval(".turn", (all) => all.map((turn) => turn.innerText.split("\n")[0] ?? ""));
  const downloaded = async (ending: string) => {
    for (let tries = 0; tries < 100; tries++) {
      const name = readdirSync(downloads).find((one) => one.endsWith(ending));
      // The browser makes the file before it writes it.
      const text = name && readFileSync(join(downloads, name), "utf8");
      if (text) return text;
      await Bun.sleep(50);
    }
    throw new Error(`no file that ends with ${ending} was saved`);
  };
  await check("the page opens without an error, and without its parts moving about", async () => {
    await page.evaluateOnNewDocument(() => {
      const shifts = { sum: 0 };
      Object.assign(globalThis, { shifts });
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) shifts.sum += (entry as unknown as { value: number }).value;
      }).observe({ type: "layout-shift", buffered: true });
    });
    await page.goto(url);
    await page.waitForSelector(".chips li");
    await Bun.sleep(300);
    const shifted = await page.evaluate(() => (globalThis as unknown as { shifts: { sum: number } }).shifts.sum);
    ok(shifted < 0.05, `layout shift ${shifted}`);
    await isAccessible(page, "empty");
  });
  await check("the embedded model can answer what the page suggests to it", async () => {
    const suggestions = await page.$$eval(".suggestions button", (all) => all.map((one) => one.innerText));
    equal(suggestions.length, 4);
    for (const content of suggestions) {
      const body = JSON.stringify({ messages: [{ role: "user", content }], temperature: 0 });
      const headers = { "Content-Type": "application/json" };
      const response = await fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body });
      const { choices } = (await response.json()) as { choices: { message: { content: string } }[] };
      const text = choices[0]?.message.content ?? "";
      ok(text.length > 10 && !text.includes("I don't know"), `${content} ${text}`);
    }
  });
  await check("an answer has its speed, and the context that is used is shown", async () => {
    await say(page, "What is the capital of France?");
    const text = await answered(page, "Paris");
    ok(/tokens\/s · \d+ tokens · first after/.test(text), text);
    await until(page, `/\\d+ of 4,096 tokens/.test(document.querySelector(".context")?.innerText)`);
  });
  await check("regenerating and editing make branches, between which one can go", async () => {
    await press(page, "Regenerate");
    await answered(page, "2/2");
    await press(page, "Edit", ".turn.user");
    await page.waitForSelector(".editor textarea");
    await page.keyboard.down("Control");
    await page.keyboard.press("a");
    await page.keyboard.up("Control");
    await page.keyboard.type("What is the capital of Italy?");
    await press(page, "Send", ".editor");
    await answered(page, "Rome");
    await press(page, "Previous version", ".turn.user");
    await until(page, `document.querySelector(".thread")?.innerText.includes("Paris")`);
    await press(page, "Next version", ".turn.user");
    await until(page, `document.querySelector(".thread")?.innerText.includes("Rome")`);
  });
  await check("what was said is there after a reload", async () => {
    const before = await turns();
    await page.reload();
    await until(page, `document.querySelector(".thread")?.innerText.includes("Rome")`);
    same(await turns(), before);
  });
  await check("what another tab says is shown in this one, and stored with what this one says", async () => {
    const before = await turns();
    const { page: other } = await openTab(browser, url);
    try {
      await other.goto(page.url());
      await until(other, `document.querySelector(".thread")?.innerText.includes("Rome")`);
      await say(other, "What is the capital of Spain?");
      await answered(other);
      // A tab in the background draws no frames, for which the check would wait.
      await page.bringToFront();
      await until(page, `document.querySelector(".thread")?.innerText.includes("Spain")`);
    } finally {
      await other.close();
      await page.bringToFront();
    }
    ok((await turns()).length > before.length, "no turn was added");
  });
  await check("Escape stops an answer, whose text so far stays; the server stops too", async () => {
    await page.click(".button.new");
    await choose(page, "script/script");
    await say(page, "Something endless");
    await until(page, `document.querySelector(".answer")?.innerText.includes("word20")`);
    await shot(page, "streaming");
    const { page: other } = await openTab(browser, url);
    try {
      await other.goto(page.url());
      await until(other, `document.querySelector(".answer .facts")?.innerText === "being written in another tab"`);
    } finally {
      await other.close();
      await page.bringToFront();
    }
    await page.keyboard.press("Escape");
    await answered(page, "stopped");
    await until(
      page,
      `fetch("/v1/requests").then((r) => r.json()).then(({ data }) => data.every((one) => one.state === "ended"))`,
    );
  });
  await check("thinking is folded away", async () => {
    await page.click(".button.new");
    await say(page, "think: 2 + 2");
    const text = await answered(page, "It is 4.");
    ok(/Thought for \d+ ms/.test(text), text);
    ok(!text.includes("Two and two"), "the reasoning is open");
    await page.click(".thinking summary");
    await until(page, `document.querySelector(".thinking")?.innerText.includes("Two and two are four.")`);
  });
  await check("calls of tools are shown, and their results go back to the model", async () => {
    await say(page, "How is the weather?");
    await answered(page, '"unit": "celsius"');
    await isAccessible(page, "tools");
    await page.type(".call textarea", "mild");
    await press(page, "Send the result");
    await answered(page, "It is mild in Paris.");
    await until(page, `document.querySelector("[aria-label=Result]")?.innerText.includes("Result of weather")`);
  });
  await check("Markdown is shown with its code", async () => {
    await page.click(".button.new");
    await say(page, "everything");
    await answered(page);
    same(await page.$$eval(".markdown table td", (cells) => cells.length), 6);
    ok((await page.$$(".hljs-keyword")).length > 2, "the code has no colours");
    await isAccessible(page, "markdown");
  });
  await check("nothing that a model writes runs, is loaded or hides the page", async () => {
    await page.click(".button.new");
    await say(page, "hostile");
    await answered(page);
    await Bun.sleep(300);
    equal(await page.title(), "hostile · svc");
    same(await page.$$eval(".markdown :is(img, script, iframe, style, svg:not(.icon))", (all) => all.length), 0);
    same(await page.$$eval(".markdown a", (links) => links.map((link) => link.getAttribute("href"))), [
      "https://example.com/leak?secret=1",
    ]);
  });
  await check("a chat is exported as Markdown and as JSON, which can be imported", async () => {
    await press(page, "This chat", ".top");
    await press(page, "Export as Markdown", ".top");
    const markdown = await downloaded(".md");
    ok(markdown.startsWith("# hostile\n\n## You\n\nhostile\n\n## Assistant (script/script)"), markdown.slice(0, 90));
    await press(page, "This chat", ".top");
    await press(page, "Export as JSON", ".top");
    const json = await downloaded(".json");
    equal((JSON.parse(json) as { format: string }).format, "svc-conversations");
    await press(page, "This chat", ".top");
    await press(page, "Delete", ".top");
    await until(page, `![...document.querySelectorAll(".chats a")].some((one) => one.innerText === "hostile")`);
    await press(page, "Settings", ".top");
    await isAccessible(page, "settings");
    const [chooser] = await Promise.all([page.waitForFileChooser(), press(page, "Import", "dialog")]);
    const [file = ""] = readdirSync(downloads).filter((name) => name.endsWith(".json"));
    await chooser.accept([join(downloads, file)]);
    await until(page, `[...document.querySelectorAll(".chats a")].some((one) => one.innerText === "hostile")`);
    await page.keyboard.press("Escape");
  });
  await check("settings go with the request", async () => {
    await page.click(".button.new");
    await press(page, "Settings", ".top");
    await page.type("dialog textarea", "Be brief.");
    await page.type('dialog input[type="number"]', "0.5");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Escape");
    const [request] = await Promise.all([
      page.waitForRequest((one) => one.url().endsWith("/v1/chat/completions")),
      say(page, "hello"),
    ]);
    const body = JSON.parse(request.postData() ?? "") as { temperature: number; messages: { content: string }[] };
    same([body.temperature, body.messages[0]?.content], [0.5, "Be brief."]);
    await answered(page);
  });
  await check("the text in a picture is read for a model that does not see", async () => {
    await page.click(".button.new");
    await choose(page, "svc-mini");
    await page.evaluate(dropPicture);
    await page.waitForSelector(".composer .attachments img");
    await say(page, "What is written there?");
    await answered(page, "Read from invoice.png", 60_000);
  });
  await check("an image model draws what is described", async () => {
    await page.click(".button.new");
    await choose(page, "svc-draw");
    await shot(page, "draw");
    await say(page, "a red circle above a blue square");
    await until(page, `document.querySelector(".answer[aria-busy=false] .made img")?.naturalWidth > 0`, 120_000);
    await shot(page, "drawn");
  });
  await check("an answer is read aloud", async () => {
    await page.click(".button.new");
    await choose(page, "svc-mini");
    await say(page, "What is the capital of France?");
    await answered(page);
    const [response] = await Promise.all([
      page.waitForResponse((one) => one.url().endsWith("/v1/audio/speech"), { timeout: 60_000 }),
      press(page, "Read aloud"),
    ]);
    equal(response.status(), 200);
    await page.waitForSelector('[aria-label="Stop reading"]');
  });
  await check("speech that is not there says why", async () => {
    const message = "Speech is not there: svc pull component:speech";
    const refuse = (request: HTTPRequest) =>
      request.url().endsWith("/v1/audio/speech")
        ? request.respond({
            status: 503,
            contentType: "application/json",
            body: JSON.stringify({ error: { message } }),
          })
        : request.continue();
    await page.setRequestInterception(true);
    page.on("request", refuse);
    await page.click('[aria-label="Stop reading"]').catch(() => undefined);
    await press(page, "Read aloud");
    await until(page, `document.querySelector(".answer .error")?.innerText === ${JSON.stringify(message)}`);
    page.off("request", refuse);
    await page.setRequestInterception(false);
    // Only the browser's own message about the failure.
    same(wrong.splice(0), ["Failed to load resource: the server responded with a status of 503 (Service Unavailable)"]);
  });
  await check("the other view watches engines, requests and levels, and cancels", async () => {
    await page.click(".button.new");
    await choose(page, "script/script");
    await say(page, "Something endless");
    await until(page, `document.querySelector(".answer")?.innerText.includes("word5")`);
    await page.click('.places a[href="#watch"]');
    await until(page, `document.querySelector(".watch tbody tr")?.innerText.includes("svc-mini")`);
    await press(page, "Cancel", ".watch");
    await until(page, `document.querySelector(".watch")?.innerText.includes("cancelled")`);
    await until(page, `document.querySelector(".chart .line").getAttribute("d").length > 20`);
    same(
      await page.$$eval(".table", (all) =>
        all.map((one) => one.scrollWidth - one.clientWidth).filter((over) => over > 0),
      ),
      [],
    );
    await isAccessible(page, "watch");
  });
  await check("a server that is gone is told as such where its state stood, until it is back", async () => {
    const told = `[...document.querySelectorAll(".watch section > p")].map((one) => one.innerText)`;
    await page.setOfflineMode(true);
    await until(
      page,
      `${told}.filter((text) => text === "The server cannot be reached. Check that svc runs.").length === 2`,
    );
    await isAccessible(page, "watch-gone");
    await page.setOfflineMode(false);
    await until(page, `document.querySelector(".watch tbody tr")?.innerText.includes("svc-mini")`);
    // Only the browser's own messages about the failures.
    same(
      wrong.splice(0).filter((text) => !text.includes("ERR_INTERNET_DISCONNECTED")),
      [],
    );
  });
  await check("on a phone everything is there", async () => {
    await page.setViewport({ width: 390, height: 800, isMobile: true, hasTouch: true, deviceScaleFactor: 2 });
    await page.goto(`${url}/#chat`);
    await page.reload();
    await page.waitForSelector(".welcome h2");
    await isAccessible(page, "phone-empty");
    await press(page, "Show chats", ".top");
    await page.waitForSelector(".drawer .chats a");
    await isAccessible(page, "phone-chats");
    await page.evaluate(() => {
      const chats = [...document.querySelectorAll<HTMLElement>(".drawer .chats a")];
      chats.find((one) => one.innerText === "everything")?.click();
    });
    await page.waitForSelector(".markdown table");
    const [seen, whole] = await page.evaluate(() => [innerWidth, document.documentElement.scrollWidth]);
    equal(whole, seen);
    await isAccessible(page, "phone-chat");
    // Enter alone begins a line there.
    await page.type("#message", "hello");
    await page.keyboard.down("Control");
    await page.keyboard.press("Enter");
    await page.keyboard.up("Control");
    await answered(page, "You said: hello");
    await page.goto(`${url}/#watch`);
    await page.waitForSelector(".watch tbody tr");
    await isAccessible(page, "phone-watch");
    // Loads the page again, since it is no phone any more.
    await page.setViewport({ width: 1280, height: 820 });
    await page.waitForSelector(".button.new");
  });
  await checkMishaps(page, url);
  await checkPictures(browser, url);
  await checkSounds(browser, url);
  await check("nothing went wrong meanwhile, and nothing was asked of anybody else", async () => same(wrong, []));
  await check("the API reference works without a network, and requests can be tried on it", async () => {
    const docs = await openTab(browser, url);
    await docs.page.goto(`${url}/docs`);
    const operation = await docs.page.waitForSelector("#operations-Server-get_health .opblock-summary-control", {
      timeout: 30_000,
    });
    await operation?.click();
    const execute = await docs.page.waitForSelector("#operations-Server-get_health .execute");
    await execute?.click();
    await until(
      docs.page,
      `document.querySelector("#operations-Server-get_health .live-responses-table")?.innerText.includes("healthy")`,
    );
    for (const colours of ["light", "dark"] as const) {
      await scheme(docs.page, colours);
      await docs.page.reload();
      await docs.page.waitForSelector("#operations-Server-get_health");
      // Its elements are Swagger UI's own.
      same(
        (await axeFindings(docs.page)).filter((text) => text.includes("color-contrast")),
        [],
      );
      await shot(docs.page, `docs-${colours}`);
    }
    // Warnings of the library about its own URLs.
    same(
      docs.wrong.filter((text) => !text.startsWith("Deprecated: escaping deep link")),
      [],
    );
    await docs.page.close();
  });
  await browser.close();
  rmSync(downloads, { recursive: true, force: true });
}

/** The page's conduct towards who reads, writes and finds their way. */
async function checkConduct(url: string, executable: string): Promise<void> {
  const browser = await openBrowser(executable);
  await checkNavigation(browser, url);
  await checkReading(browser, url);
  await checkLayout(browser, url);
  await checkFocus(browser, url);
  await checkFiles(browser, url);
  await checkStorage(browser, url);
  await browser.close();
}

async function checkKey(url: string, executable: string): Promise<void> {
  const browser = await openBrowser(executable);
  const { page } = await openTab(browser, url);
  await check("a server with API keys: the page asks for one, and keeps it in this tab alone", async () => {
    await page.goto(url);
    await page.waitForSelector("dialog input");
    same(await axeFindings(page), []);
    await shot(page, "key");
    await page.type("dialog input", "wrong");
    await page.keyboard.press("Enter");
    await until(page, `document.querySelector("dialog")?.innerText.includes("did not accept")`);
    await page.evaluate(() => (document.querySelector<HTMLInputElement>("dialog input")!.value = ""));
    await page.type("dialog input", KEY);
    await page.keyboard.press("Enter");
    await until(page, `document.querySelector(".picker")?.innerText.startsWith("svc-mini")`);
    await say(page, "What is the capital of France?");
    await answered(page, "Paris");
    const kept = await page.evaluate(
      (key) => [Object.values(sessionStorage), Object.values(localStorage)].map((all) => all.includes(key)),
      KEY,
    );
    same(kept, [true, false]);
  });
  await check("without a key, a stored chat says why it cannot go on, and asks again", async () => {
    // Another tab has no key.
    const { page: other } = await openTab(browser, url);
    await other.goto(page.url());
    await other.waitForSelector("dialog input");
    await other.keyboard.press("Escape");
    await until(other, `document.querySelector(".composer .error")?.innerText === "This server needs an API key."`);
    equal(await other.$eval(".picker", (one) => (one as HTMLElement).innerText.trim()), "No model");
    equal(await other.$eval('[aria-label="Regenerate"]', (one) => (one as HTMLButtonElement).disabled), true);
    await other.click(".picker");
    await until(other, `/API key/.test(document.querySelector(".panel .error")?.innerText)`);
    await isAccessible(other, "no-key");
    await press(other, "Try again", ".composer");
    await other.waitForSelector("dialog input");
    await other.keyboard.press("Escape");
    await other.click('.places a[href="#watch"]');
    await other.waitForSelector("dialog input");
    await other.keyboard.press("Escape");
    await press(other, "Try again", ".watch");
    await other.waitForSelector("dialog input");
    await other.close();
  });
  await browser.close();
}

if (browserPath) {
  console.log("The web page in Chromium");
  const script = scriptedModel();
  const upstream = ["--upstream", `script=http://127.0.0.1:${script.port}`];
  await withServer(
    [...upstream, "--ocr-input", "--transcribe-input"],
    ({ url }) => checkPage(url, browserPath),
    command,
  );
  await withServer(upstream, ({ url }) => checkConduct(url, browserPath), command);
  await withServer(["--api-key", KEY], ({ url }) => checkKey(url, browserPath), command);
  await script.stop(true);
} else await withoutChromium("the web page");
summary();
