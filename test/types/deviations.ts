// All intentional deviations of svc's answers from the official clients' types.
// `*` in a path is any place in an array; `=text` after a part selects objects of this type. Entries that no recorded
// answer needs are reported.

export interface Deviations {
  /** Fields of svc that the API does not have. */
  readonly extensions?: readonly string[];
  /** Values of svc that the API's field does not have, by path. */
  readonly values?: Readonly<Record<string, readonly (string | null)[]>>;
  /** Fields of the type that are not sent, with a value for them: added by the client itself, or long obsolete. */
  readonly absent?: Readonly<Record<string, unknown>>;
}

const within = (prefix: string, paths: readonly string[]) => paths.map((path) => `${prefix}.${path}`);

const usage = within("usage", [
  "prompt_time",
  "completion_time",
  "total_time",
  "prompt_tokens_per_second",
  "completion_tokens_per_second",
  "peak_memory_gib",
]);

/** Present with --transcribe-input and --ocr-input. */
const recognized = "svc_recognitions";
const readInputs = ["svc_transcriptions", recognized];

/** The API's own service sends these too, though its types omit them or say that they are never null. */
const resource = {
  extensions: ["store", "presence_penalty", "frequency_penalty", "output.*=custom_tool_call.status", ...readInputs],
  values: { user: [null] },
  absent: { output_text: "" },
} as const satisfies Deviations;

const bytes = ["logprobs.*.bytes", "logprobs.*.top_logprobs.*.bytes"] as const;

const profiles = ["svc_profile", "svc_profile_extended"];

export const deviations = {
  ChatCompletion: {
    extensions: ["custom_id", "timings", "choices.*.message.reasoning_content", ...usage, ...profiles, ...readInputs],
    values: { "choices.*.finish_reason": ["cancelled"] },
  },
  ChatCompletionChunk: {
    extensions: [
      "custom_id",
      "timings",
      "prompt_progress",
      "error",
      "choices.*.delta.reasoning_content",
      ...usage,
      ...readInputs,
    ],
    values: { "choices.*.finish_reason": ["cancelled", "error"] },
  },
  // Pieces of an answer have the same type as whole answers, which always have a finish reason.
  Completion: {
    extensions: ["error", "timings", "prompt_progress", ...usage],
    values: { "choices.*.finish_reason": ["cancelled", "error", null] },
  },
  // Missing values are null, as in the API's own service.
  Batch: {
    values: Object.fromEntries(
      [
        "errors",
        "output_file_id",
        "error_file_id",
        "in_progress_at",
        "finalizing_at",
        "completed_at",
        "failed_at",
        "expired_at",
        "cancelling_at",
        "cancelled_at",
      ].map((field) => [field, [null]]),
    ),
  },
  // Requested as base64; the client decodes the vectors.
  CreateEmbeddingResponse: {
    values: { "data.*.embedding": ["JKVOPm3DiT4AAAAA/xVxPw==", "bo6yPj4T7j4AAAAA1lBQPw==", "mpkZP83MTD8="] },
  },
  Transcription: { extensions: ["object", "locale"] },
  TranscriptionVerbose: { extensions: ["task", "locale", "segments.*.confidence"] },
  TranscriptionStreamEvent: {},
  // The API's own service sends these, too.
  RealtimeServerEvent: {
    extensions: ["session.id", "session.object"],
    values: { "session.audio.input.noise_reduction": [null] },
  },
  FlatRealtimeServerEvent: {
    extensions: ["session.id", "session.object", "session.input_audio_noise_reduction"],
    values: {
      // The types have only the session's updates.
      type: ["transcription_session.created"],
      "session.client_secret": [null],
      "session.input_audio_transcription.model": ["fake-whisper"],
    },
  },
  FileObject: {
    extensions: ["sample_type", "source"],
    // The purpose is one of Mistral's API.
    values: { expires_at: [null], status_details: [null], purpose: ["ocr"] },
  },
  Response: resource,
  CompactedResponse: {},
  Conversation: {},
  ConversationItemList: {},
  ResponseStreamEvent: {
    extensions: [
      ...within("response", resource.extensions),
      // The types have the status only in stored items.
      "item=custom_tool_call.status",
      // The types have the name only at the beginning of the call, and bytes only in the whole item.
      "name",
      ...bytes,
    ],
    values: { "response.usage": [null], "response.user": [null] },
    absent: { "response.output_text": "" },
  },
  ImagesResponse: { extensions: ["data.*.seed"] },
  ImageGenPartialImageEvent: { extensions: ["image_index"] },
  ImageGenCompletedEvent: { extensions: ["image_index", "seed"] },
  ImageEditPartialImageEvent: { extensions: ["image_index"] },
  ImageEditCompletedEvent: { extensions: ["image_index", "seed"] },
  // Without citations the API does not send this key.
  Message: { extensions: [recognized], absent: { "content.*=text.citations": null } },
  RawMessageStreamEvent: { extensions: [`message.${recognized}`], absent: { "content_block=text.citations": null } },
  ModelInfo: {},
  ModelPage: {},
  // JSON has no dates. Ollama sends the ids and places of calls, too.
  ChatResponse: {
    extensions: ["message.tool_calls.*.id", "message.tool_calls.*.function.index", ...bytes, recognized],
    values: { created_at: ["1970-01-01T00:00:00.000Z"] },
  },
  GenerateResponse: {
    extensions: bytes,
    values: { created_at: ["1970-01-01T00:00:00.000Z"] },
    absent: { context: [] },
  },
  OpenAIError: { extensions: ["request_id", "custom_id"] },
  ErrorResponse: { extensions: ["error.code", "error.param", "error.request_id"] },
} as const satisfies Readonly<Record<string, Deviations>>;

export type TypeName = keyof typeof deviations;
