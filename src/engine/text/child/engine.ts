// The engine process at work: prompts come in, one decode step follows another, and one message per step goes out. The
// only place where the scheduler, the native library and the text pipeline meet.

import type { AnswerFormat, Llama } from "../../../../ffi/llama/api.ts";
import type { Media } from "../../../../ffi/media/api.ts";
import { adapterKey } from "../../../domain/adapters.ts";
import { cancelledReason, type CancelCause } from "../../../domain/cancel.ts";
import type { Clock } from "../../../domain/clock.ts";
import type { SvcError } from "../../../domain/errors.ts";
import type { GenerateRequest } from "../../../domain/generate.ts";
import { nextTurn } from "../../../domain/next-turn.ts";
import type { FinishReason } from "../../../domain/usage.ts";
import type { Sampled } from "../../../scheduler/plan.ts";
import { Scheduler } from "../../../scheduler/scheduler.ts";
import type { SequenceRequest } from "../../../scheduler/sequence.ts";
import type { JobKey } from "../../process/protocol.ts";
import { asRefusal } from "../../process/refusal.ts";
import type { AnswerValue, EngineOptions, FromTextEngine, Levels, OnDisk, StepFinish, TextJob } from "../protocol.ts";
import { ActiveRequest } from "./active-request.ts";
import { Intake, type IntakeHandlers, type ReadyPrompt } from "./intake.ts";
import { KvCommands } from "./kv-commands.ts";
import { KvDisk } from "./kv-disk.ts";
import type { KvFolder } from "./kv-folder.ts";
import { levelsOf } from "./levels.ts";
import type { MediaPrompt } from "./media-prompts.ts";
import type { EngineObserver } from "./observer.ts";
import { OutputBuffer } from "./output-buffer.ts";
import { overload } from "./overload.ts";
import { schedulerLimits } from "./scheduler-limits.ts";
import { SlotFiles } from "./slot-files.ts";
import type { SlotFolder } from "./slot-folder.ts";
import type { SoundQueue } from "./sound-queue.ts";
import { StepRunner, type StepHooks } from "./step-runner.ts";

/** After an idle time, the requests of a burst rarely arrive in one instant: a pause of this length ends it. */
const GATHER_MS = 3;
/** Prompts that take no longer than this are computed without waiting for others of a burst. */
const SHORT_STEP_MS = 20;
/** The longest that the first request of a burst waits for the others. */
const GATHER_LIMIT_MS = 100;
/** When no request arrives and no prompt is finished in this time, the burst does not wait for prompts being made. */
const GATHER_STUCK_MS = 25;
/** How long to wait for the prompt threads before messages are read again, when there is nothing else to do. */
const PROMPT_WAIT_MS = 1;
const MEMORY_SAMPLE_MS = 100;

/** Where states of the KV cache are kept. */
export interface KvFolders {
  readonly cache?: KvFolder;
  readonly slots?: SlotFolder;
}

export class Engine {
  private readonly scheduler: Scheduler;
  private readonly active = new Map<JobKey, ActiveRequest>();
  private readonly intake: Intake;
  /** Accepted requests whose media are not encoded yet. */
  private readonly encoding = new Set<JobKey>();
  /** Encoded prompts of accepted requests with media. */
  private readonly mediaPrompts = new Map<JobKey, MediaPrompt>();
  private readonly runner: StepRunner;
  private readonly disk: KvDisk | undefined;
  private readonly slots: SlotFiles | undefined;
  private readonly output = new OutputBuffer();
  /** Whether `end` was called: nothing more is computed. */
  private ended = false;
  private wake: (() => void) | undefined;
  /** Whether speculative tokens may be used: rejected ones must be rolled back. */
  private readonly speculates: boolean;
  private resident = { bytes: 0, at: Number.NEGATIVE_INFINITY };
  /** How many requests with parsed answers got tokens in the newest step. */
  private readers = 0;

  constructor(
    private readonly llama: Llama,
    private readonly options: EngineOptions,
    private readonly send: (message: FromTextEngine) => void,
    private readonly clock: Clock,
    media?: Media,
    private readonly observers: readonly EngineObserver[] = [],
    folders: KvFolders = {},
    sounds?: SoundQueue,
  ) {
    const model = llama.model();
    const warn = (text: string) => send({ type: "log", level: "warn", text });
    const limits = schedulerLimits(options, model, folders.cache !== undefined);
    this.scheduler = new Scheduler(
      limits,
      (adapters) => adapterKey(adapters, options.kvOrigin?.adapterHashes),
      (key) => observers.forEach((one) => one.preempted?.(key, clock.now())),
    );
    const { host, disk } = this.scheduler.kv;
    this.disk = folders.cache && new KvDisk(folders.cache, disk, { changed: () => this.sendStep([]), warn });
    this.speculates = options.speculation && model.canRollBack;
    const handlers: IntakeHandlers = {
      ready: (prompt) => this.accept(prompt),
      encoded: (prompt) => this.schedule(prompt),
      refused: (key, error) => this.refuse(key, error),
      answered: (key, answer) => this.answer(key, answer),
      warn,
    };
    this.intake = new Intake(llama, media, options, handlers, sounds);
    const hooks: StepHooks = {
      begins: (expectedMs, now) => {
        if (this.output.begin(now, expectedMs, this.scheduler.heldMs)) this.sendStep([]);
      },
      started: (keys, now) => this.announce(keys, now),
      stepped: (sampled, now) => {
        this.sampleMemory(now);
        this.tellProgress(now);
        this.collect(sampled, now);
      },
    };
    const { active, mediaPrompts } = this;
    const commands = new KvCommands(llama, host, clock, this.disk);
    this.runner = new StepRunner(
      llama,
      this.scheduler,
      commands,
      { active, mediaPrompts },
      clock,
      hooks,
      media,
      observers,
    );
    this.slots =
      folders.slots &&
      new SlotFiles(folders.slots, this.scheduler, commands, model.contextPerSequence, clock, {
        prepare: () => this.runner.prepareCache(),
        started: (key) => send({ type: "started", keys: [key] }),
        answered: (key, outcome) => {
          this.answer(key, outcome);
          // The number of cached tokens has changed.
          this.sendStep([]);
        },
        refused: (key, error) => this.refuse(key, error),
      });
  }

  /** Takes a job; work happens in `run`. */
  submit(key: JobKey, job: TextJob): void {
    if (job.type === "generate") this.intake.submit(key, job.request);
    else if (job.type === "count") this.intake.count(key, job.request);
    else if (job.type === "render") this.intake.show(key, job.request);
    else if (job.type === "slot") this.slots?.submit(key, job.action);
    else if (job.type === "tokenize") this.intake.submitText(key, job);
    else void this.intake.detokenize(key, job);
    this.wake?.();
  }

  /** Ends a request; sends its last event unless the client is gone. */
  cancel(key: JobKey, cause: CancelCause): void {
    this.runner.cancelled();
    const request = this.active.get(key);
    if (!request) {
      this.slots?.cancel(key);
      return this.intake.cancel(key);
    }
    const isRead = cause !== "client";
    const reason = cancelledReason(cause);
    request.isCancelled = true;
    if (isRead) this.output.hold(key, request.end(reason));
    const finish = this.close(request, reason);
    // Always sent, because it carries the new levels.
    this.sendStep(isRead ? [finish] : []);
    this.wake?.();
  }

  /** Lists what earlier processes left in the disk cache; undefined without a disk cache. */
  async findStored(): Promise<OnDisk | undefined> {
    const found = await this.disk?.open();
    if (found) this.sendStep([]);
    return found;
  }

  /** Stops computing. Resolves when everything worth keeping is in the disk cache, most likely to be reused first. */
  async end(): Promise<void> {
    this.ended = true;
    for (const request of this.active.values()) this.close(request, "cancelled");
    while (this.disk && this.scheduler.kv.writeNext(this.clock.now())) {
      this.runner.prepareCache();
      await this.disk.settled();
    }
    this.runner.prepareCache();
    await this.disk?.settled();
  }

  /** Runs steps for as long as the process lives. Throws when the native library fails: the process must then end. */
  async run(): Promise<never> {
    let idle = true;
    for (;;) {
      if (this.ended) await new Promise<never>(() => {});
      await this.runner.afterAbort();
      this.intake.collect(0);
      if (this.scheduler.hasWork) {
        if (idle && this.mayGather) await this.gather();
        idle = false;
        // There is no step while all requests wait for the disk.
        if (!this.runner.step()) await Bun.sleep(PROMPT_WAIT_MS);
      } else if (this.intake.rendering) {
        this.intake.collect(PROMPT_WAIT_MS);
      } else if (this.intake.busy) {
        await Bun.sleep(PROMPT_WAIT_MS);
      } else {
        idle = true;
        await new Promise<void>((resolve) => (this.wake = resolve));
      }
      // Incoming messages are read only between macrotasks.
      await nextTurn();
    }
  }

  /** Whether others of a burst would wait long for the first prompts: else these are computed at once. */
  private get mayGather(): boolean {
    return this.intake.rendering || this.scheduler.waitingExceeds(SHORT_STEP_MS);
  }

  /** Waits for a burst to arrive, so that its prompts are computed together in full batches. */
  private async gather(): Promise<void> {
    const { intake, clock } = this;
    let movedAt = clock.now();
    const until = movedAt + GATHER_LIMIT_MS;
    for (let before = -1; before !== intake.progress || intake.rendering;) {
      const now = clock.now();
      if (before !== intake.progress) movedAt = now;
      if (now >= Math.min(until, movedAt + GATHER_STUCK_MS)) return;
      before = intake.progress;
      await Bun.sleep(GATHER_MS);
      intake.collect(0);
    }
  }

  private accept(prompt: ReadyPrompt): boolean {
    const { key, request, tokens, format } = prompt;
    const { scheduler, intake, options, clock } = this;
    const error = overload(prompt, this.sequenceOf(prompt), { scheduler, coming: intake.coming }, options, clock);
    if (error) {
      this.refuse(key, error);
      return false;
    }
    this.active.set(key, new ActiveRequest(prompt, this.llama, this.clock, () => this.readers));
    for (const one of this.observers) one.accepted?.(prompt, this.clock.now());
    if (prompt.media) this.encoding.add(key);
    else this.schedule(prompt);
    const downgraded = this.isDowngraded(request, format);
    const event = { type: "accepted", promptTokens: tokens.length, downgraded } as const;
    this.send({ type: "accepted", key, event, report: this.report() });
    return true;
  }

  private refuse(key: JobKey, error: SvcError): void {
    const request = this.active.get(key);
    if (request) this.close(request, "cancelled");
    this.send({ type: "rejected", key, ...asRefusal(error) });
  }

  private schedule(prompt: ReadyPrompt): void {
    this.encoding.delete(prompt.key);
    if (prompt.media) this.mediaPrompts.set(prompt.key, prompt.media);
    this.scheduler.add(this.sequenceOf(prompt), this.clock.now());
  }

  private sequenceOf({ key, request, tokens, media }: ReadyPrompt): SequenceRequest {
    return {
      key,
      prompt: tokens,
      ...this.lengthOf(request, tokens.length, media !== undefined),
      ...(media && { media: media.spans }),
      ...(request.adapters && { adapters: request.adapters }),
      ...(request.client !== undefined && { client: request.client }),
      ...(request.background && { background: true }),
      // Responses report slot 0 when the request names none.
      ...(this.slots && { slot: request.slot ?? 0 }),
      ...(request.fresh && { fresh: true }),
      ...(request.promptLogprobs && !media && { scored: true }),
      // Of several tokens sampled in one step, only the last one's log probabilities are kept.
      speculate: this.speculates && request.topLogprobs === undefined,
      multiStep: request.topLogprobs === undefined,
    };
  }

  /** Returns how many tokens may be sampled, and whether older tokens are dropped for them. */
  private lengthOf(
    { maxTokens = Number.POSITIVE_INFINITY, keepTokens = 0 }: GenerateRequest,
    prompt: number,
    media: boolean,
  ) {
    const { maxModelLen: room, contextShift } = this.options;
    if (!contextShift || media) return { maxTokens: Math.min(maxTokens, room - prompt) };
    // Models attend to the very first token, whatever it is: without it they produce nonsense.
    const keep = keepTokens < 0 ? prompt : Math.max(keepTokens, 1);
    return { maxTokens, shift: { room, keep } };
  }

  /** Returns whether the client wants a strict format that the sampler cannot enforce completely. */
  private isDowngraded({ constraint }: GenerateRequest, format: AnswerFormat): boolean {
    if (!constraint?.strict) return false;
    return constraint.inexpressible || format.unconstrained || !this.options.constrain;
  }

  private answer(key: JobKey, answer: AnswerValue): void {
    this.send({ type: "events", outputs: [], finished: [{ key, event: { type: "answer", answer } }] });
  }

  /** Collects the output of a step, and sends everything buffered when a request has ended. */
  private collect(sampled: readonly Sampled[], now: number): void {
    const finished: StepFinish[] = [];
    this.readers = sampled.filter(({ key, more }) => !more && this.active.get(key)?.isParsed).length;
    for (const { key, token, last, more } of sampled) {
      const request = this.active.get(key);
      if (!request) continue;
      this.output.hold(key, request.accept(token, now, more));
      const ended = request.stopped ? "stop" : last || request.isCut ? "length" : undefined;
      if (!ended) continue;
      this.output.hold(key, request.end(ended));
      finished.push(this.close(request, ended));
    }
    if (finished.length > 0) this.sendStep(finished);
  }

  private tellProgress(now: number): void {
    for (const [key, request] of this.active) {
      const { processed, cached } = this.scheduler.progress(key);
      this.output.hold(key, request.progress(processed, cached, now));
    }
  }

  private announce(keys: readonly JobKey[], now: number): void {
    const reported = keys.map((key) => {
      const media = this.mediaPrompts.get(key);
      if (media) this.intake.begun(media);
      const events = this.active.get(key)?.started(this.scheduler.progress(key).cached, now) ?? [];
      this.output.hold(key, events);
      return events.length > 0;
    });
    for (const one of this.observers) one.started?.(keys, now, this.scheduler);
    this.send({ type: "started", keys, report: this.report() });
    // Sent before the computation begins, because afterwards it would be outdated.
    if (reported.includes(true)) this.sendStep([]);
  }

  private close(request: ActiveRequest, reason: FinishReason): StepFinish {
    const now = this.clock.now();
    const { cached, dropped } = this.scheduler.progress(request.key);
    this.active.delete(request.key);
    this.encoding.delete(request.key);
    this.scheduler.remove(request.key, now);
    this.slots?.ended();
    this.llama.freeSampler(request.sampler);
    // Its media may not be encoded yet.
    this.intake.cancel(request.key);
    const prompt = this.mediaPrompts.get(request.key);
    if (prompt) this.intake.release(prompt);
    this.mediaPrompts.delete(request.key);
    const finish = request.finish(reason, cached, dropped, now);
    return this.observers.reduce((reported, one) => one.finished(reported, now, this.scheduler), finish);
  }

  private sampleMemory(now: number): void {
    if (now - this.resident.at >= MEMORY_SAMPLE_MS) this.resident = { bytes: process.memoryUsage.rss(), at: now };
    for (const request of this.active.values()) request.residentBytes(this.resident.bytes);
  }

  private sendStep(finished: StepFinish[]): void {
    this.send({ type: "events", outputs: this.output.take(), finished, report: this.report() });
  }

  private report(): { readonly levels: Levels } {
    const { runner, llama, encoding } = this;
    const work = { steps: runner.steps, threads: llama.computeThreads(), media: encoding.size };
    return { levels: levelsOf(this.scheduler, this.clock.now(), this.disk?.counts, work) };
  }
}
