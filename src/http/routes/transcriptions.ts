// POST /v1/audio/transcriptions and POST /v1/audio/translations

import { Elysia } from "elysia";
import {
  Transcription,
  TranscriptionForm,
  TranscriptionRequest,
  TranslationForm,
  TranslationRequest,
  VerboseTranscription,
} from "../../contract/transcriptions.ts";
import { t, type TSchema } from "../../contract/schema.ts";
import { formBody } from "../../dialect/fields/form-body.ts";
import {
  decodeTranscription,
  decodeTranscriptionForm,
  FORM_FIELDS,
  type TranscriptionCall,
} from "../../dialect/transcriptions/decode.ts";
import { transcriptWriter } from "../../dialect/transcriptions/encode-stream.ts";
import { encodeTranscription } from "../../dialect/transcriptions/encode.ts";
import { collectSpeech } from "../../domain/transcription.ts";
import type { TemporaryFile } from "../../store/temporary-files.ts";
import { beginJob } from "../begin-job.ts";
import type { AppDeps } from "../deps.ts";
import { isStreamed, streamResponse } from "../generation-response.ts";
import { isForm, orDiscard, readOneFile } from "../form-parts.ts";
import { bodyCeilings } from "../json-body.ts";
import { formRoute } from "../json-content.ts";

/** Most bytes of a form field; the longest is a prompt in UTF-8. */
const FIELD_BYTES = 64 * 1024;

type Task = "transcribe" | "translate";

/** Converts recordings to text. */
export const transcriptionRoutes = (deps: AppDeps) =>
  new Elysia({ name: "route.transcriptions" })
    .post(
      "/v1/audio/transcriptions",
      ({ request }) => answer(deps, request, "transcribe"),
      described(TranscriptionRequest, TranscriptionForm),
    )
    .post(
      "/v1/audio/translations",
      ({ request }) => answer(deps, request, "translate"),
      described(TranslationRequest, TranslationForm),
    );

async function answer(deps: AppDeps, request: Request, task: Task): Promise<Response> {
  // Checked first, because the headers may be refused, before there is a file to discard.
  const { origin, context, report } = beginJob(deps, request, ({ usage }) => ({ completion: usage?.completionTokens }));
  const { call, recording } = await readCall(deps, request, task);
  const { model, work } = call;
  const run = { work, model, ...origin };
  const events = deps.transcriptions.transcribe(recording, run, context.signal, report);
  // Until the file is known to be a recording, a failure has its own status.
  const { value } = await events.next();
  if (value && isStreamed(deps, call.stream)) {
    const { id: requestId } = context;
    return streamResponse(deps, request, events, (put) => transcriptWriter(put, { requestId }));
  }
  const { type, body } = encodeTranscription(await collectSpeech(events), call);
  return new Response(body, { headers: { "Content-Type": type } });
}

/** Returns the decoded call and its recording in a file. Throws SvcError about either. */
async function readCall(
  { bodies, contexts, transcriptions }: AppDeps,
  request: Request,
  task: Task,
): Promise<{ call: TranscriptionCall; recording: TemporaryFile }> {
  if (!isForm(request)) {
    const call = decodeTranscription(await bodies.read(request, bodyCeilings.generation, { alsoForm: true }), task);
    return { call, recording: await transcriptions.recording(call.source, request.signal) };
  }
  transcriptions.checkCapacity(contexts.of(request));
  const { recordings } = transcriptions;
  const { largest: ceiling } = recordings;
  const limits = { ceiling, tooLarge: () => recordings.tooLarge("file"), fieldBytes: FIELD_BYTES };
  const { content, fields } = await readOneFile(request, limits, (chunks) => recordings.receive(chunks));
  const call = await orDiscard([content], () => decodeTranscriptionForm(formBody(fields, FORM_FIELDS), task));
  return { call, recording: content };
}

const described = (body: TSchema, form: TSchema) =>
  formRoute("the recording", form, body, t.Union([Transcription, VerboseTranscription]), ["text/plain", "text/vtt"]);
