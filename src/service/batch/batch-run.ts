// Runs one batch from its current state to its end. The output is also the journal: lines in it are answered, so after
// a crash at any moment a server continues with the others.

import { decodeInputLine, type InputLine } from "../../dialect/batches/decode.ts";
import { skippedLine, tallyLine } from "../../dialect/batches/output-line.ts";
import type { BatchOutputLine } from "../../contract/batches.ts";
import { unixSeconds, type Clock } from "../../domain/clock.ts";
import { SvcError } from "../../domain/errors.ts";
import { newBatchAnswerId } from "../../domain/ids.ts";
import type { Semaphore } from "../../domain/semaphore.ts";
import type { BatchFault, BatchRecord } from "../../store/batch-records.ts";
import type { JobStore } from "../../store/job-store.ts";
import { Journal } from "../../store/journal.ts";
import { isBlank, LinesFile } from "../../store/json-lines.ts";
import { isMissing, storageError } from "../../store/storage-error.ts";
import type { LineOutcome, Metrics } from "../../telemetry/metrics.ts";
import type { AnswerLine } from "./answer-line.ts";
import { answerLine, type LineDeps, type WaitingLine } from "./line-attempts.ts";
import { Tally } from "./tally.ts";
import { validateInput } from "./validate-input.ts";

export interface BatchRunDeps extends Omit<LineDeps, "onWait" | "answer"> {
  /** Answer functions by endpoint. */
  readonly answers: Readonly<Record<string, AnswerLine>>;
  readonly store: JobStore;
  readonly clock: Clock;
  readonly metrics: Pick<Metrics, "batchLineEnded">;
  /** Memory for the long lines of all batches. */
  readonly memory: Semaphore;
  /** Maximum number of lines in a batch. */
  readonly maxLines: number;
  /** Maximum number of lines of this batch that are in progress, including those that wait for another attempt. */
  readonly linesAtOnce: number;
  /** Seconds to keep an output file if the batch sets none; null: until it is deleted. */
  readonly keepSeconds: number | null;
}

/** Milliseconds between checks whether the batch was cancelled, by any server, or has expired. */
const WATCH_MS = 250;
/** Maximum age in milliseconds of the counts that clients see. */
const PROGRESS_MS = 100;

export class BatchRun {
  /** Aborted when no more lines should be answered, for any reason. */
  private readonly ending = new AbortController();
  private readonly input: LinesFile;
  /** First failure of the disk or the database outside the main flow; `answerAll` throws it. */
  private failure: { readonly error: unknown } | undefined;
  private saving: ReturnType<typeof setTimeout> | undefined;
  /** Lines that need or have a place or wait for another attempt; and those of them that wait. */
  private lines = 0;
  private waiting = 0;

  constructor(
    private readonly deps: BatchRunDeps,
    private readonly id: string,
  ) {
    this.input = new LinesFile(deps.store.inputPath(id), deps.memory);
  }

  /** Stops the run; lines in progress are abandoned and answered by the next run of the batch. */
  stop(): void {
    this.ending.abort();
  }

  /** Whether all lines in progress wait for another attempt, for example because their model is unreachable. */
  get isHeldUp(): boolean {
    return this.lines > 0 && this.waiting === this.lines && !this.ending.signal.aborted;
  }

  /** Checks now whether the batch was cancelled or has expired. */
  check(): void {
    try {
      const batch = this.record();
      if (batch.status === "cancelling" || this.isOver(batch)) this.ending.abort();
    } catch (error) {
      this.giveUp(error);
    }
  }

  private giveUp(error: unknown): void {
    this.failure ??= { error };
    this.ending.abort();
  }

  /**
   * Checks the lines of a new batch, which then is in progress or failed; answers those of any other batch until it has
   * ended. A run that is stopped leaves the batch in its state. The caller holds the lock, and clears what an ended
   * batch leaves. Throws errors of the disk and the database.
   */
  async run(): Promise<void> {
    const { store } = this.deps;
    if (store.batches.isEnded(this.id)) return;
    try {
      if (this.record().status === "validating") await this.validate();
      else await this.answerAndHandOver();
    } catch (error) {
      if (!isMissing(error)) throw error;
      this.fail([
        {
          code: "not_found",
          message: "What the batch keeps in the server's data folder is gone.",
          param: "input_file_id",
          line: null,
        },
      ]);
    }
  }

  private async validate(): Promise<void> {
    const { store, maxLines } = this.deps;
    const { signal } = this.ending;
    const checked = await validateInput(this.input, this.record().endpoint, maxLines, signal).catch(
      (error: unknown) => {
        if (!signal.aborted) throw error;
      },
    );
    if (!checked) return;
    const { total, faults } = checked;
    store.batches.setProgress(this.id, new Tally(total).progress);
    if (faults.length > 0) this.fail(faults);
    else store.batches.advance(this.id, "validating", "in_progress", this.now());
  }

  private async answerAndHandOver(): Promise<void> {
    const { store, memory } = this.deps;
    const tally = new Tally(this.record().total);
    const journal = await Journal.open(store.outputPath(this.id), memory, (line) =>
      tally.add(tallyLine(line as BatchOutputLine)),
    );
    const watch = setInterval(() => this.check(), WATCH_MS);
    try {
      this.saveProgress(tally);
      this.check();
      await this.answerAll(journal, tally);
      const { total, completed, failed } = tally.progress;
      if (completed + failed >= total) store.batches.advance(this.id, "in_progress", "finalizing", this.now());
      // The batch may be cancelled while it expires.
      while (!(await this.close(journal, tally)));
    } finally {
      clearInterval(watch);
      clearTimeout(this.saving);
      this.saveProgress(tally);
      await journal.close();
    }
  }

  /** Answers all unanswered lines, a few concurrently, until none is left or the run has to end. */
  private async answerAll(journal: Journal, tally: Tally): Promise<void> {
    const { signal } = this.ending;
    const { places, linesAtOnce, store, answers } = this.deps;
    const { endpoint } = this.record();
    const answer = answers[endpoint];
    if (!answer) throw new Error(`${endpoint} is not an endpoint of batches`);
    const underWay = new Set<Promise<void>>();
    const onWait = (waits: boolean) => void (this.waiting += waits ? 1 : -1);
    try {
      for await (const line of this.unanswered(tally, signal)) {
        // Fails before a line is computed if there is no space for its output.
        if (!signal.aborted) await store.quota.claim(1);
        this.lines++;
        const release = await places.take(1, signal);
        const work = answerLine({ ...this.deps, answer, onWait }, line, this.id, release, signal)
          .then((output) => this.write(output, journal, tally))
          .catch((error: unknown) => {
            if (error !== signal.reason) this.giveUp(error);
          })
          .finally(() => {
            this.lines--;
            underWay.delete(work);
          });
        underWay.add(work);
        if (underWay.size >= linesAtOnce) await Promise.race(underWay);
      }
    } catch (error) {
      // Waiting for a place or for memory ends with the signal's reason when the run ends.
      if (!signal.aborted) this.giveUp(error);
    }
    await Promise.all(underWay);
    if (this.failure) throw this.failure.error;
  }

  private async write(line: BatchOutputLine, journal: Journal, tally: Tally): Promise<void> {
    await this.put(line, line.error ? "failed" : "completed", journal, tally);
    this.saving ??= setTimeout(() => {
      this.saving = undefined;
      this.saveProgress(tally);
    }, PROGRESS_MS);
  }

  /**
   * Ends the batch if its status calls for that: writes the reason into unanswered lines, and makes the journal the
   * output file. Returns false when the status has changed meanwhile.
   */
  private async close(journal: Journal, tally: Tally): Promise<boolean> {
    const { store, keepSeconds } = this.deps;
    const batch = this.record();
    const end = this.endOf(batch, tally);
    if (!end) return true;
    if (end !== "completed") await this.skipRest(journal, tally, `batch_${end}`);
    await journal.sync();
    clearTimeout(this.saving);
    store.batches.setProgress(this.id, tally.progress);
    const now = this.now();
    const seconds = batch.outputSeconds ?? keepSeconds;
    const output = {
      id: batch.outputFileId,
      bytes: journal.bytes,
      filename: `${batch.id}_output.jsonl`,
      purpose: "batch_output" as const,
      createdAt: now,
      expiresAt: seconds === null ? null : now + seconds,
    };
    return store.handOver(batch, output, end, now);
  }

  private endOf(batch: BatchRecord, tally: Tally): "completed" | "cancelled" | "expired" | undefined {
    if (batch.status === "finalizing") return "completed";
    if (batch.status === "cancelling") return "cancelled";
    // Once it has expired, it stays so, even if the clock was set back.
    return this.isOver(batch) || tally.hasSkipped ? "expired" : undefined;
  }

  private async skipRest(journal: Journal, tally: Tally, code: "batch_cancelled" | "batch_expired"): Promise<void> {
    for await (const { customId } of this.unanswered(tally, new AbortController().signal)) {
      const line = skippedLine(newBatchAnswerId(), customId, code);
      await this.put(line, "skipped", journal, tally);
    }
  }

  private async put(line: BatchOutputLine, outcome: LineOutcome, journal: Journal, tally: Tally): Promise<void> {
    const { quota } = this.deps.store;
    // Skipped lines are written even beyond the quota: otherwise the batch could not even be cancelled.
    await journal.append(line, (bytes) => (outcome === "skipped" ? quota.take(bytes) : quota.claim(bytes)));
    tally.add(tallyLine(line));
    this.deps.metrics.batchLineEnded(outcome);
  }

  /** Emits the input lines that have no output line yet. The body of a long line is read again when it is used. */
  private async *unanswered(tally: Tally, signal: AbortSignal): AsyncGenerator<WaitingLine, void, void> {
    const { endpoint } = this.record();
    for await (const line of this.input.lines()) {
      if (isBlank(line)) continue;
      const read = <T>(use: (input: InputLine) => T | Promise<T>): Promise<T> =>
        this.input.read(line, signal, (value) => use(decodeInputLine(value, endpoint)));
      const short = line.pieces && (await read((input) => input));
      const customId = short?.customId ?? (await read((input) => input.customId));
      if (tally.has(customId)) continue;
      yield { customId, withBody: (use) => (short ? use(short.body) : read(({ body }) => use(body))) };
    }
  }

  private fail(faults: readonly BatchFault[]): void {
    this.deps.store.batches.fail(this.id, faults, this.now());
  }

  /** Saves the counts for clients to see; a failure is harmless, because the next call saves them again. */
  private saveProgress(tally: Tally): void {
    try {
      this.deps.store.batches.showProgress(this.id, tally.progress);
    } catch (error) {
      if (!(storageError(error) instanceof SvcError)) this.deps.onUnexpected(error, this.id);
    }
  }

  private isOver({ status, expiresAt }: BatchRecord): boolean {
    return status === "in_progress" && this.now() >= expiresAt;
  }

  private record(): BatchRecord {
    const batch = this.deps.store.batches.get(this.id);
    if (batch) return batch;
    throw new SvcError("not_found", "The batch is not in the database any more.");
  }

  private now(): number {
    return unixSeconds(this.deps.clock);
  }
}
