// Recorded wire bytes: ids and times replaced, everything else compared byte for byte.

import { expect } from "bun:test";

const folder = `${import.meta.dir}/../fixtures/wire`;

/** Compares `text` with the recorded file; `UPDATE_GOLDENS=1` records it anew. */
export async function expectGolden(name: string, text: string): Promise<void> {
  const stable = text.replace(/"chatcmpl-[0-9a-f]{24}"/g, '"chatcmpl-ID"').replace(/"created":\d+/g, '"created":0');
  const file = Bun.file(`${folder}/${name}`);
  if (process.env["UPDATE_GOLDENS"] === "1") await Bun.write(file, stable);
  expect(stable).toBe(await file.text());
}
