// What must hold for any answer: it is one that the API description announces, and no failure of the server.

import { strict as assert } from "node:assert";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { chatErrors } from "../../../src/contract/errors.ts";
import type { ErrorCode } from "../../../src/domain/errors.ts";
import type { ErrorForm } from "../../../src/http/error-form.ts";
import { serverSentEvents } from "../../support/streams/events.ts";
import { judgeError, judgeId } from "../judge.ts";
import { write } from "../mutate.ts";
import { targets } from "../targets.ts";
import type { Document } from "./operation.ts";
import type { Asked } from "./request.ts";

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  /** Empty where it is no text. */
  readonly body: string;
  readonly bytes: number;
}

/** Throws about the first rule that an answer breaks. */
export type Check = (asked: Asked, answered: Answered) => void;

/** A busy server, a passed deadline, and features that are off. */
const ALLOWED: ReadonlySet<number> = new Set([501, 503, 504]);
/** The hub that a test server is given has no models. */
const UNREACHED = "POST /api/pull";

/** Returns the check for the operations of a document. */
export function checkOf(document: Document): Check {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(document, "api");
  const compiled = new Map<string, { readonly validate: ValidateFunction; valid?: string }>();
  /** Throws unless the JSON text is as this response describes it. */
  const checkJson = (name: string, pointer: string, text: string): void => {
    const known = compiled.get(pointer) ?? { validate: ajv.compile({ $ref: `api#${pointer}` }) };
    compiled.set(pointer, known);
    // Some answers are long and always the same.
    if (known.valid === text) return;
    const isValid = known.validate(JSON.parse(text));
    assert(isValid, `${name} is answered with what its schema excludes: ${ajv.errorsText(known.validate.errors)}`);
    known.valid = text;
  };
  return (asked, { status, headers, body, bytes }) => {
    const { name, method, path, answers } = asked.operation;
    const described = answers[status];
    assert(isAllowed(name, status), `status ${status}: ${body.slice(0, 300)}`);
    assert(described, `status ${status} is not described: ${body.slice(0, 300)}`);
    const id = judgeId(headers, asked.headers["X-Request-ID"]);
    const type = headers.get("content-type")?.split(";")[0] ?? "";
    if (Object.keys(described).length === 0) return assert.equal(bytes, 0, `status ${status} has a body`);
    const content = described[type];
    assert(content, `status ${status} with ${type}, which is not described`);
    if (type === "application/json") {
      const steps = ["paths", path, method.toLowerCase(), "responses", String(status), "content", type, "schema"];
      checkJson(name, steps.map((step) => `/${escaped(step)}`).join(""), body);
      // Other answers than errors may have such a status, too.
      const form = /(?<=^#\/components\/schemas\/)\w*Error$/.exec(content.schema?.$ref ?? "")?.[0];
      // A wrong range has the code of other wrong values.
      if (form) judgeError(form as ErrorForm, status === 416 ? 400 : status, body, id);
    }
    if (type === "text/event-stream" || type === "application/x-ndjson") checkStream(asked, type, body);
  };
}

const escaped = (step: string) => encodeURIComponent(step.replaceAll("~", "~0").replaceAll("/", "~1"));

const isAllowed = (name: string, status: number): boolean =>
  status < 500 || ALLOWED.has(status) || (status === 502 && name === UNREACHED);

/** By operation; the items of a batch are judged one by one. */
const ASSEMBLERS = new Map(
  Object.values(targets)
    .filter((target) => target !== targets.multiplex)
    .map(({ path, assemble }) => [`POST ${path}`, assemble]),
);

/** Throws unless a stream ends as those of its API do, or with an error that it may have. */
function checkStream(asked: Asked, type: string, body: string): void {
  const { operation, headers, value } = asked;
  const assemble = ASSEMBLERS.get(operation.name);
  // A profile is an event that only svc's API has, and chosen fields need not be those that end a stream.
  const isUsual = !("X-Svc-Profile" in headers || write(value).includes("response_fields"));
  if (assemble && isUsual) return checkEnd(asked, assemble(body).error);
  assert(body.endsWith("\n"), "a stream is cut off");
  const events = type === "text/event-stream" ? serverSentEvents(body) : body.trim().split("\n");
  for (const event of events) {
    const data = typeof event === "string" ? event : event.data;
    if (data !== "[DONE]") checkEnd(asked, (JSON.parse(data) as { readonly error?: unknown }).error);
  }
}

function checkEnd({ operation: { name }, headers }: Asked, error: unknown): void {
  // Errors of Ollama's API have no code.
  if (typeof error !== "object" || error === null || name.startsWith("POST /api/")) return;
  const { code } = { code: "", ...error };
  // The Responses API has this code for whatever ended an answer.
  if (code === "server_error" && "X-Svc-Deadline-Ms" in headers) return;
  const row = chatErrors[code as ErrorCode];
  assert(row && isAllowed(name, row.status), `a stream failed with ${code}`);
}
