// What is said about a route, and sentences that many routes share.

import { MOST_TOKENIZER_REQUESTS } from "../../service/tokenizer.ts";

/** Groups of routes, in their order. */
export const tags = ["Generation", "Embeddings", "Models", "Tokenizer", "Batches", "Server", "Compatibility"] as const;

/** OpenAPI's word for one method of one path. */
export interface Operation {
  readonly tag: (typeof tags)[number];
  readonly summary: string;
  readonly description?: string;
  /** Descriptions of the answers whose schema the route gives. */
  readonly answers: Readonly<Record<number, string>>;
  /** Error statuses with when they come; each body is the error envelope. */
  readonly errors?: Readonly<Record<number, string>>;
  /** Headers that the request may carry beyond those of every request. */
  readonly requestHeaders?: Readonly<Record<string, { readonly description: string; readonly schema: object }>>;
  /** Headers of the 200 answer beyond those of every answer. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A request body that works as it is. */
  readonly example?: unknown;
  /** The route can answer with a stream: what is in it. */
  readonly stream?: string;
  /** Default: server-sent events. */
  readonly streamType?: "application/x-ndjson";
}

export type Operations = Readonly<Record<string, Operation>>;

export const badRequest = "Invalid input; `code` and `param` say what and where.";

export const tooLarge = (limit: string) => `The request body is larger than ${limit}; it is refused while it is read.`;

export const unavailable =
  "`server_busy`: the queue is full, the request waited in it for as long as --queue-timeout allows, or its deadline cannot be met; while the queue is full, nothing of a request is looked at but its model. `engine_unavailable`: the model is loading for too long or its engine is down. `upstream_unavailable`: the other server that has the model cannot be reached. Retry-After tells in whole seconds when to try again.";

/** The same of routes of the tokenizer. */
const tokenizerUnavailable = `\`server_busy\`: ${MOST_TOKENIZER_REQUESTS} requests of these routes are in work already. \`engine_unavailable\`: the model is loading for too long or its engine is down. \`upstream_unavailable\`: no model is served at the moment. Retry-After tells in whole seconds when to try again.`;

/** Errors of routes that generate. */
export const generationErrors = {
  400: badRequest,
  413: tooLarge("100 MB"),
  500: "`engine_crashed`: the engine process ended while it computed this request; it is restarted.",
  503: unavailable,
  404: "`model_not_found`: the server of the model does not have it any more; on a server without a model of its own, `model` is unknown.",
  502: "`upstream_error`: the other server that has the model failed, or broke off.",
  508: "`loop_detected`: another svc passed the request on, and its model is on yet another server.",
  504: "`deadline_exceeded`: the time that X-Svc-Deadline-Ms gave was over before anything of the answer was there.",
};

/** Errors of routes that keep something on disk. */
export const storageErrors = {
  503: "`storage_unavailable`: the folder or database under --data-dir cannot be used, or has lost what is asked for.",
  507: "`storage_full`: the disk is full.",
};

/** Errors of routes of the tokenizer. */
export const tokenizerErrors = {
  400: badRequest,
  413: tooLarge("8 MB"),
  422: "`tokenize_unsupported`: the model in use has no tokenizer.",
  503: tokenizerUnavailable,
};

/** Errors of routes that count the tokens of a prompt as a generation would have it. */
export const countingErrors = {
  400: badRequest,
  404: "`model_not_found`: on a server without a model of its own, `model` is unknown.",
  413: tooLarge("100 MB"),
  422: "`tokenize_unsupported`: the model has no tokenizer here; it is another server's, or svc-system.",
  500: "`engine_crashed`: the engine process ended while it counted; it is restarted.",
  503: tokenizerUnavailable,
};

/** Header of answers that may be held to a schema. */
export const constraintHeader = {
  "X-Grammar-Constraints": "`downgraded` when strict was asked for and is not enforced, or not all of it; else absent.",
};

/** A body that works as it is. */
export const question = { messages: [{ role: "user", content: "What is the capital of France?" }] };
