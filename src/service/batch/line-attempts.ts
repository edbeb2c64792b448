// One line of a batch: attempts until an answer says something about the line.

import type { BatchOutputLine } from "../../contract/batches.ts";
import type { InputLine } from "../../dialect/batches/decode.ts";
import { answeredLine, failedLine } from "../../dialect/batches/output-line.ts";
import { typedError, type SvcError } from "../../domain/errors.ts";
import { newBatchAnswerId, newRequestId } from "../../domain/ids.ts";
import type { Pause } from "../../domain/pause.ts";
import type { AnswerLine } from "./answer-line.ts";
import type { Release, Semaphore } from "./semaphore.ts";

export interface LineDeps {
  readonly places: Semaphore;
  readonly answer: AnswerLine;
  /** Waits before a line's next attempt. */
  readonly pause: Pause;
  /** Called when a line begins to wait for what has nothing to do with it, and at its next attempt. */
  readonly onWait: (waits: boolean) => void;
  /** Called with a failure of a line that nobody foresaw. */
  readonly onUnexpected: (error: unknown, requestId: string) => void;
}

/** A line may be what ended the engine, or broke or silenced another server: it is not tried for ever. */
const MOST_SUSPICIONS = 3;
const SUSPECT = new Set<string>(["engine_crashed", "upstream_error"]);
const isSuspicious = ({ code, details }: SvcError): boolean => SUSPECT.has(code) || details.sent === true;
const RETRY_S = 1;
/** What says nothing about the line: there is another attempt. */
const TRANSIENT = new Set<string>([
  "server_busy",
  "engine_unavailable",
  "upstream_unavailable",
  "shutting_down",
  "storage_full",
  "storage_unavailable",
]);

/**
 * The output of a line of the batch `client`, whatever it is; undefined when the signal is aborted first. It begins in
 * the place that `first` gives back; while it waits for another attempt, it keeps nobody from one.
 */
export async function answerLine(
  { places, answer, pause, onWait, onUnexpected }: LineDeps,
  { customId, body }: InputLine,
  client: string,
  first: Release,
  signal: AbortSignal,
): Promise<BatchOutputLine | undefined> {
  // Nobody would read a stream.
  const { stream: _stream, ...request } = body;
  let suspicions = 0;
  for (let release: Release | undefined = first; release; release = await places.acquire(signal)) {
    const ids = { id: newBatchAnswerId(), customId, requestId: newRequestId() };
    let known: SvcError;
    try {
      return answeredLine(ids, await answer(request, { id: ids.requestId, client }, signal));
    } catch (error) {
      if (signal.aborted) return undefined;
      known = typedError(error, (unexpected) => onUnexpected(unexpected, ids.requestId));
    } finally {
      release();
    }
    const waits = !isSuspicious(known);
    if (waits ? !TRANSIENT.has(known.code) : ++suspicions === MOST_SUSPICIONS) return failedLine(ids, known);
    if (waits) onWait(true);
    // After an abort there is no place to be had.
    await pause(1000 * (known.details.retryAfterSeconds ?? RETRY_S), signal).catch(() => {});
    if (waits) onWait(false);
  }
  return undefined;
}
