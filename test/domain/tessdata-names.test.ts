import { expect, test } from "bun:test";
import { tessdataName } from "../../src/domain/tessdata-names.ts";

test.each([
  ["en", "eng"],
  ["en-US", "eng"],
  ["de_AT", "deu"],
  ["DE", "deu"],
  ["zh", "chi_sim"],
  ["zh-Hans-CN", "chi_sim"],
  ["zh-Hant", "chi_tra"],
  ["zh-TW", "chi_tra"],
  // The script is more specific than the region.
  ["zh-Hans-HK", "chi_sim"],
  ["zh-Hans-MO", "chi_sim"],
  ["cmn", "chi_sim"],
  ["cmn-Hans", "chi_sim"],
  ["cmn-TW", "chi_tra"],
  ["yue", "chi_tra"],
  ["yue-Hant", "chi_tra"],
  ["yue-Hans-CN", "chi_sim"],
  ["sr-Latn", "srp_latn"],
  ["nb-NO", "nor"],
  ["pt-BR", "por"],
  // A name of trained data itself.
  ["chi_tra_vert", "chi_tra_vert"],
  ["Latin", "Latin"],
  ["deu", "deu"],
  ["fil-PH", "fil"],
])("%s is %s", (tag, name) => expect(tessdataName(tag)).toBe(name));

test.each(["../eng", "eng/x", "", "-", "en\0", "x".repeat(50), "toString-1", "1a"])("%j is not a language", (tag) =>
  expect(tessdataName(tag)).toBeUndefined(),
);
