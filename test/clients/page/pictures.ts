// Checks of pictures that are attached, with a model that takes them.

import type { Browser, Page } from "puppeteer-core";
import { check, equal, ok, same } from "../checks.ts";
import { choose, openTab, press, axeFindings, shot, until } from "./browser.ts";

interface Picture {
  readonly name: string;
  readonly type: string;
  readonly width: number;
  readonly height: number;
  readonly background?: string;
  /** The file in base64, in place of a drawn one. */
  readonly content?: string;
}

const GIF = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
/** An icon of one white pixel. */
const ICON = Buffer.from(
  "0000010001000101000001002000300000001600000028000000010000000200000001002000000000000000000000000000000000000000000000000000ffffffff00000000",
  "hex",
).toString("base64");

/** Drops pictures onto the page, and waits until it has read them. */
async function drop(page: Page, pictures: readonly Picture[]): Promise<void> {
  await page.evaluate(async (all) => {
    const dataTransfer = new DataTransfer();
    for (const { name, type, width, height, background, content } of all) {
      const canvas = new OffscreenCanvas(width, height);
      const ink = canvas.getContext("2d");
      if (!ink) throw new Error("no canvas");
      ink.fillStyle = background ?? "transparent";
      ink.fillRect(0, 0, width, height);
      const bytes = content && Uint8Array.from(atob(content), (sign) => sign.codePointAt(0) ?? 0);
      dataTransfer.items.add(new File([bytes || (await canvas.convertToBlob({ type }))], name, { type }));
    }
    document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
  }, pictures);
  await until(page, `!document.querySelector('[aria-label="Reading files"]')`);
}

/** Returns the attached pictures: name, type and longest side. */
const attached = (page: Page) =>
  page.$$eval(".composer .attachments img", (all) =>
    Promise.all(
      all.map(async (one) => {
        await one.decode();
        const type = /^data:([^;]*)/.exec(one.src)?.[1];
        return `${one.alt} ${type} ${Math.max(one.naturalWidth, one.naturalHeight)}`;
      }),
    ),
  );

/** Returns the colour in the middle of an attached picture: red, green and blue. */
const colourOf = (page: Page, name: string) =>
  page.$eval(`.composer .attachments img[alt="${name}"]`, (one) => {
    const ink = new OffscreenCanvas(1, 1).getContext("2d");
    ink?.drawImage(one, 0, 0, 1, 1);
    return [...(ink?.getImageData(0, 0, 1, 1).data.slice(0, 3) ?? [])];
  });

async function removeAll(page: Page): Promise<void> {
  for (const _ of await page.$$(".composer .attachments li")) await page.click(".composer .remove");
}

/** Checks a server on which all models take pictures. */
export async function checkPictures(browser: Browser, url: string): Promise<void> {
  const { page, wrong } = await openTab(browser, url);
  await page.goto(url);
  await page.waitForSelector(".suggestions button:enabled");
  await choose(page, "svc-mini");

  await check("large pictures are shrunk, formats that the server refuses redrawn, and others left alone", async () => {
    await drop(page, [
      { name: "photo.jpg", type: "image/jpeg", width: 3000, height: 4096, background: "teal" },
      { name: "glass.webp", type: "image/webp", width: 2500, height: 10, background: "rgb(0 0 255 / 0.5)" },
      { name: "small.png", type: "image/png", width: 300, height: 200, background: "red" },
      { name: "moving.gif", type: "image/gif", width: 1, height: 1, content: GIF },
      { name: "logo.ico", type: "image/x-icon", width: 1, height: 1, content: ICON },
    ]);
    same(await attached(page), [
      "photo.jpg image/jpeg 2048",
      "glass.webp image/jpeg 2048",
      "small.png image/png 300",
      "moving.gif image/gif 1",
      "logo.ico image/jpeg 1",
    ]);
    const [red = 0, green = 0, blue = 0] = await colourOf(page, "glass.webp");
    ok(Math.min(red, green) > 100 && blue > 240, `half of blue on white is ${red} ${green} ${blue}`);
    await removeAll(page);
  });
  await check("a picture that nobody can read is refused by its name, and does not keep others out", async () => {
    const content = btoa("no picture");
    await drop(page, [
      { name: "new.jxl", type: "image/jxl", width: 1, height: 1, content },
      { name: "small.png", type: "image/png", width: 300, height: 200 },
    ]);
    same(await attached(page), ["small.png image/png 300"]);
    equal(
      await page.$eval(".composer .error", (one) => one.textContent),
      "new.jxl is damaged, too large, or not PNG, JPEG, WebP, GIF or BMP.",
    );
    await removeAll(page);
  });
  await check("many pictures and a long text leave the buttons in the window of a phone", async () => {
    const [narrow, wide] = [
      { width: 360, height: 740 },
      { width: 740, height: 360 },
    ];
    await page.setViewport({ ...narrow, isMobile: true, hasTouch: true });
    await page.waitForSelector(".suggestions button:enabled");
    const colours = ["teal", "tomato", "gold", "navy", "plum", "olive", "coral", "peru"];
    await drop(
      page,
      colours.map((background, at) => ({
        name: `${at}.jpg`,
        type: "image/jpeg",
        width: 4000,
        height: 3000,
        background,
      })),
    );
    await shot(page, "phone-pictures");
    await page.$eval("#message", (one) => one.focus());
    await page.keyboard.sendCharacter("a long text\n".repeat(40));
    same(await axeFindings(page), []);
    for (const view of [narrow, wide]) {
      await page.setViewport({ ...view, isMobile: true, hasTouch: true });
      const bottom = await page.$eval('.composer [aria-label="Send"]', (one) => one.getBoundingClientRect().bottom);
      ok(bottom <= view.height, `Send ends at ${bottom} of ${view.height}`);
      await shot(page, `phone-pictures-${view.width}`);
    }
    await press(page, "Remove 7.jpg", ".composer");
    equal((await attached(page)).length, 7);
    same(wrong, []);
  });
  await page.close();
}
