// Offers upstreams' models to the router: of servers that the operator named, and of servers discovered here.

import { unixSeconds, type Clock } from "../domain/clock.ts";
import type { ListedModel } from "../domain/model.ts";
import type { UpstreamStatus } from "../domain/upstream.ts";
import type { Logger } from "../telemetry/log.ts";
import type { EmbeddingPort } from "../engine/embedding/port.ts";
import type { Backend, ModelSource, Served, TextBackend } from "../service/model-router.ts";
import { gauge, type MetricTable } from "../telemetry/exposition.ts";
import { subjectLabels } from "../telemetry/metrics.ts";
import type { Discovery, SearchOptions } from "./discovery.ts";
import { enforces } from "./enforcement.ts";
import { replicaMetrics } from "./replica-metrics.ts";
import { ReadPace } from "./read-pace.ts";
import { RemoteEmbedder } from "./remote-embedder.ts";
import { RemoteEngine } from "./remote-engine.ts";
import { RequestBodies } from "./request-bodies.ts";
import type { RemoteModel } from "./server-description.ts";
import { traitsOf, type ServerKind } from "./server-kind.ts";
import { StateLog } from "./state-log.ts";
import type { Upstream } from "./upstream.ts";

interface GatewayOptions {
  /** Upstreams in the order of the configuration. */
  readonly configured: readonly Upstream[];
  /** Absent: discovery is off. */
  readonly discovery?: Discovery;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What is remembered of an upstream, by the models' names there. */
interface Known {
  /** When a listed model was first seen, for servers that report a new creation time at every listing. */
  created: ReadonlyMap<string, number>;
  /** Backends that were requested. */
  readonly chat: Map<string, TextBackend>;
  readonly embeddings: Map<string, Backend<EmbeddingPort>>;
}

/** How to search for a model. */
interface Lookup<T> {
  readonly has: (upstream: Upstream, model: string) => boolean;
  readonly mayHave: (upstream: Upstream) => boolean;
  readonly backend: (upstream: Upstream, model: string) => T;
}

/** Concurrent requests per remote model: upstreams have limits of their own, this one protects svc's memory. */
const PARALLEL = 1024;
/** Milliseconds between checks of servers, and between searches of the machine. */
const TICK_MS = 1000;
const SEARCH_MS = 30_000;
/** Milliseconds after a search until a listing starts a new one. */
const STALE_MS = 10_000;
/**
 * Milliseconds after the operator named the upstreams in which one that has listed nothing may have any model: a name
 * may also be another service's.
 */
const MAY_KNOW_MS = 600_000;

export class Gateway implements ModelSource {
  private configured: readonly Upstream[];
  private readonly stateLog: StateLog;
  private readonly bodies = new RequestBodies();
  private readonly pace = new ReadPace();
  private readonly known = new WeakMap<Upstream, Known>();
  private searchedAt = -Infinity;
  private searching: Promise<void> | undefined;
  /** Whether a search has ended. */
  private hasSearched = false;
  private namedAt: number;
  /** Upstreams for whose models work waits. */
  private readonly awaited = new WeakSet<Upstream>();
  private timer: ReturnType<typeof setInterval> | undefined;

  constructor(private readonly options: GatewayOptions) {
    this.configured = options.configured;
    this.namedAt = options.clock.now();
    this.stateLog = new StateLog(options.log, options.clock);
  }

  /** Starts looking for servers; resolves when named servers and those at known ports have answered or timed out. */
  async start(): Promise<void> {
    const { configured } = this;
    const { discovery } = this.options;
    const replicas = configured.flatMap((upstream) => upstream.replicas);
    await Promise.all([...replicas.map((replica) => replica.refresh()), discovery?.askKnown()]);
    this.timer = setInterval(() => this.look(), TICK_MS);
    this.timer.unref();
    this.search((servers) => servers.askOthers());
    this.warnOfUnlisted();
  }

  /** Excludes a port from discovery, because svc itself listens there. */
  exclude(port: number): void {
    this.options.discovery?.exclude(port);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /**
   * Replaces the upstreams that the operator named. Unchanged upstreams and replicas keep their state; requests in
   * flight at removed ones end normally. `searched`: discovery options from now on. Resolves when new servers have
   * answered.
   */
  async reconfigure(upstreams: readonly Upstream[], searched?: SearchOptions): Promise<void> {
    const known = new Map(this.configured.map((upstream) => [upstream.name, upstream]));
    this.configured = upstreams.map((fresh) => {
      const upstream = known.get(fresh.name) ?? fresh;
      upstream.become(fresh);
      return upstream;
    });
    this.namedAt = this.options.clock.now();
    if (searched) this.options.discovery?.reconfigure(searched);
    // A running search may have skipped servers that are no longer named.
    void Promise.resolve(this.searching).then(() => this.search());
    await Promise.all(this.configured.flatMap(({ replicas }) => replicas).map((replica) => replica.refresh()));
    this.warnOfUnlisted();
  }

  /** Returns the upstreams that the operator named, in that order, then discovered ones. */
  status(): UpstreamStatus[] {
    return this.upstreams().map((upstream) => upstream.status());
  }

  /**
   * Sets whether replicas drain: they get no new requests and finish those that they have. Without `url`, applies to
   * all replicas of the upstream. Returns undefined when there is no such upstream or replica.
   */
  setDraining(name: string, isDraining: boolean, url?: string): UpstreamStatus | undefined {
    const upstream = this.upstreams().find((one) => one.name === name);
    if (!upstream?.setDraining(isDraining, url)) return undefined;
    this.stateLog.write([upstream]);
    return upstream.status();
  }

  /** Returns metrics for a scrape: of each replica, and of each model that requests were sent to. */
  metrics(): MetricTable[] {
    const upstreams = this.upstreams();
    const running = upstreams.flatMap((upstream) => {
      const { chat, embeddings } = this.knownOf(upstream);
      return [...chat.values(), ...embeddings.values()].map(({ subject, engine }) => ({
        labels: subject ? subjectLabels(subject) : {},
        metrics: [gauge("svc_num_requests_running", "Requests that are being computed.", engine.status().running)],
      }));
    });
    return [...running, ...upstreams.flatMap(replicaMetrics)];
  }

  /** Searches for servers again in the background, if the last search is too long ago. */
  refresh(): void {
    if (this.options.clock.now() - this.searchedAt > STALE_MS) this.search();
  }

  models(): readonly ListedModel[] {
    // Rankings have no common API, so rerankers are not listed.
    const isPassedOn = ({ capabilities }: RemoteModel) =>
      capabilities.includes("chat") || capabilities.includes("embeddings");
    return this.upstreams().flatMap((upstream) => {
      const known = this.knownOf(upstream);
      const models = upstream.models().filter(isPassedOn);
      const createdOf = ({ id, created }: RemoteModel) =>
        known.created.get(id) ?? created ?? unixSeconds(this.options.clock);
      known.created = new Map(models.map((model) => [model.id, createdOf(model)]));
      return models.map((model) => toListed(upstream, model, createdOf(model)));
    });
  }

  /** Finds a model by its listed name or its name on its server. The search runs when a capability is read. */
  find(name: string): Served {
    const chat = () =>
      this.locate(name, {
        has: (upstream, model) => upstream.has(model),
        // The model may be new there, so the server gets the request.
        mayHave: ({ isConfigured }) => isConfigured,
        backend: (upstream, model) => this.textBackend(upstream, model),
      });
    const embeddings = () =>
      this.locate(name, {
        has: (upstream, model) => upstream.mayEmbed(model),
        // Nothing is known about a server that never answered, so it gets the request, and the client gets the outcome.
        mayHave: ({ isConfigured, replicas }) => isConfigured && replicas.every(({ models }) => !models),
        backend: (upstream, model) => this.embeddingBackend(upstream, model),
      });
    return {
      get chat() {
        return chat();
      },
      get embeddings() {
        return embeddings();
      },
    };
  }

  claims(name: string): boolean {
    return this.addressed(name).named !== undefined;
  }

  mayKnow(): boolean {
    const { discovery, clock, log } = this.options;
    if (discovery && !this.hasSearched) return true;
    const leftMs = this.namedAt + MAY_KNOW_MS - clock.now();
    if (leftMs <= 0) return false;
    const unlisted = this.configured.filter(({ replicas }) => replicas.every((replica) => replica.unlisted));
    for (const upstream of unlisted.filter((one) => !this.awaited.has(one))) {
      this.awaited.add(upstream);
      const most_ms = Math.round(leftMs);
      log.info("batch lines with unknown models wait for an upstream's models", { upstream: upstream.name, most_ms });
    }
    return unlisted.length > 0;
  }

  private locate<T>(name: string, { has, mayHave, backend }: Lookup<T>): T | undefined {
    const { named, model } = this.addressed(name);
    const firstHaving = (upstreams: readonly Upstream[], bare: string) => {
      for (const tagged of [bare, `${bare}:latest`]) {
        const having = upstreams.find((upstream) => has(upstream, tagged));
        if (having) return backend(having, tagged);
      }
      return undefined;
    };
    const meant = named && firstHaving([named], model);
    if (meant) return meant;
    if (named && mayHave(named)) return backend(named, model);
    // A model may have a slash in its name, but any program may list one that begins with a name of the operator's.
    return firstHaving(named?.isConfigured ? this.configured : this.upstreams(), name);
  }

  /** Returns the upstream with whose name this one begins, and the rest: the model's name there. */
  private addressed(name: string): { readonly named: Upstream | undefined; readonly model: string } {
    const slash = name.indexOf("/");
    const [server, model] = [name.slice(0, Math.max(slash, 0)), name.slice(slash + 1)];
    return { named: model === "" ? undefined : this.upstreams().find((upstream) => upstream.name === server), model };
  }

  private upstreams(): Upstream[] {
    return [...this.configured, ...(this.options.discovery?.upstreams() ?? [])];
  }

  private textBackend(upstream: Upstream, model: string): TextBackend {
    const listed = `${upstream.name}/${model}`;
    return remembered(this.knownOf(upstream).chat, model, upstream, () => ({
      model: listed,
      engine: new RemoteEngine({ listed, model }, upstream, { ...this.options, bodies: this.bodies, pace: this.pace }),
      parallel: PARALLEL,
      ...subjectOf("text", upstream, model),
      takesMediaSources: true,
      takesForeignFields: true,
      lacks: (kind) => upstream.lacks(model, kind),
      enforces: (request) => upstream.having(model).every(({ kind }) => enforces(request, traitsOf(kind))),
    }));
  }

  private embeddingBackend(upstream: Upstream, model: string): Backend<EmbeddingPort> {
    const listed = `${upstream.name}/${model}`;
    return remembered(this.knownOf(upstream).embeddings, model, upstream, () => ({
      model: listed,
      engine: new RemoteEmbedder({ listed, model }, upstream, { log: this.options.log, bodies: this.bodies }),
      parallel: PARALLEL,
      ...subjectOf("embedding", upstream, model),
      takesForeignFields: true,
    }));
  }

  private knownOf(upstream: Upstream): Known {
    const known = this.known.get(upstream) ?? { created: new Map(), chat: new Map(), embeddings: new Map() };
    this.known.set(upstream, known);
    return known;
  }

  /** Logs a warning about each upstream that was asked for its models in vain: its address may be wrong. */
  private warnOfUnlisted(): void {
    for (const { name, replicas } of this.configured) {
      const failures = replicas.flatMap(({ listingFailure }) => listingFailure?.message ?? []);
      const [why] = failures;
      if (why === undefined) continue;
      const [of, well] = [replicas.length, replicas.length - failures.length];
      this.options.log.warn("upstream does not list its models", { upstream: name, well, of, why });
    }
  }

  private look(): void {
    const upstreams = this.upstreams();
    this.stateLog.write(upstreams);
    for (const replica of upstreams.flatMap(({ replicas }) => replicas)) {
      void replica.refresh();
      void replica.checkConnection();
    }
    if (this.options.clock.now() - this.searchedAt > SEARCH_MS) this.search();
  }

  private search(ask = (servers: Discovery) => servers.askAll()): void {
    const { discovery, clock, log } = this.options;
    if (!discovery || this.searching) return;
    this.searchedAt = clock.now();
    this.searching = ask(discovery)
      .catch((error: unknown) => log.warn("discovery failed", { error: String(error) }))
      .finally(() => {
        this.searching = undefined;
        this.hasSearched = true;
      });
  }
}

/** Owners of models in listings, where they differ from the kind of their server. */
const OWNERS: Partial<Record<ServerKind, string>> = { "llama.cpp": "llamacpp", "lm-studio": "lmstudio" };

function toListed(upstream: Upstream, model: RemoteModel, created: number): ListedModel {
  const { id, capabilities, loaded, contextLength } = model;
  const kind = upstream.replicas.find(({ models }) => models)?.kind ?? "openai";
  const ownedBy = kind === "openai" ? (model.owner ?? upstream.name) : (OWNERS[kind] ?? kind);
  const length = contextLength === undefined ? {} : { contextLength };
  return { id: `${upstream.name}/${id}`, created, ownedBy, loaded, capabilities, ...length, remote: true };
}

/** Returns the metrics subject: a listed model, else the upstream, because clients may invent names. */
const subjectOf = (kind: string, upstream: Upstream, model: string) =>
  upstream.has(model)
    ? { subject: { kind, model: `${upstream.name}/${model}` } }
    : { subject: { kind, model: upstream.name }, unlistedAt: upstream };

/** Returns a model's backend, the same at every call. Unlisted names are not stored, as clients may invent any. */
function remembered<T>(known: Map<string, T>, model: string, upstream: Upstream, make: () => T): T {
  const backend = known.get(model) ?? make();
  if (upstream.has(model)) known.set(model, backend);
  return backend;
}
