// POST /v1/images/generations, /v1/images/edits, /v1/images/upscale and /v1/images/variations, GET /v1/images/files/{id}

import { Elysia } from "elysia";
import { ImageEditForm, ImageRequest, Images, MOST_PICTURES, Upscaled, UpscaleForm } from "../../contract/images.ts";
import type { TSchema } from "../../contract/schema.ts";
import { formBody } from "../../dialect/fields/form-body.ts";
import {
  decodeEdit,
  decodeGeneration,
  decodeUpscale,
  FORM_FIELDS,
  type ImageCall,
} from "../../dialect/images/decode.ts";
import { imageWriter, type ImageStreamOptions } from "../../dialect/images/encode-stream.ts";
import { collectImages, encodeImages, encodeUpscaled } from "../../dialect/images/encode.ts";
import { unixSeconds } from "../../domain/clock.ts";
import { invalidValue, missing, SvcError } from "../../domain/errors.ts";
import { IMAGE_FORMATS } from "../../domain/image.ts";
import type { ImageAbility, ImageRun } from "../../service/images.ts";
import type { RequestReport } from "../../service/request.ts";
import type { TemporaryFile } from "../../store/temporary-files.ts";
import type { AppDeps } from "../deps.ts";
import { isForm, orDiscard, readParts, type FormFile } from "../form-parts.ts";
import { isStreamed, requestOrigin, streamResponse } from "../generation-response.ts";
import { bodyCeilings } from "../json-body.ts";
import { fileContent, hooksOf, jsonContent, jsonRoute, typedContent } from "../json-content.ts";
import { jsonResponse, wholeAnswer } from "../json-response.ts";
import { outcomeFields } from "../log-fields.ts";
import { publicUrl } from "../public-url.ts";

/** Most bytes of a form field; the longest is a prompt in UTF-8. */
const FIELD_BYTES = 128 * 1024;
/** Answers are for the client alone. */
const NO_STORE = { "Cache-Control": "no-store" } as const;

/** Draws images from prompts, as JSON or as a stream. */
export const imageRoutes = (deps: AppDeps) =>
  new Elysia({ name: "route.images" })
    .post("/v1/images/generations", ({ request }) => generate(deps, request), jsonRoute(ImageRequest, Images))
    .post("/v1/images/edits", ({ request }) => edit(deps, request), describedForm(ImageEditForm, Images))
    .post("/v1/images/upscale", ({ request }) => upscale(deps, request), describedForm(UpscaleForm, Upscaled))
    .post("/v1/images/variations", () => refuseVariations(), { parse: "none", detail: { responses: {} } })
    .get("/v1/images/files/:id", ({ params }) => keptImage(deps, params.id), describedFile);

const describedForm = (form: TSchema, answer: TSchema) =>
  hooksOf(jsonContent(answer), { ...typedContent(["multipart/form-data"], form), description: "A form." });

const describedFile = hooksOf(fileContent(IMAGE_FORMATS.map((format) => `image/${format}`)));

async function generate(deps: AppDeps, request: Request): Promise<Response> {
  // Checked first, because the headers may be refused.
  const origin = requestOrigin(deps, request);
  const call = decodeGeneration(await deps.bodies.read(request, bodyCeilings.small));
  return answerDrawn(deps, request, call, { ...origin, work: call.work }, "image_generation");
}

async function edit(deps: AppDeps, request: Request): Promise<Response> {
  const origin = requestOrigin(deps, request);
  const { call, files } = await readFiles(deps, request, EDITED, decodeEdit, "images");
  const { strength, work } = call;
  const [image, ...references] = files.flatMap(({ name, content }) => (name === "mask" ? [] : content));
  const mask = files.find(({ name }) => name === "mask")?.content;
  if (!image) {
    await mask?.discard();
    throw missingImage();
  }
  const pictures = { image, references, ...(mask && { mask }), ...(strength !== undefined && { strength }) };
  return answerDrawn(deps, request, call, { ...origin, work, edit: pictures }, "image_edit");
}

async function upscale(deps: AppDeps, request: Request): Promise<Response> {
  const origin = requestOrigin(deps, request);
  const { call, files } = await readFiles(deps, request, { image: 1 }, decodeUpscale, "upscaling");
  const image = files[0]?.content;
  if (!image) throw missingImage();
  const run = { ...origin, work: call.work, edit: { image, references: [] }, ability: "upscaling" } as const;
  return answerDrawn(deps, request, call, run, "image_edit");
}

const missingImage = () => missing("image", "a part of the form with a file name");

const EDITED = { image: MOST_PICTURES, "image[]": MOST_PICTURES, mask: 1 } as const;

/** Returns the decoded call and its images in files, at most `most` of each name. Throws SvcError about either. */
async function readFiles<Call extends ImageCall>(
  { contexts, images }: AppDeps,
  request: Request,
  most: Readonly<Record<string, number>>,
  decode: (body: object) => Call,
  ability: ImageAbility,
): Promise<{ call: Call; files: readonly FormFile<TemporaryFile>[] }> {
  if (!isForm(request)) {
    const message = "Content-Type must be multipart/form-data: images come as files of a form.";
    throw new SvcError("unsupported_media_type", message);
  }
  images.checkCapacity(contexts.of(request), ability);
  const { pictures } = images;
  const limits = {
    files: most,
    ceiling: bodyCeilings.generation,
    tooLarge: () => pictures.tooLarge("image"),
    fieldBytes: FIELD_BYTES,
    usualName: "image",
  };
  const { files, fields } = await readParts(request, limits, (chunks, _, name) => pictures.receive(chunks, name));
  const contents = files.map(({ content }) => content);
  return orDiscard(contents, () => {
    const count = files.filter(({ name }) => name !== "mask").length;
    // Forms of programs send their empty fields, too.
    const given = fields.filter(([name, value]) => value !== "" || name === "prompt");
    if (count <= MOST_PICTURES) return { call: decode(formBody(given, FORM_FIELDS)), files };
    throw invalidValue("image", `be given at most ${MOST_PICTURES} times, under either name`, `${count} files`);
  });
}

type Run = Omit<ImageRun, "model">;

async function answerDrawn(
  deps: AppDeps,
  request: Request,
  call: ImageCall,
  run: Run,
  kind: ImageStreamOptions["kind"],
): Promise<Response> {
  const { images, clock } = deps;
  const { model } = call;
  const report: RequestReport = {};
  const context = deps.contexts.of(request);
  context.logFields = () => ({ ...outcomeFields(report), images: call.work.count });
  const events = images.draw({ ...run, model }, context.signal, report);
  // Until the request is accepted, a failure has its own status.
  await events.next();
  const headers = { ...NO_STORE, ...standInHeaders(model, images.model(model, run.ability).modelId) };
  const now = () => unixSeconds(clock);
  if (isStreamed(deps, call.stream)) {
    const options = { kind, call, requestId: context.id, now };
    // The first step may take long.
    return streamResponse(deps, request, events, (put) => imageWriter(put, options), { headers, opens: true });
  }
  const { format } = call.work.encoding;
  const address = (data: Uint8Array) =>
    publicUrl(`/v1/images/files/${images.kept.put(data, format)}`, request, deps.config);
  const encode = call.work.upscale ? encodeUpscaled : encodeImages;
  return wholeAnswer(deps.answerBudget, context, async (held) => {
    const drawn = await collectImages(events, ({ data }) => held.addFile(data));
    return jsonResponse(context, encode(drawn, call, { created: now(), address }), headers);
  });
}

/** Returns headers that report when another model answers in place of the one that the request names. */
function standInHeaders(named: string | undefined, answering: string): Record<string, string> {
  if (named === undefined || named === answering) return {};
  return { "X-Svc-Compatibility": "emulated", "X-Svc-Emulated-Parameters": "model" };
}

/** Throws SvcError: OpenAI withdrew variations, and without a prompt a model would draw something else. */
function refuseVariations(): never {
  const message =
    "Image variations are not supported: POST /v1/images/edits changes an image by a prompt and a strength.";
  throw new SvcError("mode_unavailable", message);
}

function keptImage({ images }: AppDeps, id: string): Response {
  const kept = images.kept.get(id);
  if (!kept) throw new SvcError("not_found", "There is no image of this id; images are kept for an hour.");
  const { bytes, format } = kept;
  const disposition = `inline; filename="${id}.${format === "jpeg" ? "jpg" : format}"`;
  const headers = { ...NO_STORE, "Content-Type": `image/${format}`, "Content-Disposition": disposition };
  return new Response(bytes as Uint8Array<ArrayBuffer>, { headers });
}
