import { expect, test } from "bun:test";
import { defaultMediaLimits } from "../../src/media/limits.ts";
import { acceptedBy, kindOf, redrawing, textOf } from "../../src/page/logic/files.ts";
import type { Model } from "../../src/page/logic/models.ts";

const model = (use: Model["use"], ...capabilities: string[]): Model => {
  return { id: "m", use, capabilities: new Set(capabilities), loaded: true, reports: true, about: "" };
};
const file = (name: string, type: string, size = 1) => ({ name, type, size });

test("PDF documents are for models that see, not for those that only edit images", () => {
  const editor = model("image", "images", "image_edits");
  const seeing = model("chat", "chat", "vision");
  expect(acceptedBy(editor)).toBe("image/*");
  expect(() => kindOf(file("a.pdf", "application/pdf"), editor)).toThrow("m takes no documents. Choose another model.");
  expect(acceptedBy(seeing)).toContain("application/pdf");
  expect(kindOf(file("a.pdf", "application/pdf"), seeing)).toBe("image");
});

test("what a chat model does not take names the option with which the server reads it", () => {
  for (const [type, told] of [
    ["image/png", "m takes no images. Choose another model, or start svc with --ocr-input."],
    ["application/pdf", "m takes no documents. Choose another model, or start svc with --ocr-input."],
    ["audio/wav", "m takes no sound. Choose another model, or start svc with --transcribe-input."],
  ] as const) {
    expect(() => kindOf(file("a", type), model("chat", "chat"))).toThrow(told);
  }
});

test("images are as large as the API takes them, at most", () => {
  const seeing = model("chat", "chat", "vision");
  const { maxImageBytes } = defaultMediaLimits;
  expect(kindOf(file("a.png", "image/png", maxImageBytes), seeing)).toBe("image");
  expect(() => kindOf(file("a.png", "image/png", maxImageBytes + 1), seeing)).toThrow("a.png has more than 20 MB.");
});

test("large images and other formats are redrawn, smaller ones and animations are not", () => {
  const [photo, screen] = [
    { width: 3000, height: 4096 },
    { width: 2048, height: 1152 },
  ];
  for (const [type, size, decoded, chat, image] of [
    ["image/jpeg", 4_000_000, photo, 0.5, undefined],
    ["image/png", 2_000_000, screen, undefined, undefined],
    ["image/png", 2_000_001, screen, 1, undefined],
    ["image/gif", 4_000_000, photo, undefined, 1],
    ["image/bmp", 1000, screen, undefined, 1],
    ["image/avif", 1000, screen, 1, 1],
    ["image/heic", 1000, photo, 0.5, 1],
  ] as const) {
    expect(redrawing(file("a", type, size), decoded, "chat")).toBe(chat);
    expect(redrawing(file("a", type, size), decoded, "image")).toBe(image);
  }
});

test("an image that neither the browser nor the server decodes is refused by its name", () => {
  const told = "a is damaged, too large, or not PNG, JPEG, WebP, GIF or BMP.";
  for (const type of ["image/png", "image/avif", "image/jxl"])
    expect(() => redrawing(file("a", type), undefined, "chat")).toThrow(told);
  for (const type of ["image/heic", "image/heif", "image/tiff"]) {
    expect(redrawing(file("a", type), undefined, "chat")).toBeUndefined();
    expect(() => redrawing(file("a", type), undefined, "image")).toThrow(told);
  }
});

test("sound of every format is for models that take sound", () => {
  const able = model("chat", "chat", "audio");
  expect(acceptedBy(able)).toStartWith("audio/*,");
  for (const type of ["audio/wav", "audio/mpeg", "audio/ogg", "audio/x-m4a"]) {
    expect(kindOf(file("a", type), able)).toBe("audio");
  }
});

test("text is for models that chat, and SVG is text", () => {
  const drawing = model("image", "images", "image_edits");
  for (const type of ["text/plain", "", "image/svg+xml"]) {
    expect(kindOf(file("a", type), model("chat", "chat", "vision"))).toBe("text");
    expect(() => kindOf(file("a", type), drawing)).toThrow("m takes no text files. Choose another model.");
  }
});

test.each([
  ["UTF-8", [0x7a, 0xc3, 0xa4, 0xe2, 0x82, 0xac]],
  ["UTF-8 with a byte order mark", [0xef, 0xbb, 0xbf, 0x7a, 0xc3, 0xa4, 0xe2, 0x82, 0xac]],
  ["UTF-16 as Windows writes it", [0xff, 0xfe, 0x7a, 0, 0xe4, 0, 0xac, 0x20]],
  ["UTF-16, high bytes first", [0xfe, 0xff, 0, 0x7a, 0, 0xe4, 0x20, 0xac]],
  ["Windows-1252", [0x7a, 0xe4, 0x80]],
])("text is read as it was written: %s", async (_, bytes) =>
  expect(await textOf(new File([Uint8Array.from(bytes)], "a.txt"))).toBe("zä€"),
);

test("a file is refused for its size only when its type is right", async () => {
  const MB = 1024 * 1024;
  const film = new File(["\0\0\0 ftypisom".padEnd(MB, "x")], "a.mp4", { type: "video/mp4" });
  expect(kindOf(film, model("chat", "chat"))).toBe("text");
  await expect(textOf(film)).rejects.toThrow("a.mp4 is neither text, an image nor sound.");
  await expect(textOf(new File(["x".repeat(MB)], "a.txt"))).rejects.toThrow("a.txt has more than 512 KB.");
  expect(await textOf(new File(["let a = 'ä';"], "a.ts", { type: "video/mp2t" }))).toBe("let a = 'ä';");
  expect(() => kindOf(file("a.png", "image/png", 100 * MB), model("chat", "chat"))).toThrow("takes no images.");
});
