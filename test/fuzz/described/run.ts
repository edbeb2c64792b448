// Sends requests for every operation of an API description, several at a time and the operations in turn, and judges
// every answer. The same seed gives the same requests, except for ids of what the server has created.

import { dice } from "../../support/dice.ts";
import { write } from "../mutate.ts";
import { smallest } from "../shrink.ts";
import type { Answered, Check } from "./answer.ts";
import type { Operation } from "./operation.ts";
import { requestOf, type Asked } from "./request.ts";
import type { Supply } from "./supply.ts";

const CLIENTS = 16;
/** Longer than any answer takes. */
const PATIENCE_S = 60;
/** Problems that are reduced and shown; further ones are only counted. */
const ENOUGH = 20;
const SHOWN = 1000;

export interface Failures {
  /** Requests with the same problem. */
  count: number;
  readonly problem: string;
  /** The smallest request found with this problem. */
  readonly request: string;
}

export interface Outcome {
  readonly statuses: ReadonlyMap<number, number>;
  /** By operation and problem. */
  readonly failures: ReadonlyMap<string, Failures>;
}

export interface Server {
  readonly url: string;
  readonly operations: readonly Operation[];
  readonly check: Check;
  readonly supply: Supply;
}

/** Sends requests number `first` to `first + count` of `seed` for each operation. */
export async function fuzzDescribed(
  server: Server,
  { seed, first, count }: { readonly seed: number; readonly first: number; readonly count: number },
): Promise<Outcome> {
  const { operations, supply } = server;
  const statuses = new Map<number, number>();
  const failures = new Map<string, Failures>();
  let next = 0;
  const client = async () => {
    for (let at = next++; at < count * operations.length; at = next++) {
      const [operation, turn] = [operations[at % operations.length], Math.floor(at / operations.length)];
      if (!operation) return;
      const own = (seed * 1_000_003 + (first + turn) * operations.length + (at % operations.length)) | 0;
      const asked = requestOf(operation, dice(own), supply);
      const problem = await problemOf(server, asked, statuses);
      if (problem === undefined) continue;
      const kind = kindOf(operation, problem);
      const known = failures.get(kind);
      if (known) known.count++;
      else {
        const failure = { count: 1, problem, request: "" };
        failures.set(kind, failure);
        if (failures.size <= ENOUGH) failure.request = shown(await reduced(server, asked, kind), own);
      }
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return { statuses, failures };
}

/** Problems that differ only in numbers and quoted words are the same. */
const kindOf = ({ name }: Operation, problem: string): string =>
  `${name}: ${problem.replaceAll(/\d+|"[^"]*"/g, "…").slice(0, 120)}`;

/** Returns the problem of the answer to this request, or undefined. */
async function problemOf(
  { url, check, supply }: Server,
  asked: Asked,
  statuses?: Map<number, number>,
): Promise<string | undefined> {
  try {
    const answered = await exchange(url, asked);
    const { status, body } = answered;
    statuses?.set(status, (statuses.get(status) ?? 0) + 1);
    check(asked, answered);
    if (status < 400) supply.learn(asked.target, body);
    if (status === 404) supply.forget(asked.target);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function exchange(url: string, { operation, target, headers, ...content }: Asked): Promise<Answered> {
  const waiting = new AbortController();
  let seconds = 0;
  // Ticks rather than time are counted, so that a long run can be paused.
  const timer = setInterval(() => {
    if (++seconds > PATIENCE_S) waiting.abort(new Error(`no answer within ${PATIENCE_S} s`));
  }, 1000);
  try {
    const init = { method: operation.method, headers, redirect: "manual", ...bodyOf(content) } as const;
    const response = await fetch(url + target, { ...init, signal: waiting.signal });
    const bytes = await response.bytes();
    const isText = /json|^text/.test(response.headers.get("content-type") ?? "");
    const body = isText ? new TextDecoder().decode(bytes) : "";
    return { status: response.status, headers: response.headers, body, bytes: bytes.length };
  } finally {
    clearInterval(timer);
  }
}

function bodyOf({ value, form, bytes }: Partial<Asked>): { body?: string | FormData | Uint8Array<ArrayBuffer> } {
  if (value !== undefined) return { body: write(value) };
  if (bytes) return { body: bytes };
  if (!form) return {};
  const body = new FormData();
  for (const [name, part] of form)
    if (typeof part === "string") body.append(name, part);
    else body.append(name, new Blob([part]), "file");
  return { body };
}

/**
 * Returns the request with the smallest JSON body found that has the same problem. One without an answer stays as it is:
 * every try would take a minute.
 */
async function reduced(server: Server, asked: Asked, kind: string): Promise<Asked> {
  if (asked.value === undefined || kind.includes(": no answer")) return asked;
  const fails = async (value: unknown) => {
    const problem = await problemOf(server, { ...asked, value });
    return problem !== undefined && kindOf(asked.operation, problem) === kind;
  };
  return { ...asked, value: await smallest(asked.value, fails) };
}

function shown({ operation, target, headers, value, form, bytes }: Asked, seed: number): string {
  const content = form
    ? form.map(([name, part]) => `${name}=${typeof part === "string" ? part : `<${part.length} bytes>`}`).join("&")
    : bytes
      ? `<${bytes.length} bytes>`
      : value === undefined
        ? ""
        : write(value);
  return `dice ${seed}: ${operation.method} ${target} ${JSON.stringify(headers)} ${content}`.slice(0, SHOWN);
}

/** Returns the result as a few lines. */
export const report = ({ statuses, failures }: Outcome): string =>
  [
    `  ${[...statuses]
      .sort(([, a], [, b]) => b - a)
      .map(([status, count]) => `${count} × ${status}`)
      .join(", ")}`,
    ...[...failures].map(
      ([kind, { count, problem, request }]) => `  ${count} × ${kind}\n    ${problem}\n    ${request}`,
    ),
  ].join("\n");
