// Folders for the files of tests.

import { afterAll, onTestFinished } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Returns a folder that is removed at the end of the test. */
export const temporaryFolder = () => newFolder(onTestFinished);

/** Returns a folder that is removed after the last test of the file, or of the block. */
export const sharedFolder = () => newFolder(afterAll);

function newFolder(atEnd: (remove: () => void) => void): string {
  const folder = mkdtempSync(join(tmpdir(), "svc-test-"));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
