// Looks after the process of one engine: starts it, hands it jobs, unloads it when idle, restarts it when it died or stands
// still. An engine's death is a normal event: jobs it was computing fail with a typed error, jobs it had not begun go to its
// successor.

import type { CancelCause } from "../../domain/cancel.ts";
import { retryAfterSeconds, SvcError } from "../../domain/errors.ts";
import type { LogFields, Logger } from "../../telemetry/log.ts";
import { HungError, PendingJob, type Started } from "./jobs.ts";
import { EngineProcess, type EngineExit } from "./process.ts";
import { PROTOCOL_VERSION, type FromEngine, type JobKey, type Refusal, type ToEngine } from "./protocol.ts";
import { RestartPolicy } from "./restart.ts";
import type { ProcessState, ProcessStatus } from "./status.ts";
import type { SupervisorOptions } from "./supervisor-options.ts";
import { couldNotLoad, couldNotStart, stalled, stillLoading, waitsForRestart } from "./unavailable.ts";
import { Watchdog } from "./watchdog.ts";

/** Signs of life come once a second, and later on a busy machine. */
const LEAST_TIMEOUT_MS = 5000;
const STOP_GRACE_MS = 2000;

export class Supervisor<Options extends { readonly libraries: string }, Ready, Job, Event extends {}, Report = never> {
  private state: ProcessState;
  private process: EngineProcess<ToEngine<Options, Job>, FromEngine<Ready, Event, Report>> | undefined;
  private watchdog: Watchdog | undefined;
  private progress = 0;
  /** The file that is being loaded. */
  private loads = "";
  /** Why the process is killed. */
  private hang: string | undefined;
  private lastError: string | undefined;
  private loadFailure: string | undefined;
  /** It was loaded once: the model is good. */
  private isProven = false;
  private isReplaced = false;
  private restarts = 0;
  private residentBytes = 0;
  private nextKey = 1;
  /** A process that was unloaded, on its way out. */
  private leaving: Promise<void> | undefined;
  private idle: ReturnType<typeof setTimeout> | undefined;
  private readonly log: Logger;
  /** For log lines, which come from several engines. */
  private readonly name: LogFields;
  private readonly restart: RestartPolicy;
  private readonly pending = new Map<JobKey, PendingJob<Job, Event>>();
  /** What replaces the process if it does not end a job that nobody waits for. */
  private readonly ending = new Map<JobKey, ReturnType<typeof setTimeout>>();
  private readonly loaded = Promise.withResolvers<void>();

  constructor(private readonly options: SupervisorOptions<Options, Ready, Event, Report>) {
    this.state = options.start === "eager" ? "starting" : "unloaded";
    this.log = options.launch.log;
    this.name = { kind: options.kind, model: options.model };
    this.restart = new RestartPolicy(options.launch.clock);
    this.loaded.promise.catch(() => {});
  }

  /** Starts an eager engine's first process. */
  start(): void {
    this.spawn();
  }

  /** Resolves when the model is loaded for the first time; rejects when an eager engine cannot load it: no retry follows. */
  ready(): Promise<void> {
    return this.loaded.promise;
  }

  status(): ProcessStatus {
    let running = 0;
    for (const { progress } of this.pending.values()) if (progress === "started") running++;
    const { stalledSince } = this;
    return {
      state: stalledSince === undefined ? this.state : "stalled",
      ...(this.state === "loading" && { progress: this.progress }),
      ...(stalledSince !== undefined && { stalledSince }),
      ...(this.lastError !== undefined && { lastError: this.lastError }),
      restarts: this.restarts,
      running,
      waiting: this.pending.size - running,
      residentBytes: this.residentBytes,
    };
  }

  /**
   * Has a job computed: its events, and `started` before its first computation. While the engine is loading or restarting
   * the job waits for it. Throws SvcError (`engine_unavailable`, `engine_crashed`, `shutting_down`, what the engine refuses
   * it with), or the signal's reason: aborting it drops the job, whose work stops within 250 ms.
   */
  run(job: Job, signal: AbortSignal, id = ""): AsyncGenerator<Event | Started, void, void> {
    // A generator holds on to its parameters, and a job to its images and sound.
    return this.follow(new PendingJob(this.nextKey++, id, job), signal);
  }

  private async *follow(
    pending: PendingJob<Job, Event>,
    signal: AbortSignal,
  ): AsyncGenerator<Event | Started, void, void> {
    signal.throwIfAborted();
    this.add(pending);
    const { events } = pending;
    const abandon = () => this.drop(pending);
    signal.addEventListener("abort", abandon);
    try {
      while (await events.more()) {
        for (let event = events.take(); event !== undefined; event = events.take()) {
          this.balance(pending);
          yield event;
        }
      }
      signal.throwIfAborted();
    } finally {
      signal.removeEventListener("abort", abandon);
      this.drop(pending);
    }
  }

  /** Ends the newest job of this id early: its last event comes, with what there is. Unknown ids are ignored. */
  cancel(id: string, cause: CancelCause): void {
    const pending = [...this.pending.values()].findLast((candidate) => candidate.id === id);
    if (!pending) return;
    if (!pending.isKnown) return this.endUncomputed(pending, cause);
    // The engine knows what was computed.
    pending.cancelled = cause;
    this.stopWork(pending, cause);
  }

  /** Refuses jobs from now on and ends the process; resolves when it is gone. */
  async stop(): Promise<void> {
    this.state = "draining";
    this.restart.cancel();
    this.failAll(new SvcError("shutting_down", "The server is shutting down."));
    clearTimeout(this.idle);
    await Promise.all([this.leaving, this.endProcess()]);
    this.state = "stopped";
  }

  /** A process that is loading a model has no jobs to stand still with: all wait for its progress. */
  private get stalledSince(): number | undefined {
    return this.state === "ready" ? this.watchdog?.stalledSince : undefined;
  }

  private add(pending: PendingJob<Job, Event>): void {
    if (this.state === "draining" || this.state === "stopped") {
      throw new SvcError("shutting_down", "The server is shutting down.");
    }
    if (this.state === "failed") throw this.unavailable();
    if (this.watchdog && this.stalledSince !== undefined) throw stalled(this.watchdog.retryMs);
    if (this.state === "unloaded") this.spawn();
    clearTimeout(this.idle);
    this.pending.set(pending.key, pending);
    if (this.state === "ready") this.submit(pending);
    else this.waitForModel(pending);
  }

  /** An engine that is faster than the reader would fill the memory with what waits for it. */
  private balance(pending: PendingJob<Job, Event>): void {
    const { mostUnread = Infinity } = this.options;
    const { size } = pending.events;
    const held = size > (pending.isHeld ? mostUnread / 2 : mostUnread);
    if (held === pending.isHeld) return;
    pending.isHeld = held;
    this.process?.send({ type: "hold", key: pending.key, held });
  }

  private waitForModel(pending: PendingJob<Job, Event>): void {
    const { loadTimeoutMs } = this.options.launch;
    pending.waitForEngine(loadTimeoutMs, () => this.settle(pending, stillLoading(loadTimeoutMs)));
  }

  /** What a process on its way out does not take is its successor's. */
  private submit(pending: PendingJob<Job, Event>): void {
    const { key, job } = pending;
    if (job !== undefined && this.process?.send({ type: "submit", key, job })) pending.sent();
    else this.waitForModel(pending);
  }

  /** The consumer is gone or done: whatever the engine still does for it is wasted. */
  private drop(pending: PendingJob<Job, Event>): void {
    if (!this.pending.has(pending.key)) return;
    if (pending.progress !== "unsent") this.stopWork(pending, "client");
    this.settle(pending);
  }

  private stopWork({ key, progress }: PendingJob<Job, Event>, cause: CancelCause): void {
    this.process?.send({ type: "cancel", key, cause });
    if (progress !== "started") return;
    this.process?.abort(key);
    const { abortGraceMs } = this.options;
    if (abortGraceMs === undefined || this.ending.has(key)) return;
    this.ending.set(
      key,
      setTimeout(() => this.replaceBusy(), abortGraceMs),
    );
  }

  /** The process says that it has ended a job. */
  private ended(key: JobKey): void {
    clearTimeout(this.ending.get(key));
    this.ending.delete(key);
  }

  /** Ends a process that goes on with what nobody waits for. That is no failure of its, nor of the jobs that wait behind it. */
  private replaceBusy(): void {
    if (this.state !== "ready") return;
    this.log.debug("engine process ended with what it computed for nobody", this.name);
    this.endBusy();
  }

  private endBusy(): void {
    this.process?.kill();
    this.processEnded();
    this.loseJobs(new HungError(), undefined, true);
    this.replace();
  }

  /** Ends a job that no engine has begun, or has any more. */
  private endUncomputed(pending: PendingJob<Job, Event>, cause: CancelCause): void {
    for (const event of this.options.neverComputed?.(cause, pending.accepted) ?? []) pending.events.push(event);
    this.drop(pending);
  }

  private settle(pending: PendingJob<Job, Event>, error?: SvcError): void {
    this.pending.delete(pending.key);
    pending.settle(error);
    if (this.pending.size === 0) this.waitIdly();
  }

  private failAll(error: SvcError): void {
    for (const pending of this.pending.values()) this.settle(pending, error);
  }

  private waitIdly(): void {
    const { start, idleMs } = this.options;
    if (start === "eager" || idleMs === 0) return;
    clearTimeout(this.idle);
    this.idle = setTimeout(() => this.unload(), idleMs);
    // Nobody waits for it.
    this.idle.unref();
  }

  private unload(): void {
    if (this.state !== "ready" && this.state !== "loading") return;
    this.log.debug("engine unloaded", this.name);
    this.leaving = this.endProcess();
    this.processEnded();
    this.state = "unloaded";
  }

  private async endProcess(): Promise<void> {
    await this.process?.stop(this.options.stopGraceMs ?? STOP_GRACE_MS);
  }

  private spawn(): void {
    const bringing = this.options.prepare?.();
    if (!bringing) return this.begin();
    this.state = "loading";
    this.progress = 0;
    bringing
      .then(() => {
        if (this.isWaitingForFiles) this.begin();
      })
      .catch((error: unknown) => {
        if (!this.isWaitingForFiles) return;
        this.state = "unloaded";
        this.failAll(error instanceof SvcError ? error : this.unavailable());
      });
  }

  /** What it is to load is still being brought. */
  private get isWaitingForFiles(): boolean {
    return this.state === "loading" && this.process === undefined;
  }

  private begin(): void {
    try {
      this.process = this.newProcess();
      this.watchdog = this.watch(this.process);
    } catch (error) {
      this.lastError = error instanceof Error ? error.message : String(error);
      this.log.error("engine cannot be started", { ...this.name, reason: this.lastError });
      throw couldNotStart();
    }
    this.state = "loading";
    this.progress = 0;
    this.loads = "";
    this.loadFailure = this.hang = undefined;
    if (this.isReplaced) this.restarts++;
    this.isReplaced = false;
    this.log.debug("engine process started", { ...this.name, pid: this.process.pid });
  }

  private newProcess(): NonNullable<typeof this.process> {
    const { kind, launch, load } = this.options;
    const options = load();
    const process: NonNullable<typeof this.process> = new EngineProcess({
      command: launch.command(kind),
      env: launch.env,
      cwd: options.libraries,
      onMessage: (message) => this.process === process && this.receive(message),
      onExit: (exit) => this.process === process && this.exited(exit),
    });
    process.send({ type: "load", version: PROTOCOL_VERSION, options });
    return process;
  }

  private watch(process: NonNullable<typeof this.process>): Watchdog {
    const { launch, quietMs = 0, longestSilenceMs = Infinity } = this.options;
    const { clock, engineTimeoutMs } = launch;
    const usualMs = engineTimeoutMs && Math.max(engineTimeoutMs, LEAST_TIMEOUT_MS);
    const limitMs = () => (this.state === "ready" ? Math.min(usualMs, longestSilenceMs) : usualMs);
    const watchdog = new Watchdog({
      clock,
      quietMs,
      get limitMs() {
        return limitMs();
      },
      pulse: () => process.pulse(),
      onStalled: () => {
        if (this.state !== "ready") return;
        const { silentMs, work } = watchdog;
        this.log.warn("engine stalled", { ...this.name, silent_ms: silentMs, ...(work && { work }) });
      },
      onRecovered: (silentMs) => {
        if (this.state === "ready") this.log.warn("engine is back", { ...this.name, silent_ms: silentMs });
      },
      onTimeout: () => {
        const { silentMs, work } = watchdog;
        const time = `for ${Math.round(silentMs / 1000)} s`;
        if (this.state === "ready" && longestSilenceMs <= usualMs) {
          this.log.warn("engine process ended with what it computed", { ...this.name, silent_ms: silentMs });
          return this.endBusy();
        }
        const isLoading = this.state === "loading";
        this.hang = isLoading
          ? `made no progress ${time} while loading`
          : `gave no sign of life ${time}${work && ` (${work})`}`;
        process.kill();
      },
    });
    return watchdog;
  }

  private receive(message: FromEngine<Ready, Event, Report>): void {
    this.watchdog?.heard();
    if ("report" in message && message.report !== undefined) this.options.onReport?.(message.report);
    switch (message.type) {
      case "progress":
        this.progress = message.value;
        return;
      case "loading":
        this.loads = message.file;
        return;
      case "ready":
        // Too late: it is killed.
        return this.hang === undefined ? this.becomeReady(message.ready) : undefined;
      case "load-failed":
        this.loadFailure = message.message;
        return void this.process?.stop(STOP_GRACE_MS);
      case "accepted": {
        const pending = this.pending.get(message.key);
        if (!pending) return;
        pending.isKnown = true;
        if (pending.accepted) return;
        pending.accepted = true;
        return pending.events.push(message.event);
      }
      case "started":
        for (const key of message.keys) this.pending.get(key)?.started();
        return;
      case "events":
        for (const { key, events } of message.outputs) {
          const pending = this.pending.get(key);
          for (const event of events) pending?.events.push(event);
          if (pending) this.balance(pending);
        }
        for (const { key, event } of message.finished) {
          this.ended(key);
          const pending = this.pending.get(key);
          if (!pending) continue;
          pending.events.push(event);
          this.settle(pending);
          this.restart.worked();
        }
        return;
      case "rejected":
        return this.rejected(message.key, message);
      case "memory":
        this.residentBytes = message.bytes;
        return;
      case "log":
        return this.log[message.level === "info" ? "debug" : message.level](message.text, this.name);
    }
  }

  private becomeReady(ready: Ready): void {
    this.options.onReady?.(ready);
    this.state = "ready";
    this.isProven = true;
    this.restart.ready();
    this.loaded.resolve();
    for (const pending of this.pending.values()) this.submit(pending);
  }

  private rejected(key: JobKey, { code, message, param, busy }: Refusal): void {
    this.ended(key);
    const pending = this.pending.get(key);
    if (!pending) return;
    const retry = busy && { busy, retryAfterSeconds: retryAfterSeconds(this.options.placeFreeMs?.() ?? 0) };
    this.settle(pending, new SvcError(code, message, { ...(param !== undefined && { param }), ...retry }));
  }

  private exited(exit: EngineExit): void {
    const wasLoading = this.state !== "ready";
    this.processEnded();
    if (this.state === "draining" || this.state === "stopped") return;
    const { start } = this.options;
    for (const line of exit.stderr) this.log.error(line, this.name);
    const how = exit.signal ? `by signal ${exit.signal}` : `with code ${exit.code}`;
    const end = this.hang ? `${this.hang} and was killed` : `ended ${how}${wasLoading ? " while loading" : ""}`;
    const reason = this.loadFailure ?? `The engine process ${end}.`;
    this.lastError = wasLoading && this.loads ? `${this.loads} could not be loaded: ${reason}` : reason;
    this.loadFailure = undefined;
    if (start === "eager" && !this.isProven) return this.cannotLoad(this.lastError);

    const what = this.hang ?? `stopped ${how}`;
    this.loseJobs(
      new SvcError("engine_crashed", `The model engine ${what} while computing this request.`),
      exit.culprit,
    );
    this.isReplaced = true;
    const restart_in_ms = this.scheduleRestart();
    this.log.error("engine process ended", { ...this.name, how, reason: this.lastError, restart_in_ms });
    // They would only wait for the same failure.
    if (start === "lazy" && wasLoading) this.failAll(this.unavailable());
  }

  private scheduleRestart(): number {
    const delay = this.restart.schedule(() => this.replace());
    this.state = delay > 0 ? "failed" : "starting";
    return delay;
  }

  /** What was computed is lost; what was not is kept for the successor, unless it is the cause or has survived too many deaths. */
  private loseJobs(crashed: SvcError, culprit: JobKey | undefined, isIntended = false): void {
    for (const pending of this.pending.values()) {
      if (pending.progress === "unsent") continue;
      if (pending.cancelled && pending.progress === "sent") this.endUncomputed(pending, pending.cancelled);
      else if (pending.progress === "started" || pending.key === culprit || !(isIntended || pending.survives()))
        this.settle(pending, crashed);
      else this.waitForModel(pending);
    }
  }

  private replace(): void {
    if (this.options.start === "lazy" && this.pending.size === 0) {
      this.state = "unloaded";
      return;
    }
    try {
      this.spawn();
    } catch (error) {
      this.scheduleRestart();
      if (error instanceof SvcError) this.failAll(error);
    }
  }

  /** A model that cannot be loaded at all is the operator's to fix: no retry. */
  private cannotLoad(reason: string): void {
    this.state = "failed";
    this.failAll(couldNotLoad());
    this.loaded.reject(new Error(reason));
  }

  private processEnded(): void {
    this.watchdog?.stop();
    this.process = this.watchdog = undefined;
    for (const key of this.ending.keys()) this.ended(key);
    this.residentBytes = 0;
    this.options.onExit?.();
  }

  private unavailable(): SvcError {
    if (this.options.start === "eager" && !this.isProven) return couldNotLoad();
    return waitsForRestart(this.isProven, this.restart.remainingMs);
  }
}
