// /v1/files: uploading, listing, fetching and deleting files.

import { Elysia } from "elysia";
import { DeletedFile, FileAddress, FileList, FileObject, FileUpload } from "../../contract/files.ts";
import { decodePurpose, decodeUpload, decodeUploadPurpose, FILES_PAGE } from "../../dialect/files/decode.ts";
import { encodeFile, encodeFiles } from "../../dialect/files/encode.ts";
import { decodePage } from "../../dialect/fields/page.ts";
import { fieldError } from "../../domain/errors.ts";
import type { UploadPurpose } from "../../domain/file-purpose.ts";
import type { FilesService } from "../../service/batch/files.ts";
import { tooLarge } from "../../service/batch/received-content.ts";
import { bodyChunks, checkEncoding } from "../body-chunks.ts";
import { byteRange } from "../byte-range.ts";
import type { AppDeps } from "../deps.ts";
import { isForm, LONGEST_NAME, orDiscard, readOneFile, type Fields } from "../form-parts.ts";
import { fileContent, hooksOf, jsonAnswer, jsonContent, textContent, typedContent } from "../json-content.ts";
import { errorResponse } from "../plugins/errors.ts";
import { publicUrl } from "../public-url.ts";
import type { RequestContext } from "../request-context.ts";

const JSONL = "application/jsonl";
const USUAL_NAME = "upload.jsonl";
/** Type of pictures and documents of any format. */
const ANY = "application/octet-stream";

const stored = textContent([JSONL, ANY]);

const upload = {
  description: "A form, or the content itself with purpose and filename in the query.",
  content: { ...typedContent(["multipart/form-data"], FileUpload).content, ...fileContent([JSONL]).content },
};

/** Files on the server's disk. */
export const fileRoutes = (files: FilesService, { config, contexts }: Pick<AppDeps, "config" | "contexts">) =>
  new Elysia({ name: "route.files" })
    .post("/v1/files", ({ request }) => receive(files, request), hooksOf(jsonContent(FileObject), upload))
    .get(
      "/v1/files",
      ({ request }) => {
        const { searchParams } = new URL(request.url);
        return Response.json(
          encodeFiles(files.list(decodePage(searchParams, FILES_PAGE), decodePurpose(searchParams))),
        );
      },
      jsonAnswer(FileList),
    )
    .get("/v1/files/:id", ({ params }) => Response.json(encodeFile(files.get(params.id))), jsonAnswer(FileObject))
    .get(
      "/v1/files/:id/url",
      ({ params, request }) => {
        const { id } = files.get(params.id);
        return Response.json({ url: publicUrl(`/v1/files/${id}/content`, request, config) });
      },
      jsonAnswer(FileAddress),
    )
    .get(
      "/v1/files/:id/content",
      ({ params, request }) => contentOf(files.content(params.id), request, contexts.of(request)),
      { detail: { responses: { 200: stored, 206: stored, 304: { description: "" } } } },
    )
    .delete(
      "/v1/files/:id",
      ({ params }) => {
        files.delete(params.id);
        return Response.json({ id: params.id, object: "file", deleted: true });
      },
      jsonAnswer(DeletedFile),
    );

async function receive(files: FilesService, request: Request): Promise<Response> {
  const { largest: ceiling } = files;
  const limits = { ceiling, tooLarge: () => tooLarge(ceiling), fieldBytes: 1024, usualName: USUAL_NAME };
  let purpose: UploadPurpose | undefined;
  const store = async (chunks: AsyncIterable<Uint8Array>, before: Fields) => {
    // A query is whole; in a form, more fields may come.
    purpose = decodeUploadPurpose(new Map(before)) ?? (isForm(request) ? undefined : "batch");
    return files.receive(chunks, purpose);
  };
  const { content, filename, fields } = await (isForm(request)
    ? readOneFile(request, limits, store)
    : readRaw(request, ceiling, store));
  return orDiscard([content], async () => {
    const call = decodeUpload(new Map(fields), purpose);
    return Response.json(encodeFile(await content.keep(filename, call)));
  });
}

/** Reads a body that is the file itself, with the fields in the query. Throws SvcError, or what `receive` throws. */
async function readRaw<Content>(
  request: Request,
  ceiling: number,
  receive: (chunks: AsyncIterable<Uint8Array>, query: Fields) => Promise<Content>,
) {
  checkEncoding(request);
  if (Number(request.headers.get("content-length")) > ceiling) throw tooLarge(ceiling);
  const query = new URL(request.url).searchParams;
  const content = await receive(bodyChunks(request), [...query]);
  return { content, filename: (query.get("filename") ?? USUAL_NAME).slice(0, LONGEST_NAME), fields: [...query] };
}

/** Returns whether a request's condition matches this tag: any tag, or one of a list, strong or weak. */
const matchesTag = (condition: string | null, etag: string): boolean =>
  condition?.split(",").some((one) => ["*", etag, `W/${etag}`].includes(one.trim())) ?? false;

/** Answers with a file's content. Content never changes, so the file's id identifies it. */
function contentOf(
  file: ReturnType<FilesService["content"]>,
  { headers: requestHeaders }: Request,
  context: RequestContext,
) {
  const { id, path, bytes, filename, purpose } = file;
  const etag = `"${id}"`;
  const headers = {
    "Content-Type": purpose === "ocr" ? ANY : JSONL,
    "Content-Disposition": `attachment; filename*=UTF-8''${encodeURIComponent(filename.toWellFormed())}`,
    "Accept-Ranges": "bytes",
    ETag: etag,
  };
  if (matchesTag(requestHeaders.get("if-none-match"), etag)) return new Response(null, { status: 304, headers });
  // An empty header is as good as none, also for Bun, which would answer the Range itself.
  const condition = requestHeaders.get("if-range") || etag;
  const range = byteRange(condition === etag ? requestHeaders.get("range") : null, bytes);
  // As a stream: for a file, Bun would answer Range in its own way.
  if (range === "all")
    return new Response(Bun.file(path).stream(), { headers: { ...headers, "Content-Length": String(bytes) } });
  if (!range) return beyond(bytes, context);
  const { start, end } = range;
  return new Response(Bun.file(path).slice(start, end).stream(), {
    status: 206,
    headers: {
      ...headers,
      "Content-Length": String(end - start),
      "Content-Range": `bytes ${start}-${end - 1}/${bytes}`,
    },
  });
}

/** Answers 416, a status that no error code has by itself. */
function beyond(bytes: number, context: RequestContext): Response {
  const failure = fieldError("invalid_value", "Range", `must begin within the ${bytes} bytes of the file`);
  context.failure = failure;
  const { body, headers } = errorResponse(failure, context.id);
  headers.set("Content-Range", `bytes */${bytes}`);
  return new Response(body, { status: 416, headers });
}
