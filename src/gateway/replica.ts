// One other server: whether it is well, what it has, how much it has to do.

import type { Clock } from "../domain/clock.ts";
import type { SvcError } from "../domain/errors.ts";
import type { ReplicaState, ReplicaStatus } from "../domain/upstream.ts";
import { Attempt } from "./attempt.ts";
import { settled } from "./deadline.ts";
import { askCapabilities } from "./cluster-capabilities.ts";
import { CircuitBreaker, type Remedy } from "./circuit-breaker.ts";
import { urlHashOf } from "./prefix-key.ts";
import { ReplicaStats, type Routing } from "./replica-stats.ts";
import { ServerClient, type ServerAddress, type Timeouts } from "./server-client.ts";
import { describeOllamaModel, describeServer, type RemoteModel, type ServerDescription } from "./server-description.ts";
import type { ServerKind } from "./server-kind.ts";
import { failureFrom, KeyRefusal } from "./upstream-failure.ts";

/** A server in front of many others may take its time to list what they have. */
const PROBE_TIMEOUT_MS = 10_000;
const REFRESH_MS = 30_000;
/** How long what a replica has waits to be known in full, before it is known without what its models can do. */
const SHOWN_MS = 1000;
/** How often it is looked whether a replica is there that has nothing to do. */
const PROBE_MS = 5000;
/** Silence while requests wait, below which no replica is slow, and as a multiple of what first tokens take there. */
const SLOW_MS = 10_000;
const SLOW_FACTOR = 4;
/** Requests in a row that failed at every replica, each with another beginning, from which on it is not they that are ill. */
const UNCLEAR = 5;

export class Replica {
  readonly client: ServerClient;
  /** Stands for it in the choice of a replica. */
  readonly urlHash: number;
  readonly breaker: CircuitBreaker;
  /** Requests under way, in the order in which they were sent. */
  readonly running = new Set<Attempt>();
  readonly stats = new ReplicaStats();
  /** The operator wants no new requests to go there. */
  isDraining = false;
  /** Why it did not tell what it has, when it was asked last. */
  listingFailure: SvcError | undefined;
  /** It did not accept svc's key, when it was asked last what it has. */
  isRefusing = false;
  private sickness: SvcError | undefined;
  /** The beginnings of requests that failed here and at all others, since one succeeded here. */
  private readonly unclear = new Set<number>();
  private description: ServerDescription | undefined;
  private refreshedAt = -Infinity;
  private probedAt = -Infinity;
  private refreshing: Promise<void> | undefined;
  private readonly shown = new Map<string, RemoteModel>();
  private showing: Promise<void> | undefined;

  constructor(
    address: ServerAddress,
    timeouts: Timeouts,
    private readonly clock: Clock,
    private readonly hint?: ServerKind,
  ) {
    this.client = new ServerClient(address, timeouts, clock.now);
    this.urlHash = urlHashOf(address.url);
    this.breaker = new CircuitBreaker(clock.now);
  }

  /** Requests under way. */
  get inFlight(): number {
    return this.running.size;
  }

  get url(): string {
    return this.client.address.url;
  }

  /** What it is; until it told, what usually listens at its address. */
  get kind(): ServerKind {
    return this.description?.kind ?? this.hint ?? "openai";
  }

  /** What it told last; undefined when it never did. */
  get models(): readonly RemoteModel[] | undefined {
    return this.description?.models;
  }

  /** What it told of this one. */
  model(id: string): RemoteModel | undefined {
    return this.models?.find((model) => model.id === id);
  }

  get isWell(): boolean {
    return this.breaker.state === "closed";
  }

  /** Nothing has come for long, while requests wait: new ones are better off elsewhere. */
  get isSlow(): boolean {
    const now = this.clock.now();
    if (now - this.client.heardAt <= SLOW_MS) return false;
    const longestMs = Math.max(0, ...[...this.running].map(({ awaitedSince = now }) => now - awaitedSince));
    const silentMs = Math.min(longestMs, now - this.client.heardAt);
    return silentMs > SLOW_MS && silentMs > SLOW_FACTOR * (this.stats.firstTokens.quantile(0.99) ?? 0);
  }

  get state(): ReplicaState {
    if (this.isDraining) return this.inFlight > 0 ? "draining" : "drained";
    if (!this.isWell) return "down";
    if (this.isRefusing) return "refusing";
    if (!this.description) return "unknown";
    return this.isSlow ? "slow" : "up";
  }

  status(): ReplicaStatus {
    const { firstTokens } = this.stats;
    const [median, p99] = [firstTokens.quantile(0.5), firstTokens.quantile(0.99)];
    const why = this.lastFailure?.message;
    return {
      url: this.url,
      kind: this.kind,
      state: this.state,
      models: (this.models ?? []).map(({ id }) => id),
      ...(!this.isWell && { retryMs: this.breaker.pauseMs }),
      ...(why !== undefined && { lastError: why }),
      running: this.inFlight,
      counts: this.stats,
      ...(median !== undefined && p99 !== undefined && { firstTokenMs: { median, p99 } }),
    };
  }

  /** Whether it is the server at this address, with the same key and proxy. */
  isAt({ url, key, proxy }: ServerAddress): boolean {
    const own = this.client.address;
    return own.url === url && own.key === key && own.proxy === proxy;
  }

  /** Asks it what it has, when the last answer is older than `maxAgeMs` or it may be well again. */
  refresh(maxAgeMs = REFRESH_MS): Promise<void> {
    const isOld = this.clock.now() - this.refreshedAt >= maxAgeMs;
    const { state, remedy } = this.breaker;
    const mayBeWell = state === "half-open" && remedy === "list";
    if (state === "open" || (!isOld && !mayBeWell)) return this.refreshing ?? Promise.resolve();
    return (this.refreshing ??= this.describe().finally(() => (this.refreshing = undefined)));
  }

  /** Looks whether it is still there, when nothing has shown that lately; its models are listed more rarely. */
  async probe(): Promise<void> {
    const now = this.clock.now();
    const shownAt = Math.max(this.client.heardAt, this.refreshedAt, this.probedAt);
    if (!this.isWell || this.inFlight > 0 || this.refreshing || now - shownAt < PROBE_MS) return;
    this.probedAt = now;
    try {
      await this.client.connect(AbortSignal.timeout(PROBE_TIMEOUT_MS));
    } catch (error) {
      this.failed({ sick: true, error: failureFrom(error).error });
      // The second failure in a row tells that it is gone.
      this.probedAt = now - PROBE_MS;
    }
  }

  /** Sends it a request: it counts as under way until the attempt's end. */
  begin(routing: Routing): Attempt {
    return new Attempt(this, routing, this.clock.now);
  }

  /** It answered a request in full: its failures are forgotten. */
  succeeded(): void {
    this.breaker.succeeded();
    this.unclear.clear();
  }

  /** Counts a failure for its health. `remedy`: by default what shows whether the one that failed is there again. */
  failed({ sick, error }: Sickness, remedy: Remedy = isGone(error) ? "list" : "request"): void {
    // Whoever refuses answers.
    if (!sick) return this.breaker.answered();
    this.sickness = error;
    const wasWell = this.isWell;
    this.breaker.failed(remedy);
    if (!wasWell || this.isWell) return;
    this.stats.outages++;
    // It may come back as another.
    this.shown.clear();
  }

  /** Counts a failure that all replicas had, of a request with this beginning: one such request may be ill, not many. */
  failedAsOthersDid(key: number, error: SvcError): void {
    if (this.unclear.size < UNCLEAR) this.unclear.add(key);
    if (this.unclear.size === UNCLEAR) this.failed({ sick: true, error });
  }

  /** Why it is down, or does not list its models; undefined while it is well and lists them. */
  private get lastFailure(): SvcError | undefined {
    return this.isWell ? this.listingFailure : this.sickness;
  }

  private async describe(): Promise<void> {
    this.refreshedAt = this.clock.now();
    const tries = this.breaker.remedy === "list" && this.breaker.begin();
    try {
      const { kind, models } = await describeServer(this.client, PROBE_TIMEOUT_MS, this.hint);
      this.describeAs(kind, models);
      this.listingFailure = undefined;
      this.isRefusing = false;
      if (this.breaker.remedy === "list") this.breaker.succeeded();
      // Some answer nothing else while they load or are full: nobody is to wait for these.
      await settled(this.show(kind, models), SHOWN_MS);
    } catch (error) {
      const failure = failureFrom(error);
      const sick = failure.sick !== false;
      // Some servers do nothing else while they answer.
      if (sick && this.inFlight > 0) {
        if (tries) this.breaker.abandoned();
        return;
      }
      if (sick || tries) this.failed({ sick, error: failure.error }, "list");
      this.listingFailure = failure.error;
      this.isRefusing = failure instanceof KeyRefusal;
      // It is asked again as soon as the breaker lets it be.
      if (sick) this.refreshedAt = -Infinity;
    }
  }

  /** The models with what is known of each beyond the list. */
  private describeAs(kind: ServerKind, models: readonly RemoteModel[]): void {
    const ask = asks[kind];
    const withMore = (model: RemoteModel) => {
      const shown = ask && this.shown.get(ask.keyOf(model));
      return shown ? { ...shown, loaded: model.loaded } : model;
    };
    this.description = { kind, models: models.map(withMore) };
  }

  /** Has it tell what the list does not: one query a model, and again when it was down. */
  private show(kind: ServerKind, models: readonly RemoteModel[]): Promise<void> {
    const ask = asks[kind];
    if (!ask) return Promise.resolve();
    return (this.showing ??= (async () => {
      const about = ask.about(this.client, PROBE_TIMEOUT_MS);
      const unknown = models.filter((model) => !this.shown.has(ask.keyOf(model)));
      await Promise.all(
        unknown.map(async (model) => {
          const shown = await about(model);
          if (shown) this.shown.set(ask.keyOf(model), shown);
        }),
      );
      // It may have been listed again meanwhile.
      if (this.description?.kind === kind) this.describeAs(kind, this.description.models);
    })().finally(() => (this.showing = undefined)));
  }
}

interface Sickness {
  /** False: it answers, and refuses. */
  readonly sick: boolean;
  readonly error: SvcError;
}

/** Nothing can be sent to it. */
const isGone = ({ code, details }: SvcError): boolean => code === "upstream_unavailable" && details.sent !== true;

interface Ask {
  /** What tells one version of a model from another. */
  readonly keyOf: (model: RemoteModel) => string;
  readonly about: (client: ServerClient, timeoutMs: number) => (model: RemoteModel) => Promise<RemoteModel | undefined>;
}

/** Its list has another time of creation each time. */
const cluster: Ask = { keyOf: ({ id }) => id, about: askCapabilities };
/** Kinds of servers that tell of each model alone. */
const asks: Partial<Record<ServerKind, Ask>> = {
  ollama: {
    keyOf: ({ id, created }) => `${id} ${created}`,
    about: (client, timeoutMs) => (model) => describeOllamaModel(client, model, timeoutMs),
  },
  vllm: cluster,
  sglang: cluster,
};
