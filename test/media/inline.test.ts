// data: URLs and base64 in all their forms.

import { expect, test } from "bun:test";
import { bmp, dataUrl, flag, limitsWith, loadImage, quarters, red, refusal } from "./files.ts";

const file = await new Bun.Image(flag(64, 32)).png().bytes();
const base64 = Buffer.from(file).toString("base64");
const percent = [...file].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
const { id } = await loadImage(dataUrl(file));

const spellings: Record<string, string> = {
  "no type": `data:;base64,${base64}`,
  "a wrong type": `data:image/jpeg;base64,${base64}`,
  "parameters before the encoding": `data:image/png;name=a.png;charset=utf-8;base64,${base64}`,
  capitals: `DATA:IMAGE/PNG;BASE64,${base64}`,
  "no padding": `data:image/png;base64,${base64.replace(/=+$/, "")}`,
  "half of the padding": `data:image/png;base64,${base64.replace(/=+$/, "=")}`,
  "line breaks behind the padding": `data:image/png;base64,${base64}\n\n\n`,
  "half of the padding, and line breaks behind it": `data:image/png;base64,${base64.replace(/=+$/, "=")}\n\n\n\n`,
  "a line break before each character, and between the padding": `data:image/png;base64,${base64.replace(/./g, "\n$&")}`,
  "the URL alphabet": `data:image/png;base64,${base64.replaceAll("+", "-").replaceAll("/", "_")}`,
  "line breaks": `data:image/png;base64,${base64.replace(/.{76}/g, "$&\r\n")}`,
  "escaped base64": `data:image/png;base64,${encodeURIComponent(base64)}`,
  "percent-encoding": `data:image/png,${percent}`,
};

for (const [name, url] of Object.entries(spellings)) {
  test(`an image in a data: URL with ${name}`, async () => expect((await loadImage(url)).id).toBe(id));
}

test("malformed data: URLs are refused with svc's own messages", async () => {
  const message = (url: string) => refusal(loadImage(url));
  expect(await message("data:image/png;base64")).toBe(
    "have a comma in its first 1000 characters, before the data; got a data: URL without one.",
  );
  expect(await message("data:image/png;base64,")).toBe("not be empty; got 0 bytes.");
  expect(await message("data:,")).toBe("not be empty; got 0 bytes.");
  expect(await message("data:image/png;base64,==")).toBe("not be empty; got 0 bytes.");
  expect(await message("data:image/png;base64,%3D%41")).toBe("be base64; got a string of length 2 that is not.");
  expect(await message("data:image/png;base64,secret!!")).toBe("be base64; got a string of length 8 that is not.");
  expect(await message("data:image/png;base64,AAAAA")).toBe("be base64; got a string of length 5 that is not.");
  expect(await message("data:image/png;base64,AA=A")).toBe("be base64; got a string of length 4 that is not.");
  expect(await message("data:image/png,%8")).toContain("two hexadecimal digits after each %");
  expect(await message("data:image/png,é")).toContain("percent-encoded ASCII");
});

test("media above the limit are refused with their size, as far as it is known", async () => {
  const limits = limitsWith({ maxImageBytes: 200_000 });
  const large = bmp(300, 300, () => red);
  expect(await refusal(loadImage(dataUrl(large), limits))).toBe("be at most 0.2 MB; got 0.27 MB.");
  expect(await refusal(loadImage(`data:,${"%41".repeat(300_000)}`, limits))).toBe("be at most 0.2 MB; got 0.3 MB.");
  const noise = await loadImage(dataUrl(bmp(255, 255, () => red)), limits);
  expect(quarters(noise)).toEqual([red, red, red, red]);
});

test("other schemes and invalid URLs are refused without repeating them", async () => {
  const message = (url: string) => refusal(loadImage(url));
  expect(await message("")).toBe("be a URL; got an empty string.");
  expect(await message("ftp://secret.example/a.png")).toBe(
    "be a data:, http:, https: or file: URL; got a URL of another scheme.",
  );
  expect(await message("javascript:alert(1)")).toContain("a URL of another scheme");
  expect(await message("A".repeat(10_000))).toBe(
    "be a data: URL, or another one of at most 8192 characters; got a string of length 10000.",
  );
});
