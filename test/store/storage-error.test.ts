import { expect, test } from "bun:test";
import { SvcError } from "../../src/domain/errors.ts";
import { chatErrors } from "../../src/contract/errors.ts";
import { storageError } from "../../src/store/storage-error.ts";

const failure = (code: string) => Object.assign(new Error(`${code}: write '/home/ada/secret'`), { code });

test.each([
  ["ENOSPC", "storage_full", 507],
  ["EDQUOT", "storage_full", 507],
  ["SQLITE_FULL", "storage_full", 507],
  ["EACCES", "storage_unavailable", 503],
  ["EROFS", "storage_unavailable", 503],
  ["SQLITE_CORRUPT", "storage_unavailable", 503],
  ["SQLITE_NOTADB", "storage_unavailable", 503],
] as const)("%s is %s, without the path", (system, code, status) => {
  const error = storageError(failure(system));
  expect(error).toBeInstanceOf(SvcError);
  expect(error).toMatchObject({ code });
  expect(chatErrors[code]).toMatchObject({ status, retry: false });
  expect((error as SvcError).message).not.toContain("ada");
});

test("an error that does not come from a disk is left unchanged", () => {
  for (const error of [new Error("bug"), new SvcError("not_found", "x"), failure("ERR_INVALID_ARG_TYPE"), "text"]) {
    expect(storageError(error)).toBe(error);
  }
});
