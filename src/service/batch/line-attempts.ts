// Answers one line of a batch, with retries until the outcome depends on the line itself.

import type { BatchOutputLine } from "../../contract/batches.ts";
import { answeredLine, failedLine } from "../../dialect/batches/output-line.ts";
import { typedError, type SvcError } from "../../domain/errors.ts";
import { newBatchAnswerId, newRequestId } from "../../domain/ids.ts";
import type { Pause } from "../../domain/pause.ts";
import type { Semaphore } from "../../domain/semaphore.ts";
import type { AnswerLine, LineBody } from "./answer-line.ts";

export interface LineDeps {
  readonly places: Semaphore;
  /** The one place for lines that may have crashed the engine: tried together, one would fail the others again. */
  readonly suspects: Semaphore;
  readonly answer: AnswerLine;
  /** Waits before a line's next attempt. */
  readonly pause: Pause;
  /** Called with true when a line starts to wait for reasons unrelated to it, and with false before it is retried. */
  readonly onWait: (waits: boolean) => void;
  /** Called with an unexpected failure of a line. */
  readonly onUnexpected: (error: unknown, requestId: string) => void;
}

/** A line of a batch whose body is in memory only while it is used. */
export interface WaitingLine {
  readonly customId: string;
  /** Runs `use` with the body. Throws what it throws, or the reason why the run of the batch ends. */
  readonly withBody: <T>(use: (body: LineBody) => Promise<T>) => Promise<T>;
}

/** Attempts that crash the engine or break an upstream before a line fails, because the line may be the cause. */
const MOST_SUSPICIONS = 3;
const SUSPECT = new Set<string>(["engine_crashed", "upstream_error"]);
const isSuspicious = ({ code, details: { sent, needsOperator } }: SvcError): boolean =>
  sent === true || (SUSPECT.has(code) && !needsOperator);
const RETRY_S = 1;
/** Nobody pays a bill or enters a new key within a second. */
const OPERATOR_RETRY_S = 30;
/** A server that asks for a longer pause may still be ready sooner. */
const LONGEST_RETRY_S = 300;
/** Errors unrelated to the line, which are retried. */
const TRANSIENT = new Set<string>([
  "server_busy",
  "engine_unavailable",
  "upstream_unavailable",
  "shutting_down",
  "storage_full",
  "storage_unavailable",
]);
const isTransient = ({ code, details }: SvcError): boolean => TRANSIENT.has(code) || details.needsOperator === true;

/**
 * Returns the output line for a line of the batch `client`, whatever the outcome; throws the signal's reason when it is
 * aborted first. Begins in the place that `first` releases; a line that waits for another attempt holds no place.
 */
export async function answerLine(
  deps: LineDeps,
  { customId, withBody }: WaitingLine,
  client: string,
  first: () => void,
  signal: AbortSignal,
): Promise<BatchOutputLine> {
  const { answer, pause, onWait, onUnexpected } = deps;
  let suspicions = 0;
  let hasCrashed = false;
  for (let release = first; ; release = await turn(deps, suspicions, hasCrashed, signal)) {
    const ids = { id: newBatchAnswerId(), customId, requestId: newRequestId() };
    let known: SvcError;
    try {
      // A stream would have no reader.
      const answered = withBody(({ stream: _stream, ...body }) => answer(body, { id: ids.requestId, client }, signal));
      return answeredLine(ids, await answered);
    } catch (error) {
      signal.throwIfAborted();
      known = typedError(error, (unexpected) => onUnexpected(unexpected, ids.requestId));
    } finally {
      release();
    }
    // Until its next attempt, the engine may be unavailable.
    hasCrashed ||= known.code === "engine_crashed";
    const waits = !isSuspicious(known);
    if (waits ? !isTransient(known) : ++suspicions === MOST_SUSPICIONS) return failedLine(ids, known);
    if (waits) onWait(true);
    await pause(1000 * pauseSeconds(known), signal);
    if (waits) onWait(false);
  }
}

/**
 * Waits for a place to try a line again, a suspected one until no other is tried. The last attempt after a crash is made
 * alone, since lines that are tried for the first time may crash the engine, too.
 */
async function turn(
  { places, suspects }: LineDeps,
  suspicions: number,
  hasCrashed: boolean,
  signal: AbortSignal,
): Promise<() => void> {
  const leave = suspicions > 0 ? await suspects.take(1, signal) : () => {};
  const isAlone = hasCrashed && suspicions === MOST_SUSPICIONS - 1;
  try {
    const release = await places.take(isAlone ? Number.POSITIVE_INFINITY : 1, signal);
    return () => {
      release();
      leave();
    };
  } catch (error) {
    leave();
    throw error;
  }
}

const pauseSeconds = ({ details: { needsOperator, retryAfterSeconds } }: SvcError): number =>
  Math.min(retryAfterSeconds ?? (needsOperator ? OPERATOR_RETRY_S : RETRY_S), LONGEST_RETRY_S);
