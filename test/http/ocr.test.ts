// POST /v1/ocr, and the uploads with which its clients begin.

import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { FileObject } from "../../src/contract/files.ts";
import { OcrResponse } from "../../src/contract/ocr.ts";
import { checker } from "../../src/contract/schema.ts";
import { fault } from "../support/fault.ts";
import { temporaryFolder } from "../support/folders.ts";
import { expectGolden } from "./golden.ts";
import { hello, leftovers, serve, type TestServer } from "./harness.ts";

const PATH = "/v1/ocr";
const url = `data:application/pdf;base64,${Buffer.from("document").toString("base64")}`;
const document = { type: "document_url", document_url: url };

/** Uploads a document as clients do, with the purpose first, or as Mistral's, with the file first. */
function upload(server: TestServer, content = "document", order: "before" | "behind" = "before"): Promise<Response> {
  const form = new FormData();
  if (order === "before") form.append("purpose", "ocr");
  form.append("file", new Blob([content], { type: "application/pdf" }), "scan.pdf");
  if (order === "behind") form.append("purpose", "ocr");
  return fetch(`${server.url}/v1/files`, { method: "POST", body: form });
}

test("pages are returned as Markdown", async () => {
  const server = serve();
  const response = await server.post(PATH, { model: "mistral-ocr-latest", document, include_image_base64: false });
  const text = await response.text();
  checker(OcrResponse)(JSON.parse(text));
  await expectGolden("ocr-markdown.json", text);
  expect(server.reader.asked.map(({ content, field }) => [content, field])).toEqual([
    ["document", "document.document_url"],
  ]);
});

test("tables are returned separately when a table format is requested, with links in their places", async () => {
  for (const table_format of ["markdown", "html"]) {
    const text = await (await serve().post(PATH, { model: "mistral-ocr-latest", document, table_format })).text();
    checker(OcrResponse)(JSON.parse(text));
    await expectGolden(`ocr-tables-${table_format}.json`, text);
  }
});

test("a form is refused with the route that takes forms", async () => {
  const body = new FormData();
  body.append("file", new Blob(["x"], { type: "image/png" }), "scan.png");
  const response = await fetch(serve().url + PATH, { method: "POST", body });
  const message = "Content-Type must be application/json; got multipart/form-data. POST /v1/vision/ocr takes forms.";
  expect([response.status, await response.json()]).toMatchObject([400, { error: { message } }]);
});

test("false and null count as absent fields", async () => {
  const off = { extract_header: false, extract_footer: null, include_blocks: false, table_format: null };
  const response = await serve().post(PATH, { document, ...off, confidence_scores_granularity: null });
  expect(response.status).toBe(200);
  expect(checker(OcrResponse)(await response.json()).pages[0]?.tables).toBeUndefined();
});

test("the answer names the model that read when the request names none", async () => {
  const named = async (model?: string) =>
    checker(OcrResponse)(await (await serve().post(PATH, { model, document })).json()).model;
  expect(await named()).toBe("fake-reader");
  expect(await named("mistral-ocr-latest")).toBe("mistral-ocr-latest");
});

test("the pages in a text are limited to as many as in a list", async () => {
  const response = await serve().post(PATH, { document, pages: `0${",0".repeat(1000)}` });
  expect([response.status, await response.json()]).toMatchObject([
    400,
    { error: { param: "pages", message: expect.stringContaining("at most 1000; got") } },
  ]);
});

test("images are accepted as documents, pages count from 0, and languages are those of the other route", async () => {
  const server = serve();
  for (const image_url of [url, { url }]) {
    expect((await server.post(PATH, { document: { type: "image_url", image_url } })).status).toBe(200);
  }
  await server.post(PATH, { document, pages: [0, 3], languages: ["de"] });
  await server.post(PATH, { document, pages: "1-2, 5,8-" });
  expect(server.reader.asked.slice(2)).toMatchObject([
    {
      pages: [
        { first: 1, last: 1 },
        { first: 4, last: 4 },
      ],
      countsFromZero: true,
      task: { text: { languages: [{ name: "deu" }] } },
    },
    {
      pages: [{ first: 2, last: 3 }, { first: 6, last: 6 }, { first: 9 }],
    },
  ]);
});

test.each([
  [{}, 400, "missing_required_parameter", "document"],
  [{ document: {} }, 400, "missing_required_parameter", "document.document_url"],
  [{ document: { document_url: "https://example.org/a.pdf" } }, 400, "invalid_value", "document.document_url"],
  [{ document: { ...document, file_id: "file-1" } }, 400, "invalid_value", "document.file_id"],
  [{ document: { file_id: "file-0123" } }, 404, "not_found", "document.file_id"],
  [
    { document: { document_url: "http://127.0.0.1/v1/files/file-0123/content" } },
    404,
    "not_found",
    "document.document_url",
  ],
  [{ document, pages: "2-1" }, 400, "invalid_value", "pages"],
  [{ document, pages: "1 2" }, 400, "invalid_value", "pages"],
  [{ document, pages: [-1] }, 400, "invalid_value", "pages.0"],
  [{ document, table_format: "csv" }, 400, "invalid_value", "table_format"],
  [
    { document, document_annotation_format: { type: "json_schema" } },
    400,
    "unsupported_parameter",
    "document_annotation_format",
  ],
  [{ document, extract_header: true }, 400, "unsupported_parameter", "extract_header"],
  [{ document, extract_footer: true }, 400, "unsupported_parameter", "extract_footer"],
  [{ document, include_blocks: true }, 400, "unsupported_parameter", "include_blocks"],
  [{ document, confidence_scores_granularity: "word" }, 400, "unsupported_parameter", "confidence_scores_granularity"],
] as const)("%j is refused", async (body, status, code, param) => {
  expect(await fault(await serve().post(PATH, body))).toEqual([status, code, param]);
});

describe("a client that uploads a document first", () => {
  test("gets the pages by the URL of the file, and deletes the file", async () => {
    const dataDir = temporaryFolder();
    const server = serve(hello, { dataDir });
    const uploaded = await upload(server, "not\njson");
    expect(uploaded.status).toBe(200);
    const file = (await uploaded.json()) as { id: string; purpose: string; filename: string };
    expect(file).toMatchObject({ purpose: "ocr", filename: "scan.pdf", bytes: 8 });
    const signed = await fetch(`${server.url}/v1/files/${file.id}/url?expiry=1`);
    const { url: address } = (await signed.json()) as { url: string };
    expect(address).toBe(`${server.url}/v1/files/${file.id}/content`);
    expect(await (await fetch(address)).text()).toBe("not\njson");
    const body = { model: "mistral-ocr-latest", document: { type: "document_url", document_url: address } };
    const answer = (await (await server.post(PATH, body)).json()) as { pages: { index: number; markdown: string }[] };
    expect(answer.pages.map(({ index }) => index)).toEqual([0, 1]);
    expect(server.reader.asked.map(({ content }) => content)).toEqual(["not\njson"]);
    const byId = await server.post(PATH, { document: { type: "file", file_id: file.id } });
    expect(byId.status).toBe(200);
    expect(readdirSync(join(dataDir, "files"))).toHaveLength(1);
    const removed = await fetch(`${server.url}/v1/files/${file.id}`, { method: "DELETE" });
    expect(await removed.json()).toEqual({ id: file.id, object: "file", deleted: true });
    expect((await fetch(address)).status).toBe(404);
    expect([readdirSync(join(dataDir, "files")), leftovers(server)]).toEqual([[], []]);
  });

  test("may send the file before the purpose, and is told what Mistral's clients expect of a file", async () => {
    const server = serve();
    const answers = (["before", "behind"] as const).map(async (order) => {
      const response = await upload(server, '%PDF\n{"a":1}\n[', order);
      return { ...((await response.json()) as object), id: "file-ID", created_at: 0 };
    });
    const [first, second] = await Promise.all(answers);
    expect(second).toEqual(first);
    await expectGolden("files-ocr.json", JSON.stringify(first));
    checker(FileObject)(first);
  });

  test("gets the first error of a line at the end of the form when the purpose is another, or there is none", async () => {
    const server = serve();
    for (const purpose of [undefined, "batch"]) {
      const form = new FormData();
      form.append("file", new Blob(["{}\n%PDF\n[\n"]), "scan.pdf");
      if (purpose) form.append("purpose", purpose);
      const response = await fetch(`${server.url}/v1/files`, { method: "POST", body: form });
      const { error } = (await response.json()) as { error: { code: string; message: string } };
      expect([response.status, error.code, error.message]).toEqual([
        400,
        "invalid_json",
        expect.stringMatching(/^Line 2 of the file is not valid JSON/),
      ]);
    }
    expect(await (await fetch(`${server.url}/v1/files`)).json()).toMatchObject({ data: [] });
  });

  test("cannot use the file for a batch", async () => {
    const server = serve();
    const { id } = (await (await upload(server)).json()) as { id: string };
    const batch = { input_file_id: id, endpoint: "/v1/chat/completions", completion_window: "24h" };
    expect(await fault(await server.post("/v1/batches", batch))).toEqual([400, "invalid_value", "input_file_id"]);
    const listed = await (await fetch(`${server.url}/v1/files?purpose=ocr`)).json();
    expect(listed).toMatchObject({ data: [{ id, purpose: "ocr" }] });
  });
});
