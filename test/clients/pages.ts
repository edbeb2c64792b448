// Runs a page in Chromium and returns its findings.

import puppeteer from "puppeteer-core";
import { check, skip } from "./checks.ts";

export interface Page {
  /** Runs in the page: an expression with its findings, or a promise of them. */
  readonly script: string;
  /** Other paths of the page's own server. */
  readonly files?: Readonly<Record<string, () => Response>>;
  /** Flags of the browser. */
  readonly flags?: readonly string[];
  /** File for a picture of the page, taken when its findings have arrived. */
  readonly screenshot?: string;
}

/** Returns the path in `CHROMIUM`, or that of chromium if it is installed. */
export const chromium = (): string | undefined => process.env["CHROMIUM"] ?? Bun.which("chromium") ?? undefined;

/** Skips these checks for want of a browser; in CI, where nobody would notice, they fail. */
export async function withoutChromium(name: string): Promise<void> {
  if (!process.env["CI"]) return skip(name, "no Chromium");
  await check(name, () => Promise.reject(new Error("chromium is not installed, and CHROMIUM names no other browser")));
}

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"];
const HTML = '<!doctype html><meta charset="utf-8"><title>svc</title><body>';

/** Opens the page in this browser and resolves with its findings. Throws when it reports none. */
export async function findingsOf<Findings>(
  executablePath: string,
  { script, files, flags = [], screenshot }: Page,
): Promise<Findings> {
  const own = () => new Response(HTML, { headers: { "Content-Type": "text/html" } });
  const browser = await puppeteer.launch({ executablePath, args: [...FLAGS, ...flags], protocolTimeout: 150_000 });
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, routes: { "/": own, ...files } });
  try {
    const page = await browser.newPage();
    await page.goto(`http://localhost:${server.port}/`);
    const found = (await page.evaluate(script)) as Findings;
    if (screenshot !== undefined) await page.screenshot({ path: screenshot as `${string}.png` });
    return found;
  } finally {
    await browser.close();
    await server.stop(true);
  }
}
