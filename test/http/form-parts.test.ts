// Forms that are small but expensive to parse: each part costs a stream, and a part needs five bytes.

import { Readable } from "node:stream";
import { expect, onTestFinished, spyOn, test } from "bun:test";
import { SvcError } from "../../src/domain/errors.ts";
import { readOneFile } from "../../src/http/form-parts.ts";
import { serve } from "./harness.ts";

const MB = 2 ** 20;
const TYPE = "multipart/form-data; boundary=b";
const limits = {
  ceiling: 100 * MB,
  tooLarge: () => new SvcError("payload_too_large", "too large"),
  fieldBytes: 1024,
};
/** Parts without a name: without headers, and with an empty one. */
const NAMELESS = ["\r\n--b", "\r\n--b\r\n\r\n\r\n"];

const formOf = (part: string, bytes: number) =>
  Buffer.concat([Buffer.from("--b\r\n\r\nx"), Buffer.alloc(bytes, part), Buffer.from("\r\n--b--\r\n")]);

/** Reads a form that arrives in these chunks and has no file. */
function read(chunks: readonly Uint8Array[]) {
  const body = new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  const request = new Request("http://localhost", { method: "POST", headers: { "content-type": TYPE }, body });
  return readOneFile(request, limits, () => Promise.reject(new Error("there is no file")));
}
const refused = { code: "invalid_value", message: "The form has more than 26 parts." };

test.each(NAMELESS)("a form of very many parts is refused after few of them: %j", async (part) => {
  const pushed = spyOn(Readable.prototype, "push");
  onTestFinished(() => pushed.mockRestore());
  await expect(read([formOf(part, 2 * MB)])).rejects.toMatchObject(refused);
  expect(pushed.mock.calls.length).toBeLessThan(10_000);
});

test("parts whose boundaries lie across the chunks count, too", async () => {
  const chunk = Buffer.from(`--b\r\n\r\n${"x".repeat(10_000)}\r\n`);
  await expect(read(Array.from({ length: 40 }, () => chunk))).rejects.toMatchObject(refused);
  await expect(read([...Array.from({ length: 20 }, () => chunk), Buffer.from("--b--\r\n")])).rejects.toMatchObject({
    code: "missing_required_parameter",
  });
});

test.each(["/v1/files", "/v1/vision/ocr", "/v1/images/edits", "/v1/audio/transcriptions"])(
  "%s refuses a form of very many parts",
  async (path) => {
    for (const part of NAMELESS) {
      const headers = { "content-type": TYPE };
      const response = await fetch(serve().url + path, { method: "POST", headers, body: formOf(part, 50_000) });
      expect([response.status, await response.text()]).toEqual([400, expect.stringMatching(/more than \d+ parts/)]);
    }
  },
);

test("a field too many is refused as such, beside as many files as a form may have", async () => {
  const form = new FormData();
  form.append("file", new Blob(["{}"]), "x.jsonl");
  for (let count = 0; count < 25; count++) form.append(`field${count}`, "x");
  const response = await fetch(`${serve().url}/v1/files`, { method: "POST", body: form });
  expect([response.status, await response.text()]).toEqual([400, expect.stringContaining("more than 24 fields")]);
});

test.each([
  ["as browsers write it", "boundary=----WebKitFormBoundaryAbc", "----WebKitFormBoundaryAbc", 200],
  ["in quotes, with a space", 'charset=utf-8; Boundary="a b?=1"', "a b?=1", 200],
  ["before another parameter", "boundary=a'()+_,-./:=?;charset=utf-8", "a'()+_,-./:=?", 200],
  ["after spaces", "boundary =  b", "b", 200],
  ["with a quote and a backslash", String.raw`boundary="a\"b\\c"`, String.raw`a"b\c`, 200],
  ["of more than 200 characters", `boundary=${"b".repeat(201)}`, "b".repeat(201), 400],
  ["that is empty", "boundary=", "", 400],
])("a boundary %s", async (_, parameters, boundary, status) => {
  const body = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n{}\r\n--${boundary}--\r\n`;
  const headers = { "content-type": `multipart/form-data; ${parameters}` };
  const response = await fetch(`${serve().url}/v1/files?purpose=batch`, { method: "POST", headers, body });
  expect([await response.text(), response.status]).toEqual([expect.any(String), status]);
});
