// Requests an answer: from a chat model as streamed text, from an image model as images.

import { noAnswer, withChunk, type Answer, type Chunk } from "../logic/answer.ts";
import { chatRequest, newMedia } from "../logic/chat-request.ts";
import type { Attachment, Settings, Turn } from "../logic/conversation.ts";
import type { Model } from "../logic/models.ts";
import { connectionLost, type Api } from "./api.ts";

interface Question {
  /** The last turn is the one to answer; the others precede it. */
  readonly path: readonly Turn[];
  readonly settings: Settings;
  readonly model: Model;
  readonly signal: AbortSignal;
}

/** Receives the answer so far. */
type Put = (answer: Answer) => void;

/** Requests the answer; resolves when it is complete. Throws ApiError, or the signal's reason. */
export const writeAnswer = (api: Api, question: Question, put: Put): Promise<void> =>
  question.model.use === "image" ? drawImage(api, question, put) : writeText(api, question, put);

async function writeText(api: Api, { path, settings, model, signal }: Question, put: Put): Promise<void> {
  const started = performance.now();
  let answer = noAnswer;
  const request = chatRequest(path, settings, model);
  const media = newMedia(request, path);
  for await (const chunk of api.events<Chunk>("/v1/chat/completions", request, { signal })) {
    put((answer = withChunk(answer, chunk, performance.now() - started, media)));
  }
  // A proxy may end a stream that broke off as if it were complete.
  if (answer.turn.finish === undefined) throw connectionLost();
}

interface ImageEvent {
  readonly type: string;
  readonly b64_json?: string;
  readonly output_format?: string;
  readonly image_index?: number;
  readonly error?: { readonly message: string };
}

async function drawImage(api: Api, { path, settings, model, signal }: Question, put: Put): Promise<void> {
  const question = path.at(-1);
  const pictures = question?.attachments ?? [];
  const isEditor = model.capabilities.has("image_edits");
  // The model may have been chosen after the files.
  if (pictures.some(({ kind }) => !isEditor || kind !== "image")) {
    const remedy = "Edit the message to remove what it does not take.";
    throw new Error(`${model.id} takes ${isEditor ? "only images" : "no files"}. ${remedy}`);
  }
  const edits = pictures.length > 0;
  const { seed, size } = settings;
  const fields = {
    prompt: question?.text ?? "",
    model: model.id,
    stream: true,
    partial_images: 2,
    ...(seed !== undefined && { seed }),
    ...(size !== undefined && { size }),
  };
  const body = edits ? editForm(fields, pictures) : fields;
  const drawn: string[] = [];
  let isComplete = false;
  for await (const event of api.events<ImageEvent>(`/v1/images/${edits ? "edits" : "generations"}`, body, { signal })) {
    if (event.error) throw new Error(event.error.message);
    if (event.b64_json === undefined) continue;
    drawn[event.image_index ?? 0] = `data:image/${event.output_format ?? "png"};base64,${event.b64_json}`;
    put({ turn: { text: "", images: [...drawn] } });
    isComplete = event.type.endsWith(".completed");
  }
  // Else the last picture is half drawn.
  if (!isComplete) throw connectionLost();
}

function editForm(fields: object, pictures: readonly Attachment[]): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, String(value));
  for (const { data } of pictures) form.append("image[]", blobOf(data), "image");
  return form;
}

/** Decodes a data URL; the content security policy would have to allow fetch to do it. */
function blobOf(url: string): Blob {
  const [head = "", data = ""] = url.split(",", 2);
  const bytes = Uint8Array.from(atob(data), (sign) => sign.codePointAt(0) ?? 0);
  return new Blob([bytes], { type: /^data:([^;]*)/.exec(head)?.[1] ?? "" });
}
