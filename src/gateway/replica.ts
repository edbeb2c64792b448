// One server of an upstream: its health, its models and its load.

import type { Clock } from "../domain/clock.ts";
import type { ErrorCode, SvcError } from "../domain/errors.ts";
import type { ReplicaState, ReplicaStatus } from "../domain/upstream.ts";
import { within } from "../domain/within.ts";
import { Attempt } from "./attempt.ts";
import { CircuitBreaker, type Remedy } from "./circuit-breaker.ts";
import { ReplicaStats, type Routing } from "./replica-stats.ts";
import { ServerClient, type ServerAddress, type Timeouts } from "./server-client.ts";
import { describeOllamaModel, describeServer, type RemoteModel, type ServerDescription } from "./server-description.ts";
import type { ServerKind } from "./server-kind.ts";
import { testCapabilities } from "./tested-capabilities.ts";
import { failureFrom, KeyRefusal, notListed } from "./upstream-failure.ts";

const REFRESH_MS = 30_000;
/** Milliseconds after a refusal of svc's key until a request shows whether the server accepts it now. */
const REFUSED_MS = 30_000;
/** Maximum milliseconds that a refresh waits for the details of models, such as their capabilities. */
const DETAILS_MS = 1000;
/** Failures of a listing that say nothing about what the server has. */
const LISTS_LATER: ReadonlySet<ErrorCode> = new Set(["upstream_unavailable", "server_busy"]);
/** Milliseconds between connection checks of an idle replica. */
const CONNECTION_CHECK_MS = 5000;
/**
 * A replica is slow when, with requests waiting, its silence exceeds both this many milliseconds and this multiple of
 * its 99th-percentile time to the first token.
 */
const SLOW_MS = 10_000;
const SLOW_FACTOR = 4;
/**
 * Consecutive requests with different prefixes that fail at every replica, after which the servers and not the requests
 * are considered faulty; if a server has several models, more than one of them must fail.
 */
const UNCLEAR = 5;

export class Replica {
  readonly client: ServerClient;
  readonly breaker: CircuitBreaker;
  /** Requests in flight, in the order in which they were sent. */
  readonly running = new Set<Attempt>();
  readonly stats = new ReplicaStats();
  /** Whether the operator wants no new requests to go to this replica. */
  isDraining = false;
  /** Why the last listing of its models failed. */
  listingFailure: SvcError | undefined;
  /** Whether the replica refused svc's key at the last listing. */
  private refusesListing = false;
  /** The last refusal of svc's key at a request, since the last success: some servers list models for everyone. */
  private refusal: { readonly error: SvcError; readonly at: number } | undefined;
  private sickness: SvcError | undefined;
  /** Requests that failed here and at all other replicas, since the last success here: prefix keys, and models. */
  private readonly unclear = { keys: new Set<number>(), models: new Set<string>() };
  private description: ServerDescription | undefined;
  private refreshedAt = -Infinity;
  private connectionCheckedAt = -Infinity;
  private refreshing: Promise<void> | undefined;
  private readonly details = new Map<string, RemoteModel>();
  private fetchingDetails: Promise<void> | undefined;

  constructor(
    address: ServerAddress,
    timeouts: Timeouts,
    private readonly clock: Clock,
    private readonly hint?: ServerKind,
  ) {
    this.client = new ServerClient(address, timeouts, clock.now);
    this.breaker = new CircuitBreaker(clock.now);
  }

  /** Number of requests in flight. */
  get inFlight(): number {
    return this.running.size;
  }

  get url(): string {
    return this.client.address.url;
  }

  /** The kind of server; until the first listing, the kind that usually listens at this address. */
  get kind(): ServerKind {
    return this.description?.kind ?? this.hint ?? "openai";
  }

  /** Models of the last listing; undefined before the first. */
  get models(): readonly RemoteModel[] | undefined {
    return this.description?.models;
  }

  /** Why it is not known yet what the server is and has; undefined if it is, or if the server lists no models. */
  get unlisted(): SvcError | undefined {
    const why = this.listingFailure;
    if (this.description) return undefined;
    if (why?.details.needsOperator) return why;
    return !why || LISTS_LATER.has(why.code) ? notListed() : undefined;
  }

  /** Returns the listed model with this id. */
  model(id: string): RemoteModel | undefined {
    return this.models?.find((model) => model.id === id);
  }

  /** Whether the replica does not accept svc's key. */
  get isRefusing(): boolean {
    return this.refusesListing || this.refusal !== undefined;
  }

  /** Whether the key was refused so lately that a request would only show it again. */
  get refusedLately(): boolean {
    return this.refusesListing || (this.refusal !== undefined && this.clock.now() - this.refusal.at < REFUSED_MS);
  }

  get isWell(): boolean {
    return this.breaker.state === "closed";
  }

  /** Whether the replica has been silent for long while requests wait, so that new ones should go elsewhere. */
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

  /** Returns whether the replica has this address, with the same key and proxy. */
  isAt({ url, key, proxy }: ServerAddress): boolean {
    const own = this.client.address;
    return own.url === url && own.key === key && own.proxy === proxy;
  }

  /** Takes over what a replica at the same URL knows of its server, and whether the operator drains it. */
  takeOver(former: Replica | undefined): void {
    if (!former) return;
    this.isDraining = former.isDraining;
    this.description = former.description;
  }

  /** Lists the models again, if the last listing is older than `maxAgeMs` or the replica may have recovered. */
  refresh(maxAgeMs = REFRESH_MS): Promise<void> {
    const isOld = this.clock.now() - this.refreshedAt >= maxAgeMs;
    const { state, remedy } = this.breaker;
    const mayBeWell = state === "half-open" && remedy === "list";
    if (state === "open" || (!isOld && !mayBeWell)) return this.refreshing ?? Promise.resolve();
    return (this.refreshing ??= this.describe().finally(() => (this.refreshing = undefined)));
  }

  /** Checks whether the replica accepts connections, if nothing has shown that lately; models are listed less often. */
  async checkConnection(): Promise<void> {
    const now = this.clock.now();
    const shownAt = Math.max(this.client.heardAt, this.refreshedAt, this.connectionCheckedAt);
    if (!this.isWell || this.inFlight > 0 || this.refreshing || now - shownAt < CONNECTION_CHECK_MS) return;
    this.connectionCheckedAt = now;
    try {
      await this.client.connect();
    } catch (error) {
      this.failed({ sick: true, error: failureFrom(error).error });
      // Checks again soon, because only the second consecutive failure shows that the replica is gone.
      this.connectionCheckedAt = now - CONNECTION_CHECK_MS;
    }
  }

  /** Begins a request, which counts as in flight until the attempt ends. */
  begin(routing: Routing): Attempt {
    return new Attempt(this, routing, this.clock.now);
  }

  /** Records a complete answer, which clears all failures. */
  succeeded(): void {
    this.breaker.succeeded();
    this.refusal = undefined;
    this.unclear.keys.clear();
    this.unclear.models.clear();
  }

  /** Counts a failure for the replica's health. `remedy`: what shows its recovery; by default as the error implies. */
  failed({ sick, error }: Sickness, remedy: Remedy = isGone(error) ? "list" : "request"): void {
    // A server that refuses a request does respond.
    if (!sick) return this.breaker.answered();
    this.sickness = error;
    const wasWell = this.isWell;
    this.breaker.failed(remedy);
    if (!wasWell || this.isWell) return;
    this.stats.outages++;
    // It may come back as a different server.
    this.details.clear();
  }

  /** Records that a request was refused because of svc's key. */
  refused({ error }: KeyRefusal): void {
    if (error.details.needsOperator) this.refusal = { error, at: this.clock.now() };
  }

  /** Counts a failure at all replicas of a request with this prefix: one request or model may be faulty, not many. */
  failedAsOthersDid({ key, model }: { readonly key: number; readonly model: string }, error: SvcError): void {
    const { keys, models } = this.unclear;
    if (keys.size < UNCLEAR) keys.add(key);
    const enough = Math.min(this.models?.length ?? 1, 2);
    if (models.size < enough) models.add(model);
    if (keys.size === UNCLEAR && models.size >= enough) this.failed({ sick: true, error });
  }

  /** Why the replica is down, does not list its models or refuses svc's key; undefined while none is the case. */
  private get lastFailure(): SvcError | undefined {
    return this.isWell ? (this.listingFailure ?? this.refusal?.error) : this.sickness;
  }

  private async describe(): Promise<void> {
    this.refreshedAt = this.clock.now();
    const tries = this.breaker.remedy === "list" && this.breaker.begin();
    try {
      const { kind, models } = await describeServer(this.client, this.hint);
      this.setModels(kind, models);
      this.listingFailure = undefined;
      this.refusesListing = false;
      if (this.breaker.remedy === "list") this.breaker.succeeded();
      // Some servers do not answer these queries while they load or are busy, so nothing waits for them.
      await within(this.fetchDetails(kind, models), DETAILS_MS, () => new Error("late")).catch(() => {});
    } catch (error) {
      const failure = failureFrom(error);
      const sick = failure.sick !== false;
      // Some servers respond to nothing else while they generate, so this failure shows nothing.
      if (sick && this.inFlight > 0) {
        if (tries) this.breaker.abandoned();
        return;
      }
      if (sick || tries) this.failed({ sick, error: failure.error }, "list");
      this.listingFailure = failure.error;
      this.refusesListing = failure instanceof KeyRefusal;
      // Lists again as soon as the breaker permits.
      if (sick) this.refreshedAt = -Infinity;
    }
  }

  /** Stores the models, with the details known beyond the list. */
  private setModels(kind: ServerKind, models: readonly RemoteModel[]): void {
    const { keyOf } = detailQueries[kind] ?? {};
    const withMore = (model: RemoteModel) => {
      const known = keyOf && this.details.get(keyOf(model));
      return known ? { ...known, loaded: model.loaded } : model;
    };
    this.description = { kind, models: models.map(withMore) };
  }

  /** Queries details that the list lacks: once per model, and again after the replica was down. */
  private fetchDetails(kind: ServerKind, models: readonly RemoteModel[]): Promise<void> {
    const detailQuery = detailQueries[kind];
    if (!detailQuery) return Promise.resolve();
    const { keyOf, queryWith } = detailQuery;
    return (this.fetchingDetails ??= (async () => {
      const query = queryWith(this.client);
      const unknown = models.filter((model) => !this.details.has(keyOf(model)));
      await Promise.all(
        unknown.map(async (model) => {
          const found = await query(model);
          if (found) this.details.set(keyOf(model), found);
        }),
      );
      const listed = new Set(models.map(keyOf));
      for (const key of this.details.keys()) if (!listed.has(key)) this.details.delete(key);
      // The models may have been listed again meanwhile.
      if (this.description?.kind === kind) this.setModels(kind, this.description.models);
    })().finally(() => (this.fetchingDetails = undefined)));
  }
}

interface Sickness {
  /** false: the server responds, but refuses. */
  readonly sick: boolean;
  readonly error: SvcError;
}

/** Returns whether nothing can be sent to the server. */
const isGone = ({ code, details }: SvcError): boolean => code === "upstream_unavailable" && details.sent !== true;

interface DetailQuery {
  /** Returns a key that differs between versions of a model. */
  readonly keyOf: (model: RemoteModel) => string;
  readonly queryWith: (client: ServerClient) => (model: RemoteModel) => Promise<RemoteModel | undefined>;
}

/** Their creation times differ at every listing, so the id alone is the key. */
const tested: DetailQuery = { keyOf: ({ id }) => id, queryWith: testCapabilities };
/** How details are queried from servers whose list lacks them. */
const detailQueries: Partial<Record<ServerKind, DetailQuery>> = {
  ollama: {
    keyOf: ({ id, created }) => `${id} ${created}`,
    queryWith: (client) => (model) => describeOllamaModel(client, model),
  },
  vllm: tested,
  sglang: tested,
};
