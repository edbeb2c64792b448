// POST /v1/vision/ocr with pages from an engine in memory.

import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checker } from "../../src/contract/schema.ts";
import { FoundAnything, FoundBarcodes, FoundRegions, RecognizedDocuments } from "../../src/contract/recognition.ts";
import { SvcError } from "../../src/domain/errors.ts";
import { errorOf, fault } from "../support/fault.ts";
import { temporaryFolder } from "../support/folders.ts";
import { until } from "../support/until.ts";
import { expectGolden } from "./golden.ts";
import { leftovers, serve, type TestServer } from "./harness.ts";

const PATH = "/v1/vision/ocr";
const data = Buffer.from("picture").toString("base64");
const url = `data:image/png;base64,${data}`;

function form(fields: readonly (readonly [string, string])[] = [], content = "picture", name = "file"): FormData {
  const body = new FormData();
  for (const [field, value] of fields) body.append(field, value);
  body.append(name, new Blob([content]), "scan.png");
  return body;
}
const send = (server: TestServer, body: FormData) => fetch(server.url + PATH, { method: "POST", body });

async function message(response: Response): Promise<string> {
  return (await errorOf(response)).message;
}

describe("answers", () => {
  test.each([
    ["text", [], "ocr-text.json"],
    ["text with a top-left origin", [["origin", "top-left"]], "ocr-top-left.json"],
    ["tables", [["mode", "table"]], "ocr-table.json"],
    ["words", [["include_words", "true"]], "ocr-words.json"],
    ["debug", [["debug", "true"]], "ocr-debug.json"],
  ] as const)("%s", async (_, fields, golden) => {
    const server = serve();
    const response = await send(server, form(fields));
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json;charset=utf-8"]);
    const text = await response.text();
    checker(RecognizedDocuments)(JSON.parse(text));
    await expectGolden(golden, text);
    expect(server.reader.asked.map(({ content }) => content)).toEqual(["picture"]);
    expect(leftovers(server)).toEqual([]);
  });

  test("can be barcodes", async () => {
    const response = await serve().post(PATH, { data, mode: "barcode" });
    const text = await response.text();
    checker(FoundBarcodes)(JSON.parse(text));
    await expectGolden("ocr-barcode.json", text);
  });

  test("can be salient regions", async () => {
    const body = { data, mode: "saliency", saliency_type: "objectness", include_heat_map: true };
    const text = await (await serve().post(PATH, body)).text();
    checker(FoundRegions)(JSON.parse(text));
    await expectGolden("ocr-saliency.json", text);
  });

  test("can be everything, in mode auto", async () => {
    const text = await (await serve().post(PATH, { data, mode: "auto" })).text();
    checker(FoundAnything)(JSON.parse(text));
    await expectGolden("ocr-auto.json", text);
  });

  test("can be plain text", async () => {
    const response = await send(serve(), form([["response_format", "text"]]));
    expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(await response.text()).toBe("Invoice 7\nof a <b> & so on\n\nSum: 12.50\n\nThe end.\n");
  });
});

test.each([
  ["top-left", { x: 0, y: 0.9, width: 0.1, height: 0.1 }],
  ["bottom-left", { x: 0, y: 0, width: 0.1, height: 0.1 }],
])("boxes end at the edges of the page: origin %s", async (origin, wanted) => {
  const server = serve();
  server.reader.pages = server.reader.pages.slice(0, 1).map((page) => {
    const lines = page.lines.slice(0, 1).map((line) => ({ ...line, box: { x: -20, y: 90, width: 40, height: 30 } }));
    return { ...page, width: 200, height: 100, lines };
  });
  const { documents } = (await (await server.post(PATH, { data, origin })).json()) as RecognizedDocuments;
  expect(documents[0]?.text_blocks[0]?.bounding_box).toEqual(wanted);
});

test("can be Markdown", async () => {
  const response = await send(serve(), form([["response_format", "markdown"]]));
  expect(response.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
  const table = "| Name | Sum |\n| --- | --- |\n| a | 12.50 |";
  expect(await response.text()).toBe(`Invoice 7\n\n${table}\n\nSum: 12.50\n\nThe end.\n`);
});

describe("documents are accepted", () => {
  test("as base64, as data: URLs and in messages", async () => {
    const server = serve();
    const names = async (body: object) => {
      const answer = (await (await server.post(PATH, body)).json()) as RecognizedDocuments;
      return answer.documents.map(({ file, source_type }) => [file, source_type]);
    };
    expect(await names({ data: url, filename: "a.pdf", media_type: "application/pdf" })).toEqual([["a.pdf", "data"]]);
    expect(await names({ image_url: { url } })).toEqual([["image_url", "image_url"]]);
    expect(await names({ image_url: url })).toEqual([["image_url", "image_url"]]);
    const content = [
      { type: "text", text: "What is this?" },
      { type: "image_url", image_url: { url } },
      { type: "input_image", image_url: url },
      { type: "file", file: { filename: "b.pdf", file_data: url } },
    ];
    const messages = [
      { role: "user", content: "hi" },
      { role: "user", content },
    ];
    expect(await names({ messages })).toEqual([
      ["messages.1.content.1", "message_image"],
      ["messages.1.content.2", "message_image"],
      ["b.pdf", "message_image"],
    ]);
    expect(server.reader.asked.map((work) => work.content)).toEqual(Array.from({ length: 6 }, () => "picture"));
    expect(server.metrics.calls.filter((call) => call.includes("finished"))).toEqual(
      Array.from({ length: 4 }, () => "recognition finished stop"),
    );
  });

  test("in forms, even without a file name", async () => {
    const headers = { "content-type": "multipart/form-data; boundary=b" };
    const body =
      '--b\r\nContent-Disposition: form-data; name="file"\r\nContent-Type: application/octet-stream\r\n\r\npicture\r\n--b--\r\n';
    const response = await fetch(serve().url + PATH, { method: "POST", headers, body });
    const { documents } = (await response.json()) as RecognizedDocuments;
    expect(documents.map(({ file, source_type }) => [file, source_type])).toEqual([["file", "upload"]]);
  });

  test("in messages of every API", async () => {
    const server = serve();
    const base64 = { type: "base64", media_type: "image/png", data };
    const messages = [
      { role: "user", content: "What is this?", images: [data] },
      {
        role: "user",
        content: [
          { type: "image", source: base64 },
          { type: "document", source: base64, title: "A bill" },
          { type: "document", source: { type: "text", data: "words" } },
          { type: "tool_result", content: [{ type: "image", source: { type: "url", url } }] },
          { type: "input_file", file_url: url },
        ],
      },
    ];
    const answer = (await (await server.post(PATH, { messages })).json()) as RecognizedDocuments;
    const names = [
      "messages.0.images.0",
      "messages.1.content.0",
      "A bill",
      "messages.1.content.3.content.0",
      "messages.1.content.4",
    ];
    expect(answer.documents.map(({ file }) => file)).toEqual(names);
    expect(server.reader.asked.map((work) => [work.content, work.field])).toEqual([
      ["picture", "messages.0.images.0"],
      ["picture", "messages.1.content.0.source.data"],
      ["picture", "messages.1.content.1.source.data"],
      ["picture", "messages.1.content.3.content.0.source.url"],
      ["picture", "messages.1.content.4.file_url"],
    ]);
    const far = { type: "image", source: { type: "url", url: "https://example.org/a.png" } };
    expect(await fault(await server.post(PATH, { messages: [{ role: "user", content: [far] }] }))).toEqual([
      400,
      "invalid_value",
      "messages.0.content.0.source.url",
    ]);
  });

  test("by path, only from the media folder", async () => {
    const mediaRoot = temporaryFolder();
    writeFileSync(join(mediaRoot, "a.png"), "local");
    mkdirSync(join(mediaRoot, "folder"));
    const server = serve(undefined, { mediaRoot });
    const answer = (await (await server.post(PATH, { file: "a.png" })).json()) as RecognizedDocuments;
    expect(answer.documents.map(({ file, source_type }) => [file, source_type])).toEqual([["a.png", "file"]]);
    expect(await (await server.post(PATH, { image_url: { url: "file:a.png" } })).status).toBe(200);
    expect(readdirSync(mediaRoot)).toContain("a.png");
    for (const file of ["b.png", "/etc/passwd", "../x", "folder"]) {
      expect(await fault(await server.post(PATH, { file }))).toEqual([404, "not_found", "file"]);
    }
    writeFileSync(join(mediaRoot, "empty.png"), "");
    expect(await fault(await server.post(PATH, { file: "empty.png" }))).toEqual([400, "invalid_value", "file"]);
    expect(await fault(await serve().post(PATH, { file: "a.png" }))).toEqual([400, "invalid_value", "file"]);
  });
});

describe("controls", () => {
  const asked = async (body: object) => {
    const server = serve();
    const response = await server.post(PATH, { data, ...body });
    expect(response.status).toBe(200);
    return server.reader.asked[0];
  };
  const eng = { name: "eng", path: "/data/eng" };
  const deu = { name: "deu", path: "/data/deu" };

  test("have defaults", async () => {
    expect(await asked({})).toMatchObject({
      task: { text: { languages: [eng], level: "accurate", correction: true } },
      maxPages: 50,
      field: "data",
    });
  });

  test("reach the engine", async () => {
    const languages = ["de-AT", "en", "deu"];
    const work = await asked({
      languages,
      recognition_level: "fast",
      uses_language_correction: false,
      max_pages: 7,
      pages: "1 - 3, 5,9-",
    });
    expect(work).toMatchObject({
      task: { text: { languages: [deu, eng], level: "fast", correction: false } },
      maxPages: 7,
      pages: [{ first: 1, last: 3 }, { first: 5, last: 5 }, { first: 9 }],
    });
    expect((await asked({ detail: "low" }))?.task.text?.level).toBe("fast");
    expect((await asked({ mode: "barcode" }))?.task).toEqual({ barcodes: true });
    expect((await asked({ mode: "saliency" }))?.task).toEqual({ saliency: { type: "attention", heatMap: false } });
    expect((await asked({ table: true, auto_crop: true }))?.task).toMatchObject({ tables: true, crop: true });
    expect((await asked({ response_format: "markdown" }))?.task).toMatchObject({ tables: true });
    expect(Object.keys((await asked({ auto_crop: false }))?.task ?? {})).toEqual(["text"]);
  });

  test("select PP-OCR for Chinese and Japanese, which need no trained data, and Tesseract otherwise", async () => {
    const server = serve(undefined, { ocrEngine: "ppocr" });
    const engine = async (languages: readonly string[]) => {
      const response = await server.post(PATH, { data, languages });
      if (!response.ok) return message(response);
      const text = server.reader.asked.at(-1)?.task.text;
      return [text?.engine, text?.languages.map(({ name }) => name)];
    };
    expect(await engine(["ja"])).toEqual(["ppocr", []]);
    expect(await engine(["en", "zh-Hant-TW"])).toEqual(["ppocr", []]);
    expect(await engine(["en"])).toEqual([undefined, ["eng"]]);
    const refusal = await engine(["zh", "de"]);
    expect(refusal).toContain("there is data for (deu, eng);");
    expect(refusal).toContain("PP-OCR reads chi_sim, chi_tra, jpn, alone or with eng.");
    server.reader.tessdata.known = ["chi_sim", "deu"];
    expect(await engine(["zh", "de"])).toEqual([undefined, ["chi_sim", "deu"]]);
    expect(await message(await serve().post(PATH, { data, languages: ["ja"] }))).toContain("(deu, eng)");
  });

  test("use the server's languages when the request names none", async () => {
    const server = serve(undefined, { ocrLanguages: ["de-AT", "en"] });
    const read = async (more: object) => {
      await server.post(PATH, { data, ...more });
      return server.reader.asked.at(-1)?.task.text?.languages.map(({ name }) => name);
    };
    expect(await read({})).toEqual(["deu", "eng"]);
    expect(await read({ languages: ["en"] })).toEqual(["eng"]);
    const japanese = serve(undefined, { ocrEngine: "ppocr", ocrLanguages: ["ja"] });
    await japanese.post(PATH, { data });
    expect(japanese.reader.asked[0]?.task.text).toMatchObject({ engine: "ppocr", languages: [] });
  });

  test("in a form are parsed by their types", async () => {
    const server = serve();
    const fields = [
      ["languages[]", "de"],
      ["languages", "en"],
      ["max_pages", "3"],
      ["verbose", "true"],
    ] as const;
    const answer = (await (await send(server, form(fields))).json()) as RecognizedDocuments;
    expect(answer.debug_output).toContain("200 × 100 pixels");
    expect(server.reader.asked[0]).toMatchObject({ task: { text: { languages: [deu, eng] } }, maxPages: 3 });
  });

  test.each(["de, en", '["de", "en"]'])("in a form may be lists in a single text: %s", async (languages) => {
    const server = serve();
    expect((await send(server, form([["languages", languages]]))).status).toBe(200);
    expect(server.reader.asked[0]).toMatchObject({ task: { text: { languages: [deu, eng] } } });
  });

  test.each([
    ["image/png", "got image/png."],
    ["secret/words", "got another type."],
  ])("in another content type (%s) are refused with both accepted types", async (type, got) => {
    const response = await fetch(serve().url + PATH, { method: "POST", headers: { "Content-Type": type }, body: "x" });
    const message = `Content-Type must be multipart/form-data or application/json; ${got}`;
    expect([response.status, await response.json()]).toMatchObject([400, { error: { message } }]);
  });

  test("give `debug` priority over `mode`, and `mode` priority over `table`", async () => {
    const mode = async (body: object) =>
      ((await (await serve().post(PATH, { data, ...body })).json()) as { mode: string }).mode;
    expect(await mode({ debug: true, mode: "barcode" })).toBe("debug");
    expect(await mode({ table: true, mode: "barcode" })).toBe("barcode");
  });

  test.each([
    [{ mode: "read" }, "mode"],
    [{ recognition_level: "best" }, "recognition_level"],
    [{ response_format: "xml" }, "response_format"],
    [{ response_format: "text", mode: "barcode" }, "response_format"],
    [{ origin: "middle" }, "origin"],
    [{ max_pages: 0 }, "max_pages"],
    [{ pages: "0" }, "pages"],
    [{ pages: "3-1" }, "pages"],
    [{ pages: "1;2" }, "pages"],
    [{ pages: "1 2" }, "pages"],
    [{ languages: [] }, "languages"],
    [{ languages: ["../eng"] }, "languages"],
    [{ languages: ["fr"] }, "languages"],
    [{ image_url: url }, "image_url"],
    [{ data: "*" }, "data"],
  ] as const)("%j is refused by name", async (body, param) => {
    const response = await serve().post(PATH, { data, ...body });
    const error = await errorOf(response);
    expect([response.status, error.param]).toEqual([400, param]);
  });

  test("with a language that has no data are refused with the available languages", async () => {
    const told = await message(await serve().post(PATH, { data, languages: ["fr"] }));
    expect(told).toContain("(deu, eng)");
    expect(told).toContain("svc pull tessdata:NAME");
    const server = serve();
    server.reader.tessdata.known = [];
    expect(await fault(await server.post(PATH, { data }))).toEqual([503, "engine_unavailable", null]);
  });
});

describe("refusals", () => {
  test.each([
    [{}, 400, "missing_required_parameter", "file"],
    [{ image_url: "http://127.0.0.1/a.png" }, 400, "invalid_value", "image_url"],
    [{ image_url: { url: "ftp://x/a.png" } }, 400, "invalid_value", "image_url.url"],
    [{ messages: [{ role: "user", content: "no image" }] }, 400, "missing_required_parameter", "messages"],
    [{ data: "" }, 400, "invalid_value", "data"],
  ] as const)("%j", async (body, status, code, param) => {
    expect(await fault(await serve().post(PATH, body))).toEqual([status, code, param]);
  });

  test("a request that finds all places and the queue taken is refused with Retry-After", async () => {
    const server = serve(undefined, { parallel: 2, maxQueue: 0 });
    const gate = Promise.withResolvers<void>();
    server.reader.gate = gate.promise;
    const running = [server.post(PATH, { data }), server.post(PATH, { data })];
    await until(() => server.reader.asked.length === 2);
    const refused = await server.post(PATH, { data });
    // A request counts as two seconds until one was measured.
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(await message(refused)).toContain("2 running and 0 waiting requests");
    gate.resolve();
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200]);
  });

  test("a file that is too large is refused, in whatever form", async () => {
    const large = "x".repeat(25 * 1024 * 1024 + 1);
    const server = serve();
    expect(await fault(await send(server, form([], large)))).toEqual([413, "payload_too_large", "file"]);
    const body = { data: Buffer.from(large).toString("base64") };
    expect(await fault(await server.post(PATH, body))).toEqual([413, "payload_too_large", "data"]);
    expect(leftovers(server)).toEqual([]);
  });

  test("a document without text is 422, and so is one that the engine cannot read", async () => {
    const server = serve();
    const [first, second] = server.reader.pages;
    server.reader.pages = second ? [second] : [];
    expect(await fault(await server.post(PATH, { data, mode: "table" }))).toEqual([422, "no_tables", null]);
    server.reader.pages = [first, second].flatMap((page) => (page ? [{ ...page, lines: [], tables: [] }] : []));
    expect(await fault(await server.post(PATH, { data }))).toEqual([422, "no_text", null]);
    server.reader.refusal = new SvcError("unprocessable_media", "It is damaged.", { param: "data" });
    expect(await fault(await server.post(PATH, { data }))).toEqual([422, "unprocessable_media", "data"]);
    expect(leftovers(server)).toEqual([]);
  });

  test("a table whose words are in no line is not refused", async () => {
    const server = serve();
    server.reader.pages = server.reader.pages.map((page) => ({ ...page, lines: [] }));
    const { documents } = (await (await server.post(PATH, { data, mode: "table" })).json()) as RecognizedDocuments;
    expect(documents[0]?.tables[0]?.rows[1]).toEqual(["a", "12.50"]);
  });

  test("a page without barcodes yields an empty list", async () => {
    const server = serve();
    server.reader.pages = server.reader.pages.slice(1);
    expect(await (await server.post(PATH, { data, mode: "barcode" })).json()).toEqual({
      object: "vision.ocr",
      mode: "barcode",
      results: [],
    });
  });
});

test("the progress of a request is available until its end", async () => {
  const server = serve();
  const gate = Promise.withResolvers<void>();
  server.reader.gate = gate.promise;
  const running = server.post(PATH, { data }, { "x-request-id": "mine" });
  await until(() => server.reader.told === 1);
  expect(server.requests.history.progressOf("mine")).toEqual({ done: 1, of: 2 });
  gate.resolve();
  expect((await running).status).toBe(200);
  expect(server.requests.history.progressOf("mine")).toBeUndefined();
});

test("the recognition model is listed", async () => {
  const { url: at } = serve();
  const { data: models } = (await (await fetch(`${at}/v1/models`)).json()) as { data: { id: string }[] };
  expect(models.map(({ id }) => id)).toContain("fake-reader");
});
