// What must hold for any answer to any request.

import { strict as assert } from "node:assert";
import { chatErrors, ErrorEnvelope } from "../../src/contract/errors.ts";
import { checker } from "../../src/contract/schema.ts";
import { errorForm, type ErrorForm } from "../../src/http/error-form.ts";
import { MARK } from "./seed-parts.ts";
import { BLAMELESS, targets, type Target, type TargetName } from "./targets.ts";
import type { Answer, Transport } from "./wire.ts";

const checkEnvelope = checker(ErrorEnvelope);

/** Throws about the first violation in an answer. Returns the kind of the answer, for counting. */
export function judge(name: TargetName, answer: Answer, transport: Transport): string {
  const { status, headers, body } = answer;
  if (transport.broken && (status === 0 || (status === 400 && body === ""))) return "refused by the parser";
  assert.notEqual(status, 0, "closed without an answer");
  const id = judgeId(headers);
  if (status === 200) return judgeAnswer(targets[name], answer);
  assert(BLAMELESS.has(status), `status ${status}: ${body.slice(0, 500)}`);
  const code = judgeError(errorForm(targets[name].path), status, body, id);
  if (status === 503) assert.equal(code, "server_busy");
  return `${status}${code && ` ${code}`}`;
}

/** Throws unless an answer has a correlation id, that of its request if it `sent` a valid one. Returns it. */
export function judgeId(headers: { get(name: string): string | null | undefined }, sent = ""): string {
  const id = headers.get("x-request-id") ?? "";
  if (!/^[!-~]{1,128}$/.test(sent)) assert.match(id, /^req_[0-9a-f]{12}$/, "no correlation id");
  else assert.equal(id, sent, "another correlation id");
  assert.equal(headers.get("compat-request-id"), id);
  return id;
}

/** Throws unless an error has the envelope of its API and repeats nothing of the request. Returns its code, if it has one. */
export function judgeError(form: ErrorForm, status: number, body: string, id: string): string {
  assert(!body.includes(MARK), `the message repeats the request: ${body.slice(0, 500)}`);
  if (form === "OllamaError" || form === "SdapiError") {
    const { error } = JSON.parse(body) as { readonly error: unknown };
    assert(typeof error === "string" && error !== "", "an error is a sentence");
    return "";
  }
  const { error } = checkEnvelope(JSON.parse(body));
  assert.equal(error.request_id, id);
  const row = Object.entries(chatErrors).find(([code]) => code === error.code)?.[1];
  assert(row, `${error.code} is no code`);
  assert.equal(status, row.status);
  if (form !== "MessagesError") assert.equal(error.type, row.type);
  return error.code ?? "";
}

function judgeAnswer({ check, assemble }: Target, { headers, body }: Answer): string {
  const type = headers.get("content-type") ?? "";
  if (type.startsWith("application/json")) {
    check(JSON.parse(body));
    return "200 whole";
  }
  assert.match(type, /^(text\/event-stream|application\/x-ndjson)$/);
  const { error } = assemble(body);
  assert.equal(error, undefined, "a stream failed");
  return "200 streamed";
}
