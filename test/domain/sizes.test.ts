import { expect, test } from "bun:test";
import { fileSize } from "../../src/domain/file-size.ts";
import { GIB, memorySize } from "../../src/domain/gib.ts";

test("memory is told in GiB, and below one in MiB", () => {
  const sizes = [0, GIB / 2048, 1023.9 * 2 ** 20, GIB - 1, GIB, 23.96 * GIB].map(memorySize);
  expect(sizes).toEqual(["0.0 MiB", "0.5 MiB", "1023.9 MiB", "1.0 GiB", "1.0 GiB", "24.0 GiB"]);
});

test("files are told in GB, MB or bytes, and what is rounded up to 1000 MB is 1 GB", () => {
  const sizes = [999_999, 1e6, 999_940_000, 999_960_000, 4.683e9].map(fileSize);
  expect(sizes).toEqual(["999999 bytes", "1.0 MB", "999.9 MB", "1.00 GB", "4.68 GB"]);
});
