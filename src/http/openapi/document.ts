// The API description: generated from the registered routes by @elysiajs/swagger, completed from the table of operations.

import { swagger } from "@elysiajs/swagger";
import { Elysia, type AnyElysia } from "elysia";
import { contractVersion } from "../../config/version.ts";
import { ChatCompletionChunk, ChatProfileEvent } from "../../contract/chat.ts";
import { ErrorEnvelope, MessagesError, OllamaError, SdapiError } from "../../contract/errors.ts";
import { MultiplexEvent } from "../../contract/multiplex.ts";
import { errorForm, type ErrorForm } from "../error-form.ts";
import { LONGEST_DEADLINE_MS } from "../generation-headers.ts";
import { isLimited, isOpen, takesPassword } from "../access.ts";
import { commonRules, operations, tags } from "./operations.ts";
import { keyErrors, limitErrors, type Operation } from "./operation.ts";

interface Response {
  description: string;
  content?: Record<string, { schema: Readonly<Record<string, unknown>> }>;
  headers?: Record<string, unknown>;
}

interface PathItem {
  [method: string]: {
    operationId?: string;
    parameters?: { name: string; in: string; description?: string; required?: boolean; schema: unknown }[];
    requestBody?: { required?: boolean; content: Record<string, { schema: unknown; example?: unknown }> };
    responses: Record<string, Response>;
    [key: string]: unknown;
  };
}

export interface OpenApiDocument {
  openapi: string;
  info: { title: string; version: string; description: string };
  paths: Record<string, PathItem>;
  components: { schemas: Record<string, unknown>; securitySchemes: Record<string, unknown> };
  [key: string]: unknown;
}

const REQUEST_ID =
  "Correlation id: the X-Request-ID of the request (1 to 128 visible ASCII characters), else a new id.";
const CLIENT =
  "Name of the client, 1 to 128 visible ASCII characters; clients get equal shares of the machine. Without this header, each connection is a client. For a request with one of the server's API keys, the client is the name of the key and this header is ignored.";
const DEADLINE =
  "Milliseconds from the request's arrival to its deadline. A request that cannot produce its first token by then is refused or ended with an error; an answer that has begun ends at the deadline with its text so far, as at a token limit. A deadline gives no priority.";
const responseHeaders = Object.fromEntries(
  ["X-Request-ID", "Compat-Request-ID"].map((name) => [name, { description: REQUEST_ID, schema: { type: "string" } }]),
);
const streamHeaders = {
  "Cache-Control": { description: "`no-cache` on a stream.", schema: { type: "string" } },
  "X-Accel-Buffering": {
    description: "`no` on a stream, so that proxies do not buffer it.",
    schema: { type: "string" },
  },
};
const ERROR_HEADERS: Readonly<Record<string, Record<string, unknown>>> = {
  401: { "WWW-Authenticate": { description: "`Bearer`", schema: { type: "string" } } },
  429: { "Retry-After": { description: "Whole seconds.", schema: { type: "integer" } } },
  503: { "Retry-After": { description: "Whole seconds, if known.", schema: { type: "integer" } } },
};

/** Ways to send an API key. The last one is for servers without keys. */
const KEYS = [{ bearer: [] }, { apiKey: [] }, {}];

/** Describes every route of `app`. Must be called after all routes are registered. */
export async function describeApi(app: AnyElysia): Promise<OpenApiDocument> {
  const generated = (await generate(app)) as OpenApiDocument;
  const { schemas } = generated.components;
  const document: OpenApiDocument = {
    openapi: "3.1.0",
    info: {
      title: "svc",
      version: contractVersion,
      description: commonRules,
    },
    servers: [{ url: "/" }],
    tags: tags.map((name) => ({ name })),
    paths: generated.paths,
    security: KEYS,
    components: {
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "An API key from --api-key or --api-key-file." },
        apiKey: { type: "apiKey", in: "header", name: "x-api-key", description: "The same API key in another header." },
        basic: { type: "http", scheme: "basic", description: "The same API key as password or user name." },
      },
      schemas: {
        ...schemas,
        Error: ErrorEnvelope,
        MessagesError,
        OllamaError,
        SdapiError,
        ChatCompletionChunk,
        ChatProfileEvent,
        MultiplexEvent,
      },
    },
  };
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, described] of Object.entries(item)) {
      const operation = operations[`${method.toUpperCase()} ${path}`];
      if (!operation) continue;
      if (isOpen(path)) described["security"] = [];
      if (takesPassword(path)) described["security"] = [{ basic: [] }, ...KEYS];
      const forAll = {
        ...(!isOpen(path) && keyErrors),
        ...(isLimited(method.toUpperCase(), path) && limitErrors),
      };
      complete(
        described,
        { ...operation, errors: { ...operation.errors, ...forAll } },
        `${method}${path}`,
        errorForm(path),
      );
    }
  }
  // Converts to plain JSON, without TypeBox's symbols.
  return JSON.parse(JSON.stringify(document)) as OpenApiDocument;
}

async function generate(app: AnyElysia): Promise<unknown> {
  // Other paths than those of the finished document: swagger omits its own two routes from its output.
  const [path, specPath] = ["/generated", "/generated/openapi.json"];
  const describing = new Elysia().use(app).use(swagger({ path, specPath, excludeStaticFile: false }));
  await describing.modules;
  const response = await describing.handle(new Request(`http://localhost${specPath}`));
  return response.json();
}

const parametersIn = (place: "header" | "query", described: Operation["query"] = {}) =>
  Object.entries(described).map(([name, one]) => ({ name, in: place, required: false, ...one }));

function complete(described: PathItem[string], operation: Operation, key: string, form: ErrorForm): void {
  described.operationId = key.replace(/[^a-z0-9]+/gi, "_");
  described["summary"] = operation.summary;
  described["tags"] = [operation.tag];
  if (operation.description) described["description"] = operation.description;
  described.parameters = [
    ...(described.parameters ?? []),
    { name: "X-Request-ID", in: "header", required: false, description: REQUEST_ID, schema: { type: "string" } },
    ...parametersIn("header", operation.requestHeaders),
    ...parametersIn("query", operation.query),
  ];
  const isPost = key.startsWith("post");
  if (operation.queued || (operation.stream && isPost)) {
    const schema = { type: "string", minLength: 1, maxLength: 128 };
    described.parameters.push({ name: "X-Svc-Client", in: "header", required: false, description: CLIENT, schema });
    if (isPost) {
      const milliseconds = { type: "integer", minimum: 1, maximum: LONGEST_DEADLINE_MS };
      const header = { description: DEADLINE, schema: milliseconds };
      described.parameters.push({ name: "X-Svc-Deadline-Ms", in: "header", required: false, ...header });
    }
  }
  const body = described.requestBody?.content["application/json"];
  if (described.requestBody) described.requestBody.required ??= true;
  if (body && operation.example !== undefined) body.example = operation.example;
  for (const [status, description] of Object.entries(operation.answers)) {
    described.responses[status] = { ...described.responses[status], description };
  }
  const success = described.responses["200"];
  if (success?.content && operation.stream) {
    success.content[operation.streamType ?? "text/event-stream"] = {
      schema: { type: "string", description: operation.stream },
    };
    success.headers = streamHeaders;
  }
  for (const [name, text] of Object.entries(operation.headers ?? {})) {
    if (success) success.headers = { ...success.headers, [name]: { description: text, schema: { type: "string" } } };
  }
  const errorBody = { "application/json": { schema: { $ref: `#/components/schemas/${form}` } } };
  for (const [status, description] of Object.entries(operation.errors ?? {})) {
    described.responses[status] = { description, content: errorBody };
    const header = ERROR_HEADERS[status];
    if (header) described.responses[status].headers = header;
  }
  for (const response of Object.values(described.responses))
    response.headers = { ...response.headers, ...responseHeaders };
}
