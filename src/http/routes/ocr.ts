// POST /v1/ocr

import { Elysia } from "elysia";
import { OcrRequest, OcrResponse } from "../../contract/ocr.ts";
import { decodeOcr, type OcrCall } from "../../dialect/ocr/decode.ts";
import { encodeOcr } from "../../dialect/ocr/encode.ts";
import { SvcError } from "../../domain/errors.ts";
import { MOST_PAGES, type RecognizedPage } from "../../domain/recognition.ts";
import type { FilesService } from "../../service/batch/files.ts";
import { fewerPages, type HeldAnswer } from "../../service/held-answer.ts";
import type { TemporaryFile } from "../../store/temporary-files.ts";
import { beginJob } from "../begin-job.ts";
import type { AppDeps } from "../deps.ts";
import { isForm } from "../form-parts.ts";
import { bodyCeilings } from "../json-body.ts";
import { jsonRoute } from "../json-content.ts";
import { jsonResponse, wholeAnswer } from "../json-response.ts";

const NO_FORMS = "Content-Type must be application/json; got multipart/form-data. POST /v1/vision/ocr takes forms.";

/** Converts documents to Markdown, with a Mistral-compatible API. */
export const ocrRoutes = (deps: AppDeps, files: FilesService) =>
  new Elysia({ name: "route.ocr" }).post(
    "/v1/ocr",
    ({ request }) => answer(deps, files, request),
    jsonRoute(OcrRequest, OcrResponse),
  );

async function answer(deps: AppDeps, files: FilesService, request: Request): Promise<Response> {
  const { origin, context, report } = beginJob(deps, request);
  if (isForm(request)) throw new SvcError("unsupported_media_type", NO_FORMS);
  const call = decodeOcr(await deps.bodies.read(request, bodyCeilings.generation));
  const { model, languages, pages, tableFormat } = call;
  const document = await documentOf(deps, files, call, request.signal);
  const bytes = Bun.file(document.path).size;
  const text = { languages, level: "accurate", correction: true } as const;
  const run = {
    ...origin,
    work: {
      task: { text, tables: true as const },
      maxPages: MOST_PAGES,
      countsFromZero: true as const,
      ...(pages && { pages }),
    },
    model,
  };
  const read: RecognizedPage[] = [];
  const whole = async (held: HeldAnswer) => {
    for await (const event of deps.recognition.recognize([document], run, request.signal, report)) {
      if (event.type !== "page") continue;
      held.addPage(event.page);
      read.push(event.page);
    }
    return jsonResponse(context, encodeOcr(read, model ?? deps.recognition.model(), bytes, tableFormat));
  };
  return wholeAnswer(deps.answerBudget, context, whole, fewerPages);
}

/** Returns the document as a file. Uploaded files are not deleted afterwards. */
async function documentOf(
  { recognition }: AppDeps,
  files: FilesService,
  { source }: OcrCall,
  signal: AbortSignal,
): Promise<TemporaryFile> {
  if (source.kind !== "stored") return recognition.document(source, signal);
  const { field } = source;
  try {
    const { path, bytes } = files.content(source.id);
    if (bytes > recognition.documents.largest) throw recognition.documents.tooLarge(field);
    return { path, field, discard: async () => {} };
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== "not_found") throw error;
    throw new SvcError("not_found", error.message, { param: field });
  }
}
