// Decodes requests that create a batch, and the lines of its input file.

import { BATCH_ENDPOINT, BatchInputLine, BatchRequest, type BatchEndpoint } from "../../contract/batches.ts";
import { checker } from "../../contract/schema.ts";
import { fieldError, invalidValue } from "../../domain/errors.ts";
import { checkedMetadata } from "../fields/metadata.ts";

export interface BatchCall {
  readonly inputFileId: string;
  readonly endpoint: BatchEndpoint;
  /** The window as in the request. */
  readonly window: string;
  readonly windowSeconds: number;
  readonly metadata: Readonly<Record<string, string>> | null;
  /** Seconds that the output file is retained; absent: the server's default. */
  readonly outputSeconds?: number;
}

export interface InputLine {
  readonly customId: string;
  readonly body: Readonly<Record<string, unknown>>;
}

const UNIT_S: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };
const LONGEST_WINDOW_S = 30 * 86_400;

const checkBatch = checker(BatchRequest);
const checkLine = checker(BatchInputLine);

/** Throws SvcError with a code of the 400 family, naming the field. `more`: allow endpoints beyond the usual one. */
export function decodeBatch(raw: unknown, more: boolean): BatchCall {
  const body = checkBatch(raw);
  if (!more && body.endpoint !== BATCH_ENDPOINT) {
    const sentence = `must be "${BATCH_ENDPOINT}"; the server's option --batch-endpoints allows others`;
    throw fieldError("invalid_value", "endpoint", sentence);
  }
  const window = body.completion_window ?? "24h";
  return {
    inputFileId: body.input_file_id,
    endpoint: body.endpoint,
    window,
    windowSeconds: secondsOf(window),
    metadata: checkedMetadata(body.metadata),
    ...(body.output_expires_after && { outputSeconds: body.output_expires_after.seconds }),
  };
}

function secondsOf(window: string): number {
  const [, count, unit = ""] = /^(\d+)([smhd])$/.exec(window) ?? [];
  const seconds = Number(count) * (UNIT_S[unit] ?? Number.NaN);
  if (seconds > 0 && seconds <= LONGEST_WINDOW_S) return seconds;
  const param = "completion_window";
  throw invalidValue(param, "be a number with s, m, h or d, from 1s to 30d", `a string of length ${window.length}`);
}

/** Decodes a line of a batch for this endpoint, without checking the body. Throws SvcError naming the line's field. */
export function decodeInputLine(value: unknown, endpoint: string): InputLine {
  const { custom_id, url, body } = checkLine(value);
  if (url !== endpoint) {
    throw fieldError("invalid_value", "url", `must be "${endpoint}", the endpoint of the batch`);
  }
  return { customId: custom_id, body };
}
