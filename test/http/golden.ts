// Compares recorded wire bytes, in which ids and times are replaced, byte for byte.

import { expect } from "bun:test";

const folder = `${import.meta.dir}/../fixtures/wire`;

/** Compares `text` with the recorded file; `UPDATE_GOLDENS=1` records it again. */
export async function expectGolden(name: string, text: string): Promise<void> {
  const stable = withoutChance(text);
  const file = Bun.file(`${folder}/${name}`);
  if (process.env["UPDATE_GOLDENS"] === "1") await Bun.write(file, stable);
  expect(stable).toBe(await file.text());
}

/** Numbers ids by first appearance, so that equal ids stay equal, and sets times to 0. */
function withoutChance(text: string): string {
  const seen = new Map<string, string>();
  return text
    .replace(
      /\b(chatcmpl-|cmpl-|msg_|resp_|rs_|fc_|ctc_|item_|img_|event_|sess_|ek_|toolu_|call_)[0-9a-f]{24,32}\b/g,
      (id, prefix: string) => {
        if (!seen.has(id)) seen.set(id, `${prefix}${seen.size === 0 ? "ID" : `ID${seen.size}`}`);
        return seen.get(id) ?? id;
      },
    )
    .replace(/"(created|created_at|completed_at)":\d+/g, '"$1":0')
    .replace(/"created_at":"[\dT:.-]+Z"/g, '"created_at":"1970-01-01T00:00:00.000Z"');
}
