// The description of a route, and sentences shared by many routes.

import { PAGE_ORDERS, usualPage, type PageLimits } from "../../dialect/fields/page.ts";
import { MOST_TOKENIZER_REQUESTS } from "../../service/few-at-once.ts";

interface Parameter {
  readonly description?: string;
  readonly required?: boolean;
  readonly schema: object;
}

type NamedParameters = Readonly<Record<string, Parameter>>;

/** An OpenAPI operation: one method of one path. */
export interface Operation {
  /** The route's group, if it differs from that of its resource. */
  readonly tag?: string;
  readonly summary: string;
  readonly description?: string;
  /** Descriptions of the answers for which the route has schemas. */
  readonly answers: Readonly<Record<number, string>>;
  /** Error statuses and their reasons; the path determines the form of their bodies. */
  readonly errors?: Readonly<Record<number, string>>;
  /** Request headers beyond those of every request. */
  readonly requestHeaders?: NamedParameters;
  /** Query parameters. */
  readonly query?: NamedParameters;
  /** Headers of the 200 answer beyond those of every answer. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A request body that works unchanged. */
  readonly example?: unknown;
  /** Set when requests wait for an engine: clients take turns, and a request may have a deadline. */
  readonly queued?: true;
  /** For a route that can stream: the content of the stream. */
  readonly stream?: string;
  /** Default: server-sent events. */
  readonly streamType?: "application/x-ndjson";
}

/** Returns the query parameter for the size of a page; `what` it limits: "Maximum number of items". */
export const pageSize = (what: string, { usual, most }: PageLimits): Parameter => ({
  description: `${what}, 1 to ${most}; default ${usual}.`,
  schema: { type: "integer", minimum: 1, maximum: most, default: usual },
});

/** Returns the query parameters of a list whose items are called this: "an item". */
export const pageQuery = (item: string, limits: PageLimits = usualPage): NamedParameters => ({
  limit: pageSize("Maximum number of items", limits),
  order: {
    description: "By creation: asc, or desc (default), the newest first.",
    schema: { type: "string", enum: [...PAGE_ORDERS], default: "desc" },
  },
  after: { description: `The id of ${item}; the page begins after it.`, schema: { type: "string" } },
});

export type Operations = Readonly<Record<string, Operation>>;

export const badRequest = "Invalid input; `code` gives the reason and `param` the place.";

export const tooLarge = (limit: string) => `The request body is larger than ${limit}; it is refused while it is read.`;

/** The reason for `server_busy` of routes that hold `what` in memory. */
const usedUp = (what: string) => `all requests together use up the memory for ${what}`;

/** Returns the reasons for 503: `busy` for `server_busy`, and sentences about other codes. */
export const unavailableWhen = (busy: string, ...others: readonly string[]) =>
  [
    `\`server_busy\`: ${busy}.`,
    ...others,
    "Retry-After, if present, gives the time to retry in whole seconds. `shutting_down`: the server is stopping.",
  ].join(" ");

/** The reasons for `engine_unavailable` of routes that need the chat model. */
export const engineUnavailable =
  "`engine_unavailable`: loading the model takes too long, memory is short, or its engine is down or stalled.";

export const unavailable = unavailableWhen(
  `the queue is full (--max-queue, --max-queue-tokens), the request waited in it for as long as --queue-timeout allows, its deadline cannot be met, or ${usedUp("bodies, media or answers")}`,
  "While the queue is full, a request is refused as soon as its model is read.",
  engineUnavailable,
  "`upstream_unavailable`: the model's upstream cannot be reached.",
);

/** The same for tokenizer routes. */
const tokenizerUnavailable = unavailableWhen(
  `${MOST_TOKENIZER_REQUESTS} requests of the tokenizer routes are already running, or ${usedUp("bodies")}`,
  engineUnavailable,
  "`upstream_unavailable`: no model is available at the moment.",
);

/** Errors of routes that are not public. */
export const keyErrors = {
  401: "`invalid_api_key`: the server has API keys, and the request has none of them.",
};

/** Errors of routes that count towards the limits of an API key. */
export const limitErrors = {
  429: "`rate_limit_exceeded`: the API key has reached the limit of --key-rpm or --key-concurrent.",
};

/** The reason for 404 of routes that upstreams do not serve, and that accept any other name. */
export const upstreamNamed = "`model_not_found`: `model` begins with the name of an upstream.";

/** Errors of routes that generate. */
export const generationErrors = {
  400: badRequest,
  413: tooLarge("100 MiB"),
  500: "`engine_crashed`: the engine process ended while it computed this request; it is restarted.",
  503: unavailable,
  404: "`model_not_found`: `model` begins with the name of an upstream that does not have the model; or it is unknown and the server has no model of its own.",
  502: "`upstream_error`: the model's upstream failed, or closed the connection.",
  508: "`loop_detected`: another svc forwarded the request, and its model is on a third server.",
  504: "`deadline_exceeded`: the time of X-Svc-Deadline-Ms passed before the first token.",
};

/** The 422 reason of routes whose messages may hold images. */
const unreadImage = "`unprocessable_media`: an image to be recognised is damaged or too large.";
/** Errors of generation routes whose messages may hold images and sound. */
export const conversationErrors = {
  ...generationErrors,
  422: `\`no_speech\`: there is no speech in sound that was to be transcribed. ${unreadImage}`,
};

/** Errors of generation routes whose messages may hold images but no sound. */
export const picturesErrors = { ...generationErrors, 422: unreadImage };

/**
 * Returns the errors of routes whose work runs in an engine of its own kind: embeddings, sound, pictures, pages.
 * `loading`: reasons for `engine_unavailable`; the last one names what takes too long or failed. `more`: sentences about
 * further reasons for 503.
 */
export const jobErrors = (loading = "loading the model", ...more: readonly string[]) => ({
  499: "`request_cancelled`: the request was cancelled by its correlation id.",
  500: "`engine_crashed`: the engine process ended while it worked on this request; the next request starts a new process.",
  503: unavailableWhen(
    `the queue is full, the request waited in it for as long as --queue-timeout allows, or ${usedUp("bodies, files or answers")}`,
    `\`engine_unavailable\`: ${loading} takes too long or failed, memory is short, or its engine is stalled.`,
    ...more,
  ),
  504: "`deadline_exceeded`: the time of X-Svc-Deadline-Ms passed.",
});

/** Errors of routes that store data on disk. */
export const storageErrors = {
  503: "`storage_unavailable`: the data folder (--data-dir), its database or the folder for temporary files cannot be used, or the requested file is lost.",
  507: "`storage_full`: files and batches take as much as --data-size allows, or the disk is full.",
};

/** The reason for 507 of routes that only write temporary files. */
export const temporaryFull = "`storage_full`: the disk for temporary files is full.";

/** The reason for 403 of routes for callers on this machine. */
export const notLocal =
  "`forbidden_host`: the server listens beyond loopback, or was addressed by a name of --allowed-host, or a web page of --cors-origin called.";

/** Errors of tokenizer routes. */
export const tokenizerErrors = {
  400: badRequest,
  413: tooLarge("8 MiB"),
  422: "`tokenize_unsupported`: the model in use has no tokenizer.",
  503: tokenizerUnavailable,
};

/** Errors of routes that count the tokens of a generation's prompt. */
export const countingErrors = {
  400: badRequest,
  404: "`model_not_found`: `model` is unknown, and the server has no model of its own or the name begins with an upstream's.",
  413: tooLarge("100 MiB"),
  422: "`tokenize_unsupported`: this server has no tokenizer for the model, which is an upstream's or svc-system.",
  500: "`engine_crashed`: the engine process ended while it counted the tokens; it is restarted.",
  503: tokenizerUnavailable,
};

/** Header of answers that may be constrained by a schema. */
export const constraintHeader = {
  "X-Grammar-Constraints":
    "`downgraded` when strict (of a schema or a tool) was requested but is not fully enforced; else absent. A required tool call is not strict by itself.",
};

/** A request body that works unchanged. */
export const question = { messages: [{ role: "user", content: "What is the capital of France?" }] };
