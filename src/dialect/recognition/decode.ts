// Decodes requests of /v1/vision/ocr, from JSON and from forms.

import { RecognitionForm, RecognitionRequest } from "../../contract/recognition.ts";
import { checker, received } from "../../contract/schema.ts";
import { fieldError, invalidValue } from "../../domain/errors.ts";
import type { PageRange, RecognitionMode, RecognitionTask, TextWish } from "../../domain/recognition.ts";
import { formFields } from "../fields/form-body.ts";
import { decodePages } from "./page-ranges.ts";
import { decodeSources, type NamedSource } from "./sources.ts";

export interface RecognitionCall {
  readonly mode: RecognitionMode;
  readonly model?: string;
  /** What to find on each page. */
  readonly task: RecognitionTask<TextWish>;
  readonly pages?: readonly PageRange[];
  readonly maxPages: number;
  readonly format: "json" | "text" | "markdown";
  readonly origin: "bottom-left" | "top-left";
  /** Most labels for the content of a picture. */
  readonly maxLabels: number;
  /** Whether the words of each line are reported as well. */
  readonly words: boolean;
  /** Whether to report how the results were found. */
  readonly debug: boolean;
}

const USUAL_MAX_PAGES = 50;
const USUAL_MAX_LABELS = 5;
const MOST_RANGES = 100;

/** Types of the form fields that are not strings. */
export const FORM_FIELDS = formFields(RecognitionForm);

const check = checker(RecognitionRequest);

/** Decodes a JSON request and its documents' sources. Throws SvcError naming the invalid field. */
export function decodeRecognition(raw: unknown): { readonly call: RecognitionCall; readonly sources: NamedSource[] } {
  const body = check(raw);
  return { call: callOf(body), sources: decodeSources(body) };
}

/** Decodes the fields of a form that contains the document. Throws SvcError naming the invalid field. */
export function decodeRecognitionForm(form: object): RecognitionCall {
  const body = check(form);
  const more = (["data", "image_url", "messages"] as const).find((name) => body[name] != null);
  if (more === undefined) return callOf(body);
  throw fieldError("invalid_value", more, "must be absent where 'file' is given");
}

function callOf(body: RecognitionRequest): RecognitionCall {
  const mode = modeOf(body);
  const isTextual = mode !== "barcode" && mode !== "saliency" && mode !== "classify";
  const { recognition_level: level, detail, uses_language_correction, languages, max_pages, pages, origin } = body;
  const format = body.response_format ?? "json";
  if (format !== "json" && !isTextual) {
    throw invalidValue("response_format", `be json with mode ${mode}`, received(format));
  }
  const ranges = pages ? decodePages(pages, { from: 1, most: MOST_RANGES }) : undefined;
  const wanted = mode === "classify" ? firstOf(ranges) : ranges;
  return {
    mode,
    ...(body.model && { model: body.model }),
    task: {
      ...(isTextual && {
        text: {
          languages: languages ?? [],
          level: level ?? (detail === "low" ? "fast" : "accurate"),
          correction: uses_language_correction ?? true,
        },
      }),
      ...((mode === "table" || (isTextual && format === "markdown")) && { tables: true as const }),
      ...((mode === "barcode" || mode === "auto") && { barcodes: true as const }),
      ...(mode === "saliency" && {
        saliency: { type: body.saliency_type ?? "attention", heatMap: body.include_heat_map ?? false },
      }),
      // The answer also has the positions of the labeled things in the picture.
      ...(mode === "classify" && { saliency: { type: "attention" as const, heatMap: false } }),
      ...(isTextual && body.auto_crop && { crop: true as const }),
    },
    ...(wanted && { pages: wanted }),
    maxPages: max_pages ?? USUAL_MAX_PAGES,
    format,
    origin: origin ?? "bottom-left",
    maxLabels: body.max_labels ?? USUAL_MAX_LABELS,
    words: body.include_words ?? false,
    debug: mode === "debug" || (body.verbose ?? false),
  };
}

function modeOf({ debug, mode, table }: RecognitionRequest): RecognitionMode {
  if (debug) return "debug";
  return mode ?? (table ? "table" : "text");
}

/** Returns the first of these pages; only that one gets labels. */
function firstOf(pages: readonly PageRange[] = [{ first: 1 }]): PageRange[] {
  const first = Math.min(...pages.map((range) => range.first));
  return [{ first, last: first }];
}
