// Chromium with a page of svc, and what checks read from the page.

import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import puppeteer, { type Browser, type BrowserContext, type Page } from "puppeteer-core";

const AXE = readFileSync(join(import.meta.dir, "../node_modules/axe-core/axe.min.js"), "utf8");
/** The folder for screenshots; none are taken without it. */
const SHOTS = process.env["SHOTS"];

export const openBrowser = (executablePath: string): Promise<Browser> =>
  puppeteer.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--autoplay-policy=no-user-gesture-required"],
  });

/**
 * Opens a tab and records what goes wrong in it: errors, blocked styles and scripts, and requests to other addresses
 * than `url`.
 */
export async function openTab(
  browser: Browser | BrowserContext,
  url: string,
): Promise<{ page: Page; wrong: string[] }> {
  const page = await browser.newPage();
  const wrong: string[] = [];
  page.on("pageerror", (error) => void wrong.push(error instanceof Error ? error.message : String(error)));
  page.on("console", (message) => message.type() === "error" && void wrong.push(message.text()));
  page.on("request", (request) => {
    if (/^(?:data|blob|about):/.test(request.url()) || request.url().startsWith(url)) return;
    wrong.push(`request to ${request.url()}`);
  });
  page.on("dialog", (dialog) => void dialog.accept());
  await page.setViewport({ width: 1280, height: 820 });
  return { page, wrong };
}

/** Returns what axe finds wrong, as `impact rule: elements`. */
export async function axeFindings(page: Page): Promise<string[]> {
  // Through the DevTools protocol, to which the page's content security policy does not apply.
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run: () => Promise<{ violations: Found[] }> } };
    interface Found {
      readonly id: string;
      readonly impact: string;
      readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary: string }[];
    }
    // A colour in transition may lack contrast. Endless animations are of no interest.
    const ending = document.getAnimations().filter(({ effect }) => effect?.getComputedTiming().endTime !== Infinity);
    await Promise.allSettled(ending.map(({ finished }) => finished));
    return (await axe.run()).violations.map(
      ({ id, impact, nodes }) => `${impact} ${id}: ${nodes.map(({ target }) => target.join(" ")).join(", ")}`,
    );
  });
}

export const scheme = (page: Page, value: "light" | "dark"): Promise<void> =>
  page.emulateMediaFeatures([{ name: "prefers-color-scheme", value }]);

export async function shot(page: Page, name: string): Promise<void> {
  if (SHOTS === undefined) return;
  // Waits for the transition of colours.
  await Bun.sleep(250);
  mkdirSync(SHOTS, { recursive: true });
  await page.screenshot({ path: join(SHOTS, `${name}.png`) as `${string}.png` });
}

/** Resolves when the expression `found` has a value in the page. */
export async function until<T>(page: Page, found: string, timeout = 20_000): Promise<T> {
  return (await (await page.waitForFunction(found, { timeout })).jsonValue()) as T;
}

/** Types a message and sends it. */
export async function say(page: Page, text: string): Promise<void> {
  await page.type("#message", text);
  await page.keyboard.press("Enter");
}

/** Resolves with the text of the last turn once it is a complete answer that contains `words`. */
export const answered = (page: Page, words = "", timeout?: number): Promise<string> =>
  until(
    page,
    `(() => {
      const last = [...document.querySelectorAll(".turn")].at(-1);
      const text = last?.matches(".answer[aria-busy=false]") && last.innerText;
      return text && text.includes(${JSON.stringify(words)}) && text;
    })()`,
    timeout,
  );

/** Selects a model by name, with the mouse. */
export async function choose(page: Page, model: string): Promise<void> {
  await page.locator(".picker").click();
  await page.waitForSelector(".choice");
  for (const choice of await page.$$(".choice")) {
    if (!(await choice.evaluate((one) => (one as HTMLElement).innerText)).startsWith(model)) continue;
    await choice.click();
    break;
  }
  await until(page, `document.querySelector(".picker")?.innerText.startsWith(${JSON.stringify(model)})`);
}

/** Presses the button with this name in the last turn, or in the element that `within` selects. */
export async function press(page: Page, name: string, within = ".turn:last-child"): Promise<void> {
  const button = await page.waitForFunction(
    (wanted, place) =>
      [...document.querySelectorAll<HTMLElement>(`${place} button`)].findLast(
        (one) => (one.ariaLabel ?? one.innerText).trim() === wanted,
      ),
    { timeout: 10_000 },
    name,
    within,
  );
  await button.click();
}
