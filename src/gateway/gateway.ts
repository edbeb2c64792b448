// The models of other servers, as a source of the router: those that the operator named, and those found on this machine.

import type { Clock } from "../domain/clock.ts";
import type { ListedModel } from "../domain/model.ts";
import type { Logger } from "../telemetry/log.ts";
import type { EmbeddingBackend, EmbeddingSource } from "../service/embeddings.ts";
import type { Backend, ModelSource } from "../service/model-router.ts";
import type { Discovery } from "./discovery.ts";
import { RemoteEmbedder } from "./remote-embedder.ts";
import { RemoteEngine } from "./remote-engine.ts";
import type { RemoteModel } from "./server-description.ts";
import { traitsOf } from "./server-kind.ts";
import type { Upstream } from "./upstream.ts";

export interface GatewayOptions {
  /** In the order of the configuration. */
  readonly configured: readonly Upstream[];
  /** Absent: nothing is looked for. */
  readonly discovery?: Discovery;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Requests of one model under way at other servers: these have limits of their own, this one is for svc's memory. */
const PARALLEL = 1024;
/** How often servers are looked after, and how often the machine is searched. */
const TICK_MS = 1000;
const SEARCH_MS = 30_000;
/** A listing starts a search when the last one is older. */
const STALE_MS = 10_000;

export class Gateway implements ModelSource, EmbeddingSource {
  private readonly backends = new Map<string, Backend>();
  private readonly embedders = new Map<string, EmbeddingBackend>();
  /** When a model was first seen, for servers that tell another time whenever they are asked. */
  private readonly created = new Map<string, number>();
  private searchedAt = -Infinity;
  private searching: Promise<void> | undefined;
  private timer: ReturnType<typeof setInterval> | undefined;

  constructor(private readonly options: GatewayOptions) {}

  /** Looks for servers; resolves when those that were named, or are at known ports, have answered or had their time. */
  async start(): Promise<void> {
    const { configured, discovery } = this.options;
    const replicas = configured.flatMap((upstream) => upstream.replicas);
    await Promise.all([...replicas.map((replica) => replica.refresh()), discovery?.askKnown()]);
    this.timer = setInterval(() => this.look(), TICK_MS);
    this.timer.unref();
    this.search();
    for (const { name, replicas: all } of configured) {
      const well = all.filter(({ models }) => models).length;
      if (well < all.length)
        this.options.log.warn("upstream does not answer", { upstream: name, well, of: all.length });
    }
  }

  stop(): void {
    clearInterval(this.timer);
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

  /** A model by its listed name, or by the name it has on its server. */
  find(name: string): Backend | undefined {
    const upstreams = this.upstreams();
    const [named, rest] = splitName(name, upstreams);
    if (named && (named.isConfigured || named.has(rest))) return this.backend(named, rest);
    for (const model of [name, `${name}:latest`]) {
      const having = upstreams.find((upstream) => upstream.has(model));
      if (having) return this.backend(having, model);
    }
    return undefined;
  }

  /** A model for vectors by its listed name, or by the name it has on its server. */
  findEmbedder(name: string): EmbeddingBackend | undefined {
    const upstreams = this.upstreams();
    const [named, rest] = splitName(name, upstreams);
    // Of a server that never answered nothing is known: it is asked, and what becomes of that is told.
    const isSilent = named?.isConfigured && named.replicas.every(({ models }) => !models);
    if (named && (isSilent || named.mayEmbed(rest))) return this.embedder(named, rest);
    for (const model of [name, `${name}:latest`]) {
      const having = upstreams.find((upstream) => upstream.mayEmbed(model));
      if (having) return this.embedder(having, model);
    }
    return undefined;
  }

  private embedder(upstream: Upstream, model: string): EmbeddingBackend {
    const listed = `${upstream.name}/${model}`;
    const known = this.embedders.get(listed);
    if (known) return known;
    const backend = { engine: new RemoteEmbedder({ listed, model }, upstream), parallel: PARALLEL };
    if (upstream.has(model)) this.embedders.set(listed, backend);
    return backend;
  }

  private upstreams(): Upstream[] {
    const { configured, discovery } = this.options;
    return [...configured, ...(discovery?.upstreams() ?? [])];
  }

  private backend(upstream: Upstream, model: string): Backend {
    const listed = `${upstream.name}/${model}`;
    const known = this.backends.get(listed);
    if (known) return known;
    const engine = new RemoteEngine({ listed, model }, upstream, this.options.clock);
    const backend = { model: listed, engine, parallel: PARALLEL, takesMediaSources: true };
    // Names that nobody has are as many as clients make up.
    if (upstream.has(model)) this.backends.set(listed, backend);
    return backend;
  }

  private listed(upstream: Upstream, model: RemoteModel): ListedModel {
    const id = `${upstream.name}/${model.id}`;
    const created = this.created.get(id) ?? model.created ?? Math.floor(this.options.clock.wall() / 1000);
    this.created.set(id, created);
    const kind = upstream.replicas.find(({ models }) => models)?.kind ?? "openai";
    const { capabilities, loaded, contextLength } = model;
    const ownedBy = kind === "openai" ? (model.owner ?? upstream.name) : traitsOf(kind).owner;
    const length = contextLength === undefined ? {} : { contextLength };
    return { id, created, ownedBy, loaded, capabilities, ...length, remote: true };
  }

  private look(): void {
    for (const replica of this.upstreams().flatMap(({ replicas }) => replicas)) void replica.refresh();
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

/** The upstream that a listed name begins with, and the model's name there. */
function splitName(name: string, upstreams: readonly Upstream[]): [upstream: Upstream | undefined, model: string] {
  const slash = name.indexOf("/");
  const [server, model] = [name.slice(0, Math.max(slash, 0)), name.slice(slash + 1)];
  return [model === "" ? undefined : upstreams.find((upstream) => upstream.name === server), model];
}
