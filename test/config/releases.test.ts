import { expect, test } from "bun:test";
import { UsageError } from "../../src/config/parse.ts";
import { newestFile, releasedFile, toReleases } from "../../src/config/releases.ts";
import { version } from "../../src/config/version.ts";

test("release files have GitHub's URLs", () => {
  const releases = toReleases("https://example.com/a/svc/releases/");
  expect(newestFile({ releases }, "SHA256SUMS")).toBe("https://example.com/a/svc/releases/latest/download/SHA256SUMS");
  expect(releasedFile({ releases }, "f.zst")).toBe(`https://example.com/a/svc/releases/download/v${version}/f.zst`);
  expect(releasedFile({ releases }, "f.tar.gz", "9.1.0")).toEndWith("/download/v9.1.0/f.tar.gz");
});

test("a build that was not released has no URL", () => {
  expect(newestFile({}, "SHA256SUMS")).toBeUndefined();
  expect(releasedFile({}, "f.zst")).toBeUndefined();
});

test("without encryption only this machine is allowed", () => {
  for (const url of ["http://127.0.0.1:8000", "http://localhost", "http://[::1]:1"]) expect(toReleases(url)).toBe(url);
  for (const url of ["http://example.com", "http://127.0.0.1.example.com", "ftp://example.com", "a folder"]) {
    expect(() => toReleases(url)).toThrow(UsageError);
  }
});
