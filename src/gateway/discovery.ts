// Discovers other servers on this machine by querying their listening ports, only over loopback.

import type { Clock } from "../domain/clock.ts";
import { isCandidate, KNOWN_PORTS } from "./known-servers.ts";
import { Replica } from "./replica.ts";
import type { Timeouts } from "./server-client.ts";
import type { ServerKind } from "./server-kind.ts";
import { Upstream } from "./upstream.ts";

/** Options that a reload may change. */
export interface SearchOptions {
  /** Ports of servers that the operator named, which are not discovered a second time. */
  readonly named: readonly number[];
  /** Names that the operator gave to servers, which discovered ones do not get. */
  readonly names: readonly string[];
  readonly timeouts: Timeouts;
}

interface DiscoveryOptions extends SearchOptions {
  /** Ports to query instead of the known and listening ones; empty: those are used. */
  readonly ports: readonly number[];
  readonly listeningPorts: () => Promise<readonly number[]>;
  /** The usual ports of servers. */
  readonly knownPorts?: ReadonlyMap<number, ServerKind>;
  readonly clock: Clock;
}

/** Milliseconds after which an unreachable server is forgotten. */
const FORGET_MS = 60_000;

export class Discovery {
  /** Servers that answered as a model server, by port. */
  private readonly found = new Map<
    number,
    { readonly upstream: Upstream; readonly replica: Replica; seenAt: number }
  >();
  /** Ports of this svc. */
  private readonly excluded = new Set<number>();
  private searched: SearchOptions;
  private readonly knownPorts: ReadonlyMap<number, ServerKind>;

  constructor(private readonly options: DiscoveryOptions) {
    this.searched = options;
    this.knownPorts = options.knownPorts ?? KNOWN_PORTS;
  }

  exclude(port: number): void {
    this.excluded.add(port);
    this.found.delete(port);
  }

  /**
   * Changes the search options: servers that are no longer named may be found, newly named ones are forgotten, and so
   * are those whose name changes, until they are found again.
   */
  reconfigure(searched: SearchOptions): void {
    this.searched = searched;
    for (const port of searched.named) this.found.delete(port);
    for (const [port, { upstream, replica }] of this.found) {
      if (upstream.name !== this.nameOf(port, replica)) this.found.delete(port);
    }
    for (const { replica } of this.found.values()) replica.client.timeouts = searched.timeouts;
  }

  /** Returns the discovered servers, those at known ports first, both groups by port. */
  upstreams(): Upstream[] {
    const rank = (port: number) => [...this.knownPorts.keys()].indexOf(port) >>> 0;
    return [...this.found].toSorted(([a], [b]) => rank(a) - rank(b) || a - b).map(([, { upstream }]) => upstream);
  }

  /** Queries the known ports, or those given in the options. */
  askKnown(): Promise<void> {
    const { ports } = this.options;
    return this.ask(ports.length > 0 ? ports : [...this.knownPorts.keys()]);
  }

  /** Queries the known ports, then the others. */
  async askAll(): Promise<void> {
    await this.askKnown();
    await this.askOthers();
  }

  /** Queries all other listening ports that may be servers, and ports where a server was found before. */
  async askOthers(): Promise<void> {
    if (this.options.ports.length > 0) return;
    const listening = await this.options.listeningPorts();
    const ports = new Set([...listening.filter(isCandidate), ...this.found.keys()]);
    await this.ask([...ports].filter((port) => !this.knownPorts.has(port)));
  }

  private async ask(ports: readonly number[]): Promise<void> {
    await Promise.all(ports.filter((port) => this.isWanted(port)).map((port) => this.askPort(port)));
  }

  private isWanted(port: number): boolean {
    return !this.excluded.has(port) && !this.searched.named.includes(port);
  }

  private async askPort(port: number): Promise<void> {
    const { clock } = this.options;
    const { timeouts } = this.searched;
    const known = this.found.get(port);
    const replica =
      known?.replica ?? new Replica({ url: `http://127.0.0.1:${port}` }, timeouts, clock, this.knownPorts.get(port));
    await replica.refresh(0);
    // The operator may have named the server meanwhile.
    if (!this.isWanted(port)) return;
    if (replica.models && !replica.listingFailure) {
      if (known) known.seenAt = clock.now();
      else {
        const upstream = new Upstream(this.nameOf(port, replica), [replica], false);
        this.found.set(port, { upstream, replica, seenAt: clock.now() });
      }
    } else if (known && clock.now() - known.seenAt > FORGET_MS) this.found.delete(port);
  }

  /** Returns a server's kind at its usual port, else its address: names do not depend on other discovered servers. */
  private nameOf(port: number, { kind }: Replica): string {
    return this.knownPorts.get(port) === kind && !this.searched.names.includes(kind) ? kind : `localhost:${port}`;
  }
}
