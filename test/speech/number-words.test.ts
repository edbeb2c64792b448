// Writing numbers as words.

import { expect, test } from "bun:test";
import { cardinal, decimal, ordinal, year } from "../../src/speech/number-words.ts";

test("whole numbers have words up to the largest name; longer ones are read digit by digit", () => {
  expect(cardinal("0")).toBe("zero");
  expect(cardinal("0042")).toBe("forty-two");
  expect(cardinal("1234567")).toBe("one million two hundred and thirty-four thousand five hundred and sixty-seven");
  expect(cardinal("1000001")).toBe("one million one");
  expect(cardinal(`1${"0".repeat(33)}`)).toBe("one decillion");
  expect(cardinal("12".repeat(20))).toBe(Array(20).fill("one two").join(" "));
});

test("ordinals, years and decimals have words", () => {
  expect(["1", "12", "20", "23", "101", "1000"].map(ordinal)).toEqual([
    "first",
    "twelfth",
    "twentieth",
    "twenty-third",
    "one hundred and first",
    "one thousandth",
  ]);
  expect(["1905", "1900", "2005", "2010", "0042", "1066"].map(year)).toEqual([
    "nineteen oh-five",
    "nineteen hundred",
    "two thousand five",
    "twenty ten",
    "forty-two",
    "ten sixty-six",
  ]);
  expect(["3.14", "10.50", "5.", "1.0"].map(decimal)).toEqual([
    "three point one four",
    "ten point five zero",
    "five",
    "one point zero",
  ]);
});
