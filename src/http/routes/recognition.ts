// POST /v1/vision/ocr

import { Elysia } from "elysia";
import {
  FoundAnything,
  FoundBarcodes,
  FoundLabels,
  FoundRegions,
  RecognitionForm,
  RecognitionRequest,
  RecognizedDocuments,
} from "../../contract/recognition.ts";
import { t } from "../../contract/schema.ts";
import { formBody } from "../../dialect/fields/form-body.ts";
import {
  decodeRecognition,
  decodeRecognitionForm,
  FORM_FIELDS,
  type RecognitionCall,
} from "../../dialect/recognition/decode.ts";
import {
  combinedMarkdown,
  combinedText,
  encodeAnything,
  encodeBarcodes,
  encodeDocuments,
  encodeLabels,
  encodeRegions,
  type RecognizedDocument,
} from "../../dialect/recognition/encode.ts";
import { SvcError } from "../../domain/errors.ts";
import type { PictureLabel, RecognizedPage } from "../../domain/recognition.ts";
import type { ClassificationRun } from "../../service/classification.ts";
import { fewerPages, type HeldAnswer } from "../../service/held-answer.ts";
import type { TemporaryFile } from "../../store/temporary-files.ts";
import { beginJob } from "../begin-job.ts";
import type { AppDeps } from "../deps.ts";
import { isForm, orDiscard, readOneFile } from "../form-parts.ts";
import { bodyCeilings } from "../json-body.ts";
import { formRoute } from "../json-content.ts";
import { jsonResponse, wholeAnswer } from "../json-response.ts";
import type { RequestContext } from "../request-context.ts";

const FIELD_BYTES = 4096;
const Answer = t.Union([RecognizedDocuments, FoundBarcodes, FoundRegions, FoundLabels, FoundAnything]);

/** Recognises the content of pictures and documents. */
export const recognitionRoutes = (deps: AppDeps) =>
  new Elysia({ name: "route.recognition" }).post(
    "/v1/vision/ocr",
    ({ request }) => answer(deps, request),
    formRoute("the image or document", RecognitionForm, RecognitionRequest, Answer, ["text/plain", "text/markdown"]),
  );

type Named = Pick<RecognizedDocument, "name" | "type">;

interface ReadCall {
  readonly call: RecognitionCall;
  readonly files: readonly TemporaryFile[];
  readonly named: readonly Named[];
}

async function answer(deps: AppDeps, request: Request): Promise<Response> {
  // Checked first, because the headers may be refused, before there is a file to discard.
  const { origin, context, report } = beginJob(deps, request);
  const { call, files, named } = await receive(deps, request);
  const { signal } = request;
  const { model, mode, pages, maxPages } = call;
  const isLabelled = mode === "classify" || (mode === "auto" && deps.classification.isThere);
  const task = { ...call.task, ...(isLabelled && { picture: true as const }) };
  const run = {
    ...origin,
    work: { task, maxPages, ...(pages && { pages }) },
    model,
  };
  const documents = named.map((one) => ({ ...one, pageCount: 0, pages: [] as RecognizedPage[] }));
  const whole = async (held: HeldAnswer) => {
    for await (const event of deps.recognition.recognize(files, run, signal, report)) {
      const document = documents[event.document];
      if (!document) continue;
      if (event.type === "page") {
        held.addPage(event.page);
        document.pages.push(event.page);
      }
      if (event.type === "result") document.pageCount = event.pageCount;
    }
    const pictures = documents.flatMap(({ pages: [first] }, index) => {
      const { field } = files[index] ?? {};
      return first?.picture && field !== undefined ? [{ bytes: first.picture, field }] : [];
    });
    const labels = isLabelled ? await labelsOf(deps, call, pictures, origin, signal) : undefined;
    return jsonOrText(documents, labels, call, context);
  };
  return wholeAnswer(deps.answerBudget, context, whole, fewerPages);
}

type Picture = Parameters<AppDeps["classification"]["labels"]>[0];

/** Returns labels for the pictures; undefined when there are none and the request wants more than labels. */
async function labelsOf(
  { classification }: AppDeps,
  { mode, maxLabels: most }: RecognitionCall,
  pictures: readonly Picture[],
  origin: Omit<ClassificationRun, "most">,
  signal: AbortSignal,
): Promise<PictureLabel[] | undefined> {
  const labels: PictureLabel[] = [];
  for (const picture of pictures) {
    try {
      labels.push(...(await classification.labels(picture, { ...origin, most }, signal)));
    } catch (error) {
      if (mode === "classify" || !(error instanceof SvcError) || ENDING.has(error.code)) throw error;
    }
  }
  return mode === "classify" || labels.length > 0 ? labels : undefined;
}

/** Error codes that end a request even if its labels are optional. */
const ENDING: ReadonlySet<string> = new Set(["request_cancelled", "deadline_exceeded", "shutting_down"]);

async function jsonOrText(
  documents: readonly RecognizedDocument[],
  labels: readonly PictureLabel[] | undefined,
  call: RecognitionCall,
  context: RequestContext,
): Promise<Response> {
  const json = (answer: object) => jsonResponse(context, answer);
  const { mode, format } = call;
  if (mode === "barcode") return json(encodeBarcodes(documents, call));
  if (mode === "saliency") return json(encodeRegions(documents, call));
  if (mode === "classify") return json(encodeLabels(documents, labels ?? [], call));
  const encoded = mode === "auto" ? encodeAnything(documents, call, labels) : encodeDocuments(documents, mode, call);
  if (format === "json") return json(encoded);
  return format === "text"
    ? plain(combinedText(documents), "text/plain")
    : plain(await combinedMarkdown(documents), "text/markdown");
}

const plain = (text: string, type: string) =>
  new Response(`${text}\n`, { headers: { "Content-Type": `${type}; charset=utf-8` } });

/** Returns the decoded call and its documents in files. Throws SvcError about either. */
async function receive({ bodies, contexts, recognition }: AppDeps, request: Request): Promise<ReadCall> {
  if (!isForm(request)) {
    const { call, sources } = decodeRecognition(
      await bodies.read(request, bodyCeilings.generation, { alsoForm: true }),
    );
    const files: TemporaryFile[] = [];
    await orDiscard(files, async () => {
      for (const { source } of sources) files.push(await recognition.document(source, request.signal));
    });
    return { call, files, named: sources };
  }
  recognition.checkCapacity(contexts.of(request));
  const { documents } = recognition;
  const { largest: ceiling } = documents;
  const limits = { ceiling, tooLarge: () => documents.tooLarge("file"), fieldBytes: FIELD_BYTES };
  const { content, filename, fields } = await readOneFile(request, limits, (chunks) => documents.receive(chunks));
  const call = await orDiscard([content], () => decodeRecognitionForm(formBody(fields, FORM_FIELDS)));
  return { call, files: [content], named: [{ name: filename, type: "upload" }] };
}
