// Looks after the process of one engine: starts it, hands it jobs, unloads it when idle, and restarts it when it died
// or hangs. An engine's death is a normal event: jobs that it was computing fail with a typed error, jobs that it had
// not started go to its successor.

import type { CancelCause } from "../../domain/cancel.ts";
import { errorMessage } from "../../domain/error-message.ts";
import { retryAfterSeconds, shuttingDown, SvcError } from "../../domain/errors.ts";
import type { LogFields, Logger } from "../../telemetry/log.ts";
import { HungError, type PendingJob, type Started } from "./jobs.ts";
import type { MemoryTenant, UnloadReason } from "./memory-budget.ts";
import { ModelFiles } from "./model-files.ts";
import { PendingJobs } from "./pending-jobs.ts";
import { EngineProcess, type EngineExit } from "./process.ts";
import { PROTOCOL_VERSION, type FromEngine, type ProcessMemory, type ToEngine } from "./protocol.ts";
import { RestartPolicy } from "./restart.ts";
import type { ProcessState, ProcessStatus } from "../../domain/process-status.ts";
import type { SupervisorOptions } from "./supervisor-options.ts";
import { watchProcess } from "./watch-process.ts";
import type { Watchdog } from "./watchdog.ts";

const STOP_GRACE_MS = 2000;
/** Asks an engine process to end: terminals and service managers send signals to all processes of a group. */
const END = { type: "end" } as const;
const NO_MEMORY: ProcessMemory = { resident: 0, own: 0 };

export class Supervisor<Options, Ready, Job, Event extends {}, Report = never> implements MemoryTenant {
  private state: ProcessState;
  private process: EngineProcess<ToEngine<Options, Job>, FromEngine<Ready, Event, Report>> | undefined;
  private watchdog: Watchdog | undefined;
  private progress = 0;
  /** Why the process is being killed; undefined while it is not. */
  private hang: string | undefined;
  private lastError: string | undefined;
  private loadFailure: string | undefined;
  /** Why the last attempt to fetch what is to be loaded failed. */
  private hindrance: string | undefined;
  /** Whether it was loaded once, so that the model is known to be good. */
  private isProven = false;
  /** Whether the last attempt to load failed, so that the next request would probably be refused, too. */
  private loadFails = false;
  /** Whether the last process died, so that the next start counts as a restart. */
  private hasDied = false;
  private restarts = 0;
  private memory = NO_MEMORY;
  /** Resolves when a process that was given up is gone and its memory is free. */
  leaving: Promise<void> | undefined;
  private idle: ReturnType<typeof setTimeout> | undefined;
  /** When its last job was over. */
  private usedAt = 0;
  /** Whether it ends as soon as it has no jobs. */
  private isRetired = false;
  /** How many callers keep it from being idle, because they have more jobs for it. */
  private users = 0;
  private readonly log: Logger;
  /** Names the engine in log lines, which come from several engines. */
  private readonly name: LogFields;
  private readonly files: ModelFiles;
  private readonly restart: RestartPolicy;
  private readonly jobs: PendingJobs<Job, Event>;
  private readonly loaded = Promise.withResolvers<void>();
  /** Aborts what is being fetched for the engine. */
  private readonly stopping = new AbortController();

  constructor(private readonly options: SupervisorOptions<Options, Ready, Event, Report>) {
    this.state = options.start === "eager" ? "starting" : "unloaded";
    this.log = options.launch.log;
    this.name = { kind: options.kind, model: options.model };
    this.files = new ModelFiles(options.files ?? []);
    this.restart = new RestartPolicy(options.launch.clock);
    this.jobs = new PendingJobs({
      ...options,
      ...options.launch,
      process: () => this.process,
      onOverdue: () => this.replaceBusy(),
      onIdle: () => this.waitIdly(),
    });
    this.loaded.promise.catch(() => {});
    if (options.start === "lazy") options.launch.memory.add(this);
  }

  /** Starts an eager engine's first process. */
  start(): void {
    this.spawn();
  }

  /** Resolves when the model is first loaded; rejects when an eager engine cannot load it, which is not retried. */
  ready(): Promise<void> {
    return this.loaded.promise;
  }

  status(): ProcessStatus {
    const { stalledSince } = this;
    const { running, size } = this.jobs;
    return {
      state: stalledSince === undefined ? this.state : "stalled",
      ...(this.state === "loading" && { progress: this.progress }),
      ...(stalledSince !== undefined && { stalledSince }),
      ...(this.lastError !== undefined && { lastError: this.lastError }),
      ...(this.loadFails && { loadFails: true as const }),
      restarts: this.restarts,
      running,
      waiting: size - running,
      residentBytes: this.memory.resident,
    };
  }

  /**
   * Runs a job: yields its events, and `started` before its first computation. While the engine is loading or
   * restarting, the job waits for it. Throws SvcError (`engine_unavailable`, `engine_crashed`, `shutting_down`, or the
   * engine's refusal), or the signal's reason: aborting drops the job, whose work stops within 250 ms, or
   * `abortGraceMs`. `contents`: large binary contents of the job, which are sent before it.
   */
  run(
    job: Job,
    signal: AbortSignal,
    id = "",
    contents?: readonly Uint8Array[],
  ): AsyncGenerator<Event | Started, void, void> {
    // A generator keeps its parameters alive, and a job its images and sound.
    return this.follow(this.jobs.create(id, job, contents), signal);
  }

  private async *follow(
    pending: PendingJob<Job, Event>,
    signal: AbortSignal,
  ): AsyncGenerator<Event | Started, void, void> {
    signal.throwIfAborted();
    this.prepare();
    this.jobs.add(pending, this.state === "ready");
    const { events } = pending;
    const abandon = () => this.jobs.drop(pending);
    signal.addEventListener("abort", abandon);
    try {
      while (await events.more()) {
        for (let event = events.take(); event !== undefined; event = events.take()) {
          this.jobs.balance(pending);
          yield event;
        }
      }
      signal.throwIfAborted();
    } finally {
      signal.removeEventListener("abort", abandon);
      this.jobs.drop(pending);
    }
  }

  /**
   * Ends the newest job of this id early: its last event comes, with what was computed. Returns false when none is left,
   * also if the last events of one that has ended are still unread.
   */
  cancel(id: string, cause: CancelCause): boolean {
    return this.jobs.cancel(id, cause);
  }

  /** Refuses jobs from now on and ends the process. Resolves when it is gone. */
  async stop(): Promise<void> {
    this.state = "draining";
    this.stopping.abort();
    this.restart.cancel();
    this.jobs.failAll(shuttingDown());
    clearTimeout(this.idle);
    await Promise.all([this.leaving, this.endProcess()]);
    this.state = "stopped";
  }

  get ownBytes(): number {
    return this.memory.own;
  }

  get idleSince(): number | undefined {
    return this.state === "ready" && this.jobs.size === 0 && this.users === 0 ? this.usedAt : undefined;
  }

  /** Keeps the engine from being idle between two jobs until the returned function is called. */
  keep(): () => void {
    this.users++;
    clearTimeout(this.idle);
    return () => {
      this.users--;
      if (this.jobs.size === 0) this.waitIdly();
    };
  }

  /** Ends the process; the next job loads the model again. Resolves when the process is gone. */
  async unload(reason: UnloadReason = "idle"): Promise<void> {
    // Without a process it waits for a download or memory, and remains unloaded if no job is left then.
    if (!this.process || (this.state !== "ready" && this.state !== "loading")) return;
    this.log.verbose("engine unloaded", { ...this.name, reason, bytes: this.memory.resident });
    const gone = this.giveUp(this.endProcess());
    this.state = "unloaded";
    await gone;
  }

  /** Unloads a model that is loaded on first use, if it is idle; resolves with whether it is unloaded. */
  async unloadIdle(): Promise<boolean> {
    if (this.options.start === "lazy" && this.idleSince !== undefined) await this.unload();
    return this.state === "unloaded";
  }

  /** Unloads the model once it has no jobs, and after every later job: its model is not offered any more. */
  retire(): void {
    this.isRetired = true;
    if (this.jobs.size === 0 && this.users === 0) void this.unloadRetired();
  }

  private async unloadRetired(): Promise<void> {
    await this.unload("removed");
    // Until the process is gone, others wait for its memory.
    await this.leaving;
    this.options.launch.memory.remove(this);
  }

  /** Undefined while a model loads: no job is stalled then, as all wait for the load. */
  private get stalledSince(): number | undefined {
    return this.state === "ready" ? this.watchdog?.stalledSince : undefined;
  }

  /** Makes sure that a process is there or coming for one more job. Throws SvcError when there cannot be one. */
  private prepare(): void {
    if (this.state === "draining" || this.state === "stopped") throw shuttingDown();
    if (this.state === "failed") throw this.unavailable();
    if (this.watchdog && this.stalledSince !== undefined) throw stalled(this.watchdog.retryMs);
    if (this.state === "unloaded") this.load();
    clearTimeout(this.idle);
  }

  /** Ends a process that goes on computing what nobody waits for. Neither it nor the jobs behind it count as failed. */
  private replaceBusy(): void {
    if (this.state !== "ready") return;
    this.log.debug("engine process ended: no request waited for what it computed", this.name);
    this.endBusy();
  }

  private endBusy(): void {
    this.giveUp(this.process?.kill());
    this.jobs.lose(new HungError(), undefined, true);
    this.replace();
  }

  private waitIdly(): void {
    const { start, idleMs } = this.options;
    this.usedAt = this.options.launch.clock.now();
    if (start === "eager" || this.users > 0) return;
    if (this.isRetired) return void this.unloadRetired();
    if (idleMs === 0) return;
    clearTimeout(this.idle);
    this.idle = setTimeout(() => void this.unload(), idleMs);
    // The timer must not keep this process alive.
    this.idle.unref();
  }

  private endProcess(): Promise<void> | undefined {
    return this.process?.stop(END, this.options.stopGraceMs ?? STOP_GRACE_MS);
  }

  /** Starts the process once its files and the memory for its model are there. Jobs wait for it. */
  private load(): void {
    const ready = this.makeReady();
    if (!ready) return this.spawn();
    this.state = "loading";
    this.progress = 0;
    const isAwaited = () => this.state === "loading" && !this.process;
    ready
      .then(() => {
        if (!isAwaited()) return;
        if (this.jobs.size > 0 || this.options.start === "eager") this.spawn();
        else this.state = "unloaded";
      })
      .catch((error: unknown) => {
        if (!isAwaited()) return;
        this.loadFails ||= !(error instanceof SvcError);
        if (this.options.start === "lazy") {
          this.state = "unloaded";
          return this.jobs.failAll(error instanceof SvcError ? error : this.unavailable());
        }
        // An eager engine must always be there, so loading is tried again.
        if (error instanceof SvcError) this.hindrance = error.message;
        this.scheduleRestart();
        this.jobs.failAll(this.unavailable());
      })
      .finally(() => {
        if (!this.process) this.options.launch.memory.settle(this);
      });
  }

  /** Gives up a process; the next one starts when it is gone. */
  private giveUp(ended: Promise<void> | undefined): Promise<void> | undefined {
    this.processEnded();
    if (ended) this.leaving = ended.then(() => (this.leaving = undefined));
    return this.leaving;
  }

  /** Returns undefined when nothing is missing. Throws, or rejects with, SvcError. */
  private makeReady(): Promise<void> | undefined {
    const { launch, model, needBytes = 0, onGpus, prepare } = this.options;
    const claim = () => launch.memory.claim(this, needBytes, model, onGpus);
    // Memory is claimed after the download, because others could use it meanwhile.
    const brought = prepare?.(this.stopping.signal);
    const ready = brought ? brought.then(() => this.leaving) : this.leaving;
    return ready ? ready.then(claim) : claim();
  }

  private spawn(): void {
    for (const file of this.files.changed()) {
      this.log.warn("model file was replaced since it was last read: restart svc to have it checked", {
        ...this.name,
        file,
      });
    }
    const { start, onGpus, launch } = this.options;
    if (start === "eager" && onGpus) launch.memory.enterGpus(this);
    try {
      this.process = this.newProcess();
      this.watchdog = this.watch(this.process);
    } catch (error) {
      this.options.launch.memory.settle(this);
      this.lastError = errorMessage(error);
      this.loadFails = true;
      this.log.error("engine cannot be started", { ...this.name, reason: this.lastError });
      throw new SvcError("engine_unavailable", "The model cannot be started; the server's log says why.");
    }
    this.state = "loading";
    this.progress = 0;
    this.loadFailure = this.hang = this.hindrance = undefined;
    if (this.hasDied) this.restarts++;
    this.hasDied = false;
    this.log.debug("engine process started", { ...this.name, pid: this.process.pid });
  }

  private newProcess(): NonNullable<typeof this.process> {
    const { kind, launch, load } = this.options;
    const options = load();
    const process: NonNullable<typeof this.process> = new EngineProcess({
      command: launch.command(kind),
      env: launch.env,
      onMessage: (message) => this.process === process && this.receive(message),
      onExit: (exit) => this.process === process && this.exited(exit),
    });
    process.send({ type: "load", version: PROTOCOL_VERSION, options });
    return process;
  }

  private watch(process: NonNullable<typeof this.process>): Watchdog {
    return watchProcess(process, this.options, {
      isReady: () => this.state === "ready",
      onHung: () => this.endBusy(),
      onSilent: (hang) => {
        this.hang = hang;
        void process.kill();
      },
    });
  }

  private receive(message: FromEngine<Ready, Event, Report>): void {
    this.watchdog?.heard();
    if ("report" in message && message.report !== undefined) this.options.onReport?.(message.report);
    switch (message.type) {
      case "progress":
        this.progress = message.value;
        return;
      case "ready":
        // Too late: the process is being killed.
        return this.hang === undefined ? this.becomeReady(message.ready) : undefined;
      case "load-failed":
        this.loadFailure = message.message;
        return void this.process?.stop(END, STOP_GRACE_MS);
      case "taken":
        return this.jobs.taken(message);
      case "accepted":
        return this.jobs.accepted(message);
      case "started":
        return this.jobs.started(message);
      case "events":
        if (this.jobs.emitted(message)) this.restart.worked();
        return;
      case "rejected":
        return this.jobs.rejected(message);
      case "memory":
        this.memory = message.memory;
        return;
      case "log":
        return this.log[message.level === "info" ? "debug" : message.level](message.text, {
          ...message.fields,
          ...this.name,
        });
    }
  }

  private becomeReady(ready: Ready): void {
    this.options.onReady?.(ready);
    // The process sent this before it received the signal to end.
    if (this.stopping.signal.aborted) return;
    this.state = "ready";
    this.isProven = true;
    this.loadFails = false;
    this.restart.ready();
    this.options.launch.memory.settle(this);
    this.loaded.resolve();
    const { start, needBytes } = this.options;
    if (start === "lazy") this.log.verbose("engine loaded", { ...this.name, reason: "requested", bytes: needBytes });
    this.jobs.submitAll();
  }

  private exited(exit: EngineExit): void {
    const wasLoading = this.state !== "ready";
    this.processEnded();
    if (this.state === "draining" || this.state === "stopped") return;
    const { start } = this.options;
    for (const line of exit.stderr) this.log.error(line, this.name);
    const how = exit.signal ? `by signal ${exit.signal}` : `with code ${exit.code}`;
    const ended = `${exit.signal ? "was killed" : "ended"} ${how}`;
    const end = this.hang ? `${this.hang} and was killed` : `${ended}${wasLoading ? " while loading" : ""}`;
    const reason = this.loadFailure ?? `The engine process ${end}.`;
    this.lastError = wasLoading && exit.file ? `${exit.file} could not be loaded: ${reason}` : reason;
    this.loadFailure = undefined;
    this.loadFails ||= wasLoading;
    if (start === "eager" && !this.isProven) {
      // A model that cannot be loaded at all needs the operator: there is no retry.
      this.state = "failed";
      this.jobs.failAll(this.unavailable());
      return this.loaded.reject(new Error(this.lastError));
    }

    const what = this.hang ?? ended;
    this.jobs.lose(
      new SvcError("engine_crashed", `The model engine ${what} while computing this request.`),
      exit.culprit,
    );
    this.hasDied = true;
    const restart_in_ms = this.scheduleRestart();
    this.log.error("engine process ended", { ...this.name, how, reason: this.lastError, restart_in_ms });
    // These jobs would only wait for the same failure.
    if (start === "lazy" && wasLoading) this.jobs.failAll(this.unavailable());
  }

  private scheduleRestart(): number {
    const delay = this.restart.schedule(() => this.replace());
    this.state = delay > 0 ? "failed" : "starting";
    return delay;
  }

  private replace(): void {
    if (this.options.start === "lazy" && this.jobs.size === 0) {
      this.state = "unloaded";
      return;
    }
    try {
      this.load();
    } catch (error) {
      this.scheduleRestart();
      if (error instanceof SvcError) this.jobs.failAll(error);
    }
  }

  private processEnded(): void {
    this.watchdog?.stop();
    this.options.launch.memory.settle(this);
    this.process = this.watchdog = undefined;
    this.jobs.forgetOverdue();
    this.memory = NO_MEMORY;
    this.options.onExit?.();
  }

  private unavailable(): SvcError {
    if (this.options.start === "eager" && !this.isProven) {
      return new SvcError("engine_unavailable", "The model could not be loaded.");
    }
    const retryAfterSeconds = Math.max(1, Math.ceil(this.restart.remainingMs / 1000));
    if (this.hindrance !== undefined) return new SvcError("engine_unavailable", this.hindrance, { retryAfterSeconds });
    const message = this.loadFails
      ? "The model could not be loaded; it will be tried again."
      : "The model engine is down and will be restarted.";
    return new SvcError("engine_unavailable", message, { retryAfterSeconds });
  }
}

const stalled = (ms: number) =>
  new SvcError("engine_unavailable", "The model engine does not answer at the moment.", {
    retryAfterSeconds: retryAfterSeconds(ms),
  });
