// `bun test/clients/page-shots.ts [folder]`: takes the pictures of the web page that docs/ shows, with Chromium (the one
// that `CHROMIUM` names, else `chromium`) and an svc of its own, from source. Takes about a minute.

import { join } from "node:path";
import type { Browser, Page } from "puppeteer-core";
import { withServer } from "../support/server.ts";
import { answered, choose, openBrowser, openTab, say, scheme, until } from "./page/browser.ts";
import { scriptedModel } from "./page/scripted-model.ts";
import { chromium } from "./pages.ts";

const folder = process.argv[2] ?? join(import.meta.dir, "../../docs");
/** Maximum size of a picture, since every clone of the repository has all of them. */
const MOST_BYTES = 150_000;
/** Seconds for which requests run before the picture of the charts is taken. */
const LOAD_S = 45;

const DESKTOP = { width: 1200, height: 780 };
const TALL = { ...DESKTOP, height: 900 };
const PHONE = { width: 390, height: 780, isMobile: true, hasTouch: true };

async function take(page: Page, name: string): Promise<void> {
  // Until colours and scrolling are at rest.
  await Bun.sleep(600);
  const picture = new Bun.Image(await page.screenshot());
  const bytes = await picture.png({ palette: true, colors: 256, compressionLevel: 9 }).bytes();
  if (bytes.length > MOST_BYTES) throw new Error(`${name} has ${bytes.length} bytes; the limit is ${MOST_BYTES}`);
  await Bun.write(join(folder, `${name}.png`), bytes);
  console.log(`${name}.png: ${bytes.length} bytes`);
}

async function open(browser: Browser, url: string): Promise<Page> {
  const { page } = await openTab(browser, url);
  await page.setViewport(DESKTOP);
  await page.goto(url);
  await page.waitForSelector(".suggestions button:enabled");
  return page;
}

async function begin(page: Page, model: string): Promise<void> {
  await page.click(".button.new");
  await page.waitForSelector(".suggestions button:enabled");
  await choose(page, model);
}

async function takeChats(browser: Browser, url: string): Promise<void> {
  const page = await open(browser, url);
  await choose(page, "svc-mini");
  await say(page, "What is 17 + 25?");
  await answered(page, "42");
  await begin(page, "demo/script");
  await say(page, "Sort a list: everything about quicksort");
  await answered(page, "written");
  await begin(page, "svc-draw");
  await say(page, "a red circle above a blue square");
  await until(page, `document.querySelector(".answer[aria-busy=false] .made img")?.naturalWidth > 0`, 120_000);
  await choose(page, "svc-mini");
  await say(page, "What is the capital of France?");
  await answered(page, "Paris");
  await page.mouse.move(600, 500);
  await take(page, "chat");
  await page.$$eval(".chats a", (all) => (all.find((one) => one.innerText.startsWith("Sort")) as HTMLElement).click());
  await page.waitForSelector(".markdown table");
  await choose(page, "demo/script");
  await scheme(page, "dark");
  await page.setViewport(TALL);
  await page.$eval(".thread", (one) => one.scrollTo({ top: 0 }));
  await take(page, "chat-dark");
  await scheme(page, "light");
  // Loads the page again, since it is now a phone.
  await page.setViewport(PHONE);
  await page.waitForSelector(".markdown table");
  await page.$eval(".thread", (one) => one.scrollTo({ top: 0 }));
  await take(page, "chat-phone");
  await page.close();
}

/** Streams an answer of so many tokens, whatever the model writes. */
const stream = (url: string, length: number) =>
  fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({
      messages: [{ role: "user", content: "Tell me a long story about a fox." }],
      max_tokens: length,
      ignore_eos: true,
      stream: true,
    }),
  }).then((response) => response.text());

async function takeWatch(browser: Browser, url: string): Promise<void> {
  const page = await open(browser, url);
  await page.setViewport(TALL);
  await page.click('.places a[href="#watch"]');
  await page.waitForSelector(".watch tbody tr");
  const end = Date.now() + LOAD_S * 1000;
  const clients = [300, 500, 800, 1200].map(async (length, index) => {
    await Bun.sleep(index * 6000);
    while (Date.now() < end) {
      await stream(url, length);
      await Bun.sleep(400);
    }
  });
  const vectors = { model: "all-minilm-l6-v2", input: "a fox" };
  await fetch(`${url}/v1/embeddings`, {
    method: "POST",
    body: JSON.stringify(vectors),
    headers: { "Content-Type": "application/json" },
  });
  await Bun.sleep(LOAD_S * 1000 - 4000);
  await until(page, `document.querySelectorAll('[aria-label="Running requests"] tbody tr').length > 1`);
  await take(page, "watch");
  await Promise.all(clients);
  await page.close();
}

const path = chromium();
if (!path) throw new Error("chromium is not installed, and CHROMIUM names no other browser");
const script = scriptedModel();
const browser = await openBrowser(path);
await withServer(["--upstream", `demo=http://127.0.0.1:${script.port}`], async ({ url }) => takeChats(browser, url));
await withServer(["--ctx", "16384"], async ({ url }) => takeWatch(browser, url));
await browser.close();
await script.stop(true);
