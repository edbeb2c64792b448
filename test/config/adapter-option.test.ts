import { describe, expect, test } from "bun:test";
import { parseAdapters, parseImageAdapters, withAbsoluteFile } from "../../src/config/adapter-option.ts";
import { readConfig } from "../../src/config/read-config.ts";

describe("--lora", () => {
  test.each([
    ["/m/tone.gguf", { name: "tone", path: "/m/tone.gguf", scale: 0 }],
    ["tone=/m/a.gguf", { name: "tone", path: "/m/a.gguf", scale: 0 }],
    ["/m/tone.GGUF:0.5", { name: "tone", path: "/m/tone.GGUF", scale: 0.5 }],
    ["org:tone-1.2+x=/m/a.gguf:-1", { name: "org:tone-1.2+x", path: "/m/a.gguf", scale: -1 }],
    ["/m/a=b/tone.gguf", { name: "tone", path: "/m/a=b/tone.gguf", scale: 0 }],
    ["x=/m/v:1.5:2", { name: "x", path: "/m/v:1.5", scale: 2 }],
  ])("%s", (item, adapter) => {
    expect(parseAdapters([item])).toEqual([adapter]);
  });

  test.each([
    [["=a.gguf"], 'names of 1 to 128 letters, digits or .:_+- (NAME=FILE), not ""'],
    [["two words.gguf"], 'not "two words"'],
    [[`${"n".repeat(129)}=a.gguf`], "names of 1 to 128"],
    [["a.gguf:101"], "scales from -100 to 100, not 101"],
    [["x/a.gguf", "y/a.gguf"], "two adapters with the name a; NAME=FILE gives an adapter another name"],
  ])("%j is refused", (items, message) => {
    expect(() => parseAdapters(items)).toThrow(message);
  });

  test("paths are relative to the folder of their source, or to the home folder", () => {
    expect(withAbsoluteFile("x=a.gguf:0.5", (path) => `/m/${path}`)).toBe("x=/m/a.gguf:0.5");
    const lora = ["a.gguf", "tone=~/b.gguf:0.5", "/m/c.gguf"];
    const config = readConfig(new Map([["lora", lora]]), { HOME: "/home/anna" }, "/srv");
    expect(config.lora).toEqual([
      { name: "a", path: "/srv/a.gguf", scale: 0 },
      { name: "tone", path: "/home/anna/b.gguf", scale: 0.5 },
      { name: "c", path: "/m/c.gguf", scale: 0 },
    ]);
  });
});

test("--image-lora takes no scale, because each request sets it", () => {
  expect(parseImageAdapters(["/m/ink.safetensors"])).toEqual([{ name: "ink", path: "/m/ink.safetensors", scale: 0 }]);
  expect(() => parseImageAdapters(["ink=/m/ink.safetensors:0.5"])).toThrow("--image-lora takes no scale");
  expect(() => parseImageAdapters(["x/a.gguf", "y/a.gguf"])).toThrow("--image-lora has two adapters with the name a");
});
