import { describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../support/folders.ts";
import { until } from "../support/until.ts";
import { serve, type TestServer } from "./harness.ts";

interface Body {
  readonly id: string;
  readonly error: { readonly code: string; readonly param: string | null; readonly message: string };
  readonly data: readonly { readonly id: string }[];
  readonly [field: string]: unknown;
}

const read = async (response: Response | Promise<Response>) => (await (await response).json()) as Body;
const line = (index: number) => `{"custom_id":"${index}","é":"→"}\n`;
const lines = (count: number) => Array.from({ length: count }, (_, index) => line(index)).join("");

function form(content: string | Blob, fields: Record<string, string> = { purpose: "batch" }): FormData {
  const data = new FormData();
  data.append("file", new File([content], "täglich.jsonl"));
  for (const [name, value] of Object.entries(fields)) data.append(name, value);
  return data;
}

const upload = ({ url }: TestServer, body: FormData | Blob | string | ReadableStream, query = "", headers = {}) =>
  fetch(`${url}/v1/files${query}`, { method: "POST", body, headers });

describe("POST /v1/files", () => {
  test("takes a form with its fields after or before the file", async () => {
    const server = serve();
    const file = await read(upload(server, form(lines(3))));
    expect(file).toMatchObject({
      object: "file",
      bytes: Buffer.byteLength(lines(3)),
      filename: "täglich.jsonl",
      purpose: "batch",
      status: "processed",
      expires_at: null,
    });
    expect(file.id).toMatch(/^file-[0-9a-f]{24}$/);
    const first = new FormData();
    first.append("purpose", "batch");
    first.append("file", new File([lines(1)], "x"));
    expect((await upload(server, first)).status).toBe(200);
    expect(await read(fetch(`${server.url}/v1/files/${file.id}`))).toEqual(file);
  });

  test("takes the content as the body, of any type, with name and purpose in the query", async () => {
    const server = serve();
    expect(await read(upload(server, lines(2)))).toMatchObject({ filename: "upload.jsonl", purpose: "batch" });
    const named = await read(upload(server, lines(2), "?filename=a.jsonl&purpose=batch", { "content-type": "x/y" }));
    expect(named).toMatchObject({ filename: "a.jsonl", bytes: Buffer.byteLength(lines(2)) });
  });

  test("keeps the bytes unchanged, whatever the line endings", async () => {
    const server = serve();
    for (const content of [
      lines(3).trimEnd(),
      `\ufeff${lines(2)}`,
      lines(2).replaceAll("\n", "\r\n"),
      `\n${lines(1)}\n`,
    ]) {
      const { id } = await read(upload(server, form(content)));
      const response = await fetch(`${server.url}/v1/files/${id}/content`);
      expect(response.headers.get("content-type")).toBe("application/jsonl");
      expect(Buffer.from(await response.arrayBuffer())).toEqual(Buffer.from(content));
    }
  });

  test.each([
    [
      "a line that is no JSON",
      `${lines(2)}{"a":\n${lines(1)}`,
      "invalid_json",
      /^Line 3 of the file is not valid JSON \(5 bytes/,
    ],
    ["a last line that is cut off", `${lines(1)}{"a"`, "invalid_json", /^Line 2 /],
    ["a line that is no object", `${lines(1)}\n[1]\n`, "invalid_json", /^Line 3 of the file must be a JSON object/],
    [
      "bytes that are no UTF-8",
      new Blob([lines(1), new Uint8Array([0x7b, 0xff, 0x7d])]),
      "invalid_json",
      /^Line 2 .*UTF-8/,
    ],
    ["brackets without end", `{"a":${"[".repeat(200)}${"]".repeat(200)}}`, "invalid_json", /^Line 1 .*deeper than 128/],
    [
      "more names than a request may have",
      `${lines(1)}{"a":{${Array.from({ length: 50_000 }, (_, n) => `"${n}":1`).join()}}}\n`,
      "invalid_json",
      /^Line 2 of the file has more than 50000 names/,
    ],
    ["no line", "\n \n", "invalid_value", /is empty/],
    ["no byte", "", "invalid_value", /is empty/],
    ["too many lines", lines(1001), "invalid_value", /more than 1000 lines/],
  ])("refuses %s, in both forms, and leaves nothing behind", async (_, content, code, message) => {
    const dataDir = temporaryFolder();
    const server = serve(undefined, { dataDir });
    for (const body of [form(content), content]) {
      const response = await upload(server, body);
      expect(response.status).toBe(400);
      const { error } = await read(response);
      expect(error).toMatchObject({ code, param: "file" });
      expect(error.message).toMatch(message);
    }
    expect(readdirSync(join(dataDir, "files"))).toEqual([]);
  });

  test.each([
    [{ purpose: "assistants" }, "purpose"],
    [{ "expires_after[anchor]": "now", "expires_after[seconds]": "4000" }, "expires_after[anchor]"],
    [{ "expires_after[anchor]": "created_at" }, "expires_after[seconds]"],
    [{ "expires_after[seconds]": "3599" }, "expires_after[seconds]"],
    [{ "expires_after[seconds]": "an hour" }, "expires_after[seconds]"],
    [{ colour: "red" }, "colour"],
    [{ purpose: "x".repeat(2000) }, "purpose"],
  ])("refuses the fields %p", async (fields, param) => {
    const dataDir = temporaryFolder();
    const response = await upload(serve(undefined, { dataDir }), form(lines(1), fields));
    expect([response.status, (await read(response)).error.param]).toEqual([400, param]);
    expect(readdirSync(join(dataDir, "files"))).toEqual([]);
  });

  test("refuses forms that are truncated or have no boundary, no file, two files, or a file of another name", async () => {
    const dataDir = temporaryFolder();
    const server = serve(undefined, { dataDir });
    const none = new FormData();
    none.append("purpose", "batch");
    const two = form(lines(1));
    two.append("file", new File([lines(1)], "two"));
    const other = new FormData();
    other.append("data", new File([lines(1)], "x"));
    for (const body of [none, two, other]) {
      const response = await upload(server, body);
      expect([response.status, (await read(response)).error.param]).toEqual([400, "file"]);
    }
    const cut = `--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n${lines(2)}`;
    for (const type of ["multipart/form-data; boundary=b", "multipart/form-data"]) {
      expect((await upload(server, cut, "", { "content-type": type })).status).toBe(400);
    }
    expect(readdirSync(join(dataDir, "files"))).toEqual([]);
  });

  test("refuses a compressed body, in both forms", async () => {
    for (const body of [form(lines(1)), lines(1)]) {
      const response = await upload(serve(), body, "", { "content-encoding": "gzip" });
      const { code, message } = (await read(response)).error;
      expect([code, message]).toEqual([
        "unsupported_media_type",
        expect.stringContaining("send the body uncompressed"),
      ]);
    }
  });

  test("refuses a file that is too large while reading it, with or without a Content-Length", async () => {
    const dataDir = temporaryFolder();
    const server = serve(undefined, {
      dataDir,
      files: { bytes: 10_000, lines: 1_000_000, keepSeconds: null, keepBatchSeconds: null },
    });
    const stream = (chunks: number) =>
      new ReadableStream({
        async start(controller) {
          for (let at = 0; at < chunks; at++) controller.enqueue(Buffer.from(line(at)));
          controller.close();
        },
      });
    for (const body of [form(lines(2000)), lines(2000), stream(2000)]) {
      const response = await upload(server, body);
      expect(response.status).toBe(413);
      expect((await read(response)).error).toMatchObject({ code: "payload_too_large", param: "file" });
    }
    expect((await upload(server, stream(100))).status).toBe(200);
    await until(() => readdirSync(join(dataDir, "files")).length === 1);
  });

  test("leaves nothing behind when the client disconnects midway", async () => {
    const dataDir = temporaryFolder();
    const server = serve(undefined, { dataDir });
    const abort = new AbortController();
    const body = new ReadableStream({
      async pull(controller) {
        controller.enqueue(Buffer.from(line(1)));
        await Bun.sleep(5);
      },
    });
    const request = fetch(`${server.url}/v1/files`, { method: "POST", body, signal: abort.signal });
    request.catch(() => {});
    const parts = () => {
      try {
        return readdirSync(join(dataDir, "files")).length;
      } catch {
        return 0;
      }
    };
    await until(() => parts() === 1);
    abort.abort();
    await until(() => parts() === 0);
  });
});

describe("a server that stops", () => {
  test("keeps an upload that is in progress", async () => {
    const dataDir = temporaryFolder();
    const first = serve(undefined, { dataDir });
    let controller: ReadableStreamDefaultController | undefined;
    const body = new ReadableStream({ start: (own) => void (controller = own) });
    const answer = upload(first, body);
    controller?.enqueue(Buffer.from(line(1)));
    await until(() => first.metrics.connections === 1 && existsSync(join(dataDir, "files")));
    const stopped = first.stop();
    controller?.enqueue(Buffer.from(line(2)));
    controller?.close();
    const { id } = await read(answer);
    await stopped;
    expect((await fetch(`${serve(undefined, { dataDir }).url}/v1/files/${id}`)).status).toBe(200);
  });
});

describe("GET /v1/files", () => {
  test("pages through all files, in both orders, by purpose", async () => {
    const server = serve();
    const ids: string[] = [];
    for (let count = 1; count <= 5; count++) ids.push((await read(upload(server, lines(count)))).id);
    const list = (query: string) => read(fetch(`${server.url}/v1/files?${query}`));
    expect((await list("")).data.map(({ id }) => id)).toEqual(ids.toReversed());
    const page = await list(`order=asc&limit=2&after=${ids[1]}`);
    expect(page).toMatchObject({ object: "list", first_id: ids[2], last_id: ids[3], has_more: true });
    expect(await list(`limit=2&after=${ids[1]}`)).toMatchObject({ last_id: ids[0], has_more: false });
    expect((await list("purpose=batch_output")).data).toEqual([]);
    expect((await list("purpose=batch")).data).toHaveLength(5);
    for (const [query, status, param] of [
      ["limit=0", 400, "limit"],
      ["limit=10001", 400, "limit"],
      ["order=up", 400, "order"],
      ["purpose=vision", 400, "purpose"],
      ["after=file-none", 404, "after"],
    ] as const) {
      const response = await fetch(`${server.url}/v1/files?${query}`);
      expect([response.status, (await read(response)).error.param]).toEqual([status, param]);
    }
  });

  test.each(["files", "batches"])(
    "of %s is refused where it begins after what never was, also with nothing stored",
    async (path) => {
      const { url } = serve();
      const response = await fetch(`${url}/v1/${path}?after=x-none`);
      expect([response.status, (await read(response)).error.param]).toEqual([404, "after"]);
      expect((await read(fetch(`${url}/v1/${path}`))).data).toEqual([]);
    },
  );

  test("can be paged through while every file of a page is deleted", async () => {
    const server = serve();
    for (let count = 1; count <= 5; count++) await upload(server, lines(count));
    let after = "";
    let seen = 0;
    for (let more = true; more;) {
      const { data, last_id, has_more } = await read(fetch(`${server.url}/v1/files?limit=2${after}`));
      for (const { id } of data) {
        seen++;
        expect((await fetch(`${server.url}/v1/files/${id}`, { method: "DELETE" })).status).toBe(200);
      }
      [after, more] = [`&after=${String(last_id)}`, Boolean(has_more)];
    }
    expect(seen).toBe(5);
    expect((await read(fetch(`${server.url}/v1/files`))).data).toEqual([]);
  });

  test("does not create anything on disk", async () => {
    const dataDir = join(temporaryFolder(), "none");
    const { url } = serve(undefined, { dataDir });
    expect((await read(fetch(`${url}/v1/files`))).data).toEqual([]);
    expect((await read(fetch(`${url}/v1/batches`))).data).toEqual([]);
    for (const path of ["/v1/files/file-x", "/v1/files/file-x/content", "/v1/batches/batch_x"]) {
      expect((await fetch(url + path)).status).toBe(404);
    }
    expect((await fetch(`${url}/v1/files/file-x`, { method: "DELETE" })).status).toBe(404);
    expect(() => readdirSync(dataDir)).toThrow();
  });
});

describe("GET /v1/files/{id}/content", () => {
  test.each([
    ["bytes=0-0", 206, 0, 1],
    ["bytes=5-9", 206, 5, 10],
    ["bytes=20-", 206, 20, undefined],
    ["bytes=-7", 206, -7, undefined],
    ["bytes=10-100000", 206, 10, undefined],
    ["bytes=-100000", 206, 0, undefined],
    ["bytes=9-5", 200, 0, undefined],
    ["bytes=0-1,3-4", 200, 0, undefined],
    ["lines=0-1", 200, 0, undefined],
  ])("Range %s is %d", async (range, status, start, end) => {
    const server = serve();
    const { id } = await read(upload(server, lines(3)));
    const all = Buffer.from(lines(3));
    const wanted = all.subarray(start, end);
    const response = await fetch(`${server.url}/v1/files/${id}/content`, { headers: { range } });
    expect(response.status).toBe(status);
    expect(Buffer.from(await response.arrayBuffer())).toEqual(wanted);
    const from = all.length - all.subarray(start).length;
    const told = status === 206 ? `bytes ${from}-${from + wanted.length - 1}/${all.length}` : null;
    expect(response.headers.get("content-range")).toBe(told);
    expect(response.headers.get("content-length")).toBe(String(wanted.length));
  });

  test("answers HEAD with the length of the content or of its range", async () => {
    const server = serve();
    const { id } = await read(upload(server, lines(3)));
    const head = async (headers = {}) => {
      const response = await fetch(`${server.url}/v1/files/${id}/content`, { method: "HEAD", headers });
      return [response.status, response.headers.get("content-length"), await response.text()];
    };
    expect(await head()).toEqual([200, String(Buffer.byteLength(lines(3))), ""]);
    expect(await head({ range: "bytes=1-4" })).toEqual([206, "4", ""]);
  });

  test("answers 416 for a range beyond the content, and honours conditions", async () => {
    const server = serve();
    const { id } = await read(upload(server, lines(3)));
    const get = (headers: Record<string, string>) => fetch(`${server.url}/v1/files/${id}/content`, { headers });
    for (const condition of [{}, { "if-range": "" }]) {
      const beyond = await get({ range: "bytes=1000-", ...condition });
      expect(beyond.status).toBe(416);
      expect(beyond.headers.get("content-type")).toStartWith("application/json");
      expect(await beyond.json()).toMatchObject({ error: { code: "invalid_value", param: "Range" } });
      expect(beyond.headers.get("content-range")).toBe(`bytes */${Buffer.byteLength(lines(3))}`);
    }
    expect((await get({ range: "bytes=-0" })).status).toBe(416);
    const etag = (await get({})).headers.get("etag") ?? "";
    for (const condition of [etag, "*", `W/${etag}`, `"other", ${etag}`]) {
      expect((await get({ "if-none-match": condition })).status).toBe(304);
    }
    expect((await get({ "if-none-match": '"other", W/"another"' })).status).toBe(200);
    expect((await get({ range: "bytes=0-1", "if-range": etag })).status).toBe(206);
    expect((await get({ range: "bytes=0-1", "if-range": '"other"' })).status).toBe(200);
  });
});

describe("files are removed", () => {
  test("when they are deleted", async () => {
    const dataDir = temporaryFolder();
    const server = serve(undefined, { dataDir });
    const { id } = await read(upload(server, lines(3)));
    const path = `${server.url}/v1/files/${id}`;
    expect(await read(fetch(path, { method: "DELETE" }))).toEqual({ id, object: "file", deleted: true } as never);
    for (const method of ["GET", "DELETE"]) {
      const response = await fetch(path, { method });
      expect([response.status, (await read(response)).error.code]).toEqual([404, "not_found"]);
    }
    expect(readdirSync(join(dataDir, "files"))).toEqual([]);
  });

  test("but remain readable to their end for requests that are reading them", async () => {
    const server = serve(undefined, {
      files: { bytes: 100_000_000, lines: 1e7, keepSeconds: null, keepBatchSeconds: null },
    });
    const content = `{"a":"${"x".repeat(20_000_000)}"}\n`;
    const { id } = await read(upload(server, content));
    const reader = (await fetch(`${server.url}/v1/files/${id}/content`)).body?.getReader();
    let bytes = (await reader?.read())?.value?.length ?? 0;
    expect((await fetch(`${server.url}/v1/files/${id}`, { method: "DELETE" })).status).toBe(200);
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) bytes += part.value.length;
    expect(bytes).toBe(content.length);
  });

  test("when the expiry of the upload has passed, or else the server's", async () => {
    const server = serve(undefined, { files: { bytes: 1000, lines: 10, keepSeconds: 7200, keepBatchSeconds: null } });
    const usual = await read(upload(server, form(lines(1))));
    expect(usual["expires_at"]).toBe(Number(usual["created_at"]) + 7200);
    const fields = { purpose: "batch", "expires_after[anchor]": "created_at", "expires_after[seconds]": "3600" };
    const own = await read(upload(server, form(lines(1), fields)));
    expect(own["expires_at"]).toBe(Number(own["created_at"]) + 3600);
  });
});

describe("a data folder that cannot be used", () => {
  test("is 503 without Retry-After when its database is damaged, without a crash", async () => {
    const dataDir = temporaryFolder();
    writeFileSync(join(dataDir, "jobs.sqlite"), "this is no database, whatever its name says".repeat(100));
    const server = serve(undefined, { dataDir });
    for (const response of [
      await upload(server, lines(1)),
      await fetch(`${server.url}/v1/files`),
      await fetch(`${server.url}/v1/batches`),
      await server.post("/v1/batches", { input_file_id: "file-x", endpoint: "/v1/chat/completions" }),
    ]) {
      expect([response.status, response.headers.get("x-should-retry")]).toEqual([503, "false"]);
      const { error } = await read(response);
      expect(error.code).toBe("storage_unavailable");
      expect(error.message).toContain("SQLITE_NOTADB");
    }
    expect((await server.chat({})).status).toBe(200);
    expect(server.log.lines.filter(({ level }) => level === "warn").length).toBeGreaterThan(0);
  });

  test("limits contents to --data-size, and deleting frees space", async () => {
    const server = serve(undefined, { dataSize: 0.05 });
    const first = await read(upload(server, lines(250)));
    const refused = await upload(server, lines(250));
    expect([refused.status, refused.headers.get("x-should-retry")]).toEqual([507, "false"]);
    const { error } = await read(refused);
    expect(error.code).toBe("storage_full");
    expect(error.message).toMatch(
      /^Files and batches may take 0\.05 MiB \(--data-size\) and take 0\.0 MiB, 0\.0 MiB of it for records: /,
    );
    expect((await server.chat({})).status).toBe(200);
    expect((await read(fetch(`${server.url}/v1/files`))).data).toHaveLength(1);
    await fetch(`${server.url}/v1/files/${first.id}`, { method: "DELETE" });
    expect((await upload(server, lines(250))).status).toBe(200);
  });

  test("is 503 when it is a file", async () => {
    const dataDir = join(temporaryFolder(), "file");
    writeFileSync(dataDir, "");
    const response = await upload(serve(undefined, { dataDir }), lines(1));
    expect([response.status, (await read(response)).error.code]).toEqual([503, "storage_unavailable"]);
  });

  test("is 503 for content that has disappeared, whose file can still be deleted", async () => {
    const dataDir = temporaryFolder();
    const server = serve(undefined, { dataDir });
    const { id } = await read(upload(server, lines(1)));
    rmSync(join(dataDir, "files", id));
    expect((await fetch(`${server.url}/v1/files/${id}/content`)).status).toBe(503);
    const made = await server.post("/v1/batches", { input_file_id: id, endpoint: "/v1/chat/completions" });
    expect([made.status, (await read(made)).error.code]).toEqual([503, "storage_unavailable"]);
    expect((await fetch(`${server.url}/v1/files/${id}`, { method: "DELETE" })).status).toBe(200);
  });

  test("cannot be read by other users", async () => {
    const dataDir = join(temporaryFolder(), "new");
    mkdirSync(dataDir);
    chmodSync(dataDir, 0o755);
    const { id } = await read(upload(serve(undefined, { dataDir }), lines(1)));
    const mode = async (path: string) => (await Bun.file(path).stat()).mode & 0o077;
    expect(await mode(join(dataDir, "files"))).toBe(0);
    expect(await mode(join(dataDir, "files", id))).toBe(0);
  });
});
