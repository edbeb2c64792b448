import { expect, test } from "bun:test";
import { nearest } from "../../src/config/nearest.ts";

const words = ["port", "model", "wait", "serve", "temperature", "cache-ram", "cache-dir"];

test.each([
  ["prot", "port"],
  ["mdoel", "model"],
  ["srve", "serve"],
  ["temprature", "temperature"],
  ["tempretaure", "temperature"],
  ["cache-sizes", "cache-dir"],
  ["PROT", "port"],
  ["Cache-Sizes", "cache-dir"],
])("%s is recognized as a typo of %s", (word, meant) => {
  expect(nearest(word, words)).toBe(meant);
});

test("of words that are equally near, the one with the same first letter is meant", () => {
  expect(nearest("fsh", ["bash", "zsh", "fish"])).toBe("fish");
});

test("capitals of either word do not matter", () => {
  expect(nearest("prot", ["MODEL", "PORT"])).toBe("PORT");
});

test.each(["", "9"])("no letter stands for another: %j", (word) => {
  expect(nearest(word, ["8", "4", "16"])).toBeUndefined();
});

test.each(["quit", "part-time", "x", "mine", "nothing-like-it"])("%s is not taken for a typo", (word) => {
  expect(nearest(word, words)).toBeUndefined();
});
