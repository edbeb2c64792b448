// The models of other servers, as a source of the router: those that the operator named, and those found on this machine.

import { unixSeconds, type Clock } from "../domain/clock.ts";
import type { ListedModel } from "../domain/model.ts";
import type { UpstreamStatus } from "../domain/upstream.ts";
import type { Logger } from "../telemetry/log.ts";
import type { EmbeddingPort } from "../engine/embedding/port.ts";
import type { Backend, ModelSource, Served, TextBackend } from "../service/model-router.ts";
import type { Upstreams } from "../service/upstreams.ts";
import { gauge, type MetricTable } from "../telemetry/exposition.ts";
import { subjectLabels } from "../telemetry/metrics.ts";
import type { Discovery, SearchOptions } from "./discovery.ts";
import { replicaMetrics } from "./replica-metrics.ts";
import { RemoteEmbedder } from "./remote-embedder.ts";
import { RemoteEngine } from "./remote-engine.ts";
import type { RemoteModel } from "./server-description.ts";
import { traitsOf } from "./server-kind.ts";
import { StateLog } from "./state-log.ts";
import type { Upstream } from "./upstream.ts";

interface GatewayOptions {
  /** In the order of the configuration. */
  readonly configured: readonly Upstream[];
  /** Absent: nothing is looked for. */
  readonly discovery?: Discovery;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Backends of an upstream that were requested, by the names of models there. */
interface Known {
  readonly chat: Map<string, TextBackend>;
  readonly embeddings: Map<string, Backend<EmbeddingPort>>;
}

/** How a model is looked for. */
interface Lookup<T> {
  readonly has: (upstream: Upstream, model: string) => boolean;
  readonly mayHave: (upstream: Upstream) => boolean;
  readonly backend: (upstream: Upstream, model: string) => T;
}

/** Requests of one model under way at other servers: these have limits of their own, this one is for svc's memory. */
const PARALLEL = 1024;
/** How often servers are looked after, and how often the machine is searched. */
const TICK_MS = 1000;
const SEARCH_MS = 30_000;
/** A listing starts a search when the last one is older. */
const STALE_MS = 10_000;

export class Gateway implements ModelSource, Upstreams {
  private configured: readonly Upstream[];
  private readonly stateLog: StateLog;
  private readonly known = new WeakMap<Upstream, Known>();
  /** When a model was first seen, for servers that tell another time whenever they are asked. */
  private readonly created = new Map<string, number>();
  private searchedAt = -Infinity;
  private searching: Promise<void> | undefined;
  private timer: ReturnType<typeof setInterval> | undefined;

  constructor(private readonly options: GatewayOptions) {
    this.configured = options.configured;
    this.stateLog = new StateLog(options.log, options.clock);
  }

  /** Looks for servers; resolves when those that were named, or are at known ports, have answered or had their time. */
  async start(): Promise<void> {
    const { configured } = this;
    const { discovery } = this.options;
    const replicas = configured.flatMap((upstream) => upstream.replicas);
    await Promise.all([...replicas.map((replica) => replica.refresh()), discovery?.askKnown()]);
    this.timer = setInterval(() => this.look(), TICK_MS);
    this.timer.unref();
    this.search();
    for (const { name, replicas: all } of configured) {
      const failures = all.flatMap(({ listingFailure }) => listingFailure?.message ?? []);
      const [why] = failures;
      if (why !== undefined) {
        const well = all.length - failures.length;
        this.options.log.warn("upstream does not list its models", { upstream: name, well, of: all.length, why });
      }
    }
  }

  /** A port of this machine at which nothing is to be found, as it is ours. */
  exclude(port: number): void {
    this.options.discovery?.exclude(port);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /**
   * Puts others in the place of the upstreams that the operator named. Upstreams and replicas that are the same stay, with
   * what is known of them; requests under way at those that go end in order. `searched`: how others are found from now on.
   * Resolves when new ones have answered.
   */
  async reconfigure(upstreams: readonly Upstream[], searched?: SearchOptions): Promise<void> {
    const known = new Map(this.configured.map((upstream) => [upstream.name, upstream]));
    this.configured = upstreams.map((fresh) => {
      const upstream = known.get(fresh.name) ?? fresh;
      upstream.become(fresh);
      return upstream;
    });
    if (searched) this.options.discovery?.reconfigure(searched);
    // A search that is under way may have passed over what is named no more.
    void Promise.resolve(this.searching).then(() => this.search());
    await Promise.all(this.configured.flatMap(({ replicas }) => replicas).map((replica) => replica.refresh()));
  }

  status(): UpstreamStatus[] {
    return this.upstreams().map((upstream) => upstream.status());
  }

  setDraining(name: string, isDraining: boolean, url?: string): UpstreamStatus | undefined {
    const upstream = this.upstreams().find((one) => one.name === name);
    if (!upstream?.setDraining(isDraining, url)) return undefined;
    this.stateLog.write([upstream]);
    return upstream.status();
  }

  metrics(): MetricTable[] {
    const upstreams = this.upstreams();
    const running = upstreams.flatMap((upstream) => {
      const { chat, embeddings } = this.backendsOf(upstream);
      return [...chat.values(), ...embeddings.values()].map(({ subject, engine }) => ({
        labels: subject ? subjectLabels(subject) : {},
        metrics: [gauge("svc_num_requests_running", "Requests that are being computed.", engine.status().running)],
      }));
    });
    return [...running, ...upstreams.flatMap(replicaMetrics)];
  }

  /** Looks again for servers, in the background, when the last look is some time ago. */
  refresh(): void {
    if (this.options.clock.now() - this.searchedAt > STALE_MS) this.search();
  }

  models(): readonly ListedModel[] {
    // Rankings have no common API: nothing is passed on to what gives them.
    const isPassedOn = ({ capabilities }: RemoteModel) =>
      capabilities.includes("chat") || capabilities.includes("embeddings");
    return this.upstreams().flatMap((upstream) =>
      upstream
        .models()
        .filter(isPassedOn)
        .map((model) => this.listed(upstream, model)),
    );
  }

  /** A model by its listed name, or by the name it has on its server; looked for when it is known what is wanted of it. */
  find(name: string): Served {
    const chat = () =>
      this.locate(name, {
        has: (upstream, model) => upstream.has(model),
        // It may be new there: the server is asked.
        mayHave: ({ isConfigured }) => isConfigured,
        backend: (upstream, model) => this.textBackend(upstream, model),
      });
    const embeddings = () =>
      this.locate(name, {
        has: (upstream, model) => upstream.mayEmbed(model),
        // Of a server that never answered nothing is known: it is asked, and the client gets what becomes of that.
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

  private locate<T>(name: string, { has, mayHave, backend }: Lookup<T>): T | undefined {
    const upstreams = this.upstreams();
    const slash = name.indexOf("/");
    const [server, model] = [name.slice(0, Math.max(slash, 0)), name.slice(slash + 1)];
    // A server that was found may have the name of one that the operator gave.
    const named = model === "" ? [] : upstreams.filter((upstream) => upstream.name === server);
    const listed = named.find((upstream) => has(upstream, model)) ?? named.find(mayHave);
    if (listed) return backend(listed, model);
    for (const bare of [name, `${name}:latest`]) {
      const having = upstreams.find((upstream) => has(upstream, bare));
      if (having) return backend(having, bare);
    }
    return undefined;
  }

  private upstreams(): Upstream[] {
    return [...this.configured, ...(this.options.discovery?.upstreams() ?? [])];
  }

  private textBackend(upstream: Upstream, model: string): TextBackend {
    const listed = `${upstream.name}/${model}`;
    return remembered(this.backendsOf(upstream).chat, model, upstream, () => ({
      model: listed,
      engine: new RemoteEngine({ listed, model }, upstream, this.options),
      parallel: PARALLEL,
      subject: subjectOf("text", upstream, model),
      takesMediaSources: true,
      takesForeignFields: true,
      lacks: (kind) => upstream.lacks(model, kind),
    }));
  }

  private embeddingBackend(upstream: Upstream, model: string): Backend<EmbeddingPort> {
    const listed = `${upstream.name}/${model}`;
    return remembered(this.backendsOf(upstream).embeddings, model, upstream, () => ({
      model: listed,
      engine: new RemoteEmbedder({ listed, model }, upstream, this.options.log),
      parallel: PARALLEL,
      subject: subjectOf("embedding", upstream, model),
      takesForeignFields: true,
    }));
  }

  private backendsOf(upstream: Upstream): Known {
    const known = this.known.get(upstream) ?? { chat: new Map(), embeddings: new Map() };
    this.known.set(upstream, known);
    return known;
  }

  private listed(upstream: Upstream, model: RemoteModel): ListedModel {
    const id = `${upstream.name}/${model.id}`;
    const created = this.created.get(id) ?? model.created ?? unixSeconds(this.options.clock);
    this.created.set(id, created);
    const kind = upstream.replicas.find(({ models }) => models)?.kind ?? "openai";
    const { capabilities, loaded, contextLength } = model;
    const ownedBy = kind === "openai" ? (model.owner ?? upstream.name) : traitsOf(kind).owner;
    const length = contextLength === undefined ? {} : { contextLength };
    return { id, created, ownedBy, loaded, capabilities, ...length, remote: true };
  }

  private look(): void {
    const upstreams = this.upstreams();
    this.stateLog.write(upstreams);
    for (const replica of upstreams.flatMap(({ replicas }) => replicas)) {
      void replica.refresh();
      void replica.probe();
    }
    if (this.options.clock.now() - this.searchedAt > SEARCH_MS) this.search();
  }

  private search(): void {
    const { discovery, clock, log } = this.options;
    if (!discovery || this.searching) return;
    this.searchedAt = clock.now();
    this.searching = discovery
      .askAll()
      .catch((error: unknown) => log.warn("the search for servers failed", { error: String(error) }))
      .finally(() => (this.searching = undefined));
  }
}

/** Whose metrics requests count for: a model that the upstream lists, else the upstream, as clients make up names. */
const subjectOf = (kind: string, upstream: Upstream, model: string) => ({
  kind,
  model: upstream.has(model) ? `${upstream.name}/${model}` : upstream.name,
});

/** The backend of a model, the same at every call; names that nobody has are as many as clients make up. */
function remembered<T>(known: Map<string, T>, model: string, upstream: Upstream, make: () => T): T {
  const backend = known.get(model) ?? make();
  if (upstream.has(model)) known.set(model, backend);
  return backend;
}
