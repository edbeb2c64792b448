// One other server: whether it is well, what it has, how much it has to do.

import type { Clock } from "../domain/clock.ts";
import type { SvcError } from "../domain/errors.ts";
import { CircuitBreaker } from "./circuit-breaker.ts";
import { ServerClient, type ServerAddress, type Timeouts } from "./server-client.ts";
import { describeOllamaModel, describeServer, type RemoteModel, type ServerDescription } from "./server-description.ts";
import type { ServerKind } from "./server-kind.ts";
import { lost, UpstreamFailure } from "./upstream-failure.ts";

/** A server in front of many others may take its time to list what they have. */
const PROBE_TIMEOUT_MS = 10_000;
const REFRESH_MS = 30_000;

export class Replica {
  readonly client: ServerClient;
  readonly breaker: CircuitBreaker;
  /** Requests under way. */
  inFlight = 0;
  /** Why it did not tell what it has, when it was asked last. */
  listingFailure: SvcError | undefined;
  private description: ServerDescription | undefined;
  private refreshedAt = -Infinity;
  private refreshing: Promise<void> | undefined;
  /** Ollama tells of each model alone; it is asked once for each version of it. */
  private readonly shown = new Map<string, RemoteModel>();

  constructor(
    address: ServerAddress,
    timeouts: Timeouts,
    private readonly clock: Clock,
    private readonly hint?: ServerKind,
  ) {
    this.client = new ServerClient(address, timeouts, clock.now);
    this.breaker = new CircuitBreaker(clock.now);
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

  /** Asks it what it has, when the last answer is older than `maxAgeMs` or it may be well again. */
  refresh(maxAgeMs = REFRESH_MS): Promise<void> {
    const isOld = this.clock.now() - this.refreshedAt >= maxAgeMs;
    const { state } = this.breaker;
    if (state === "open" || (state === "closed" && !isOld)) return this.refreshing ?? Promise.resolve();
    return (this.refreshing ??= this.describe().finally(() => (this.refreshing = undefined)));
  }

  /** A request goes out to it; what comes back is to be called when it is over. */
  begin(): () => void {
    const tries = this.breaker.begin();
    this.inFlight++;
    return () => {
      this.inFlight--;
      if (tries) this.breaker.abandoned();
    };
  }

  /** Counts the failure of a request for its health, and makes it one that clients understand. */
  failed(error: unknown): UpstreamFailure {
    const failure = error instanceof UpstreamFailure ? error : lost("broke the connection");
    if (failure.sick) this.breaker.failed();
    // Whoever refuses is well.
    else this.breaker.succeeded();
    return failure;
  }

  private async describe(): Promise<void> {
    this.refreshedAt = this.clock.now();
    const tries = this.breaker.begin();
    try {
      const { kind, models } = await describeServer(this.client, PROBE_TIMEOUT_MS, this.hint);
      this.description = { kind, models: kind === "ollama" ? await this.show(models) : models };
      this.listingFailure = undefined;
      this.breaker.succeeded();
    } catch (error) {
      // Some servers do nothing else while they answer.
      if (this.inFlight > 0) {
        if (tries) this.breaker.abandoned();
        return;
      }
      const failure = this.failed(error);
      this.listingFailure = failure.error;
      // It is asked again as soon as the breaker lets it be.
      if (failure.sick) this.refreshedAt = -Infinity;
    }
  }

  private show(models: readonly RemoteModel[]): Promise<RemoteModel[]> {
    return Promise.all(
      models.map(async (model) => {
        const key = `${model.id} ${model.created}`;
        const known = this.shown.get(key);
        if (known) return { ...known, loaded: model.loaded };
        const shown = await describeOllamaModel(this.client, model, AbortSignal.timeout(PROBE_TIMEOUT_MS));
        if (shown) this.shown.set(key, shown);
        return shown ?? model;
      }),
    );
  }
}
