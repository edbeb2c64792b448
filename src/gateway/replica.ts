// One other server: whether it is well, what it has, how much it has to do.

import type { Clock } from "../domain/clock.ts";
import { SvcError } from "../domain/errors.ts";
import { CircuitBreaker } from "./circuit-breaker.ts";
import { ServerClient, type ServerAddress, type Timeouts } from "./server-client.ts";
import { describeOllamaModel, describeServer, type RemoteModel, type ServerDescription } from "./server-description.ts";
import type { ServerKind } from "./server-kind.ts";
import { unreachable, UpstreamFailure } from "./upstream-failure.ts";

const PROBE_TIMEOUT_MS = 3000;
const REFRESH_MS = 30_000;

export class Replica {
  readonly client: ServerClient;
  readonly breaker: CircuitBreaker;
  /** Requests under way. */
  inFlight = 0;
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

  get isWell(): boolean {
    return this.breaker.state === "closed";
  }

  /** Asks it what it has, when the last answer is older than `maxAgeMs` or it may be well again. */
  refresh(maxAgeMs = REFRESH_MS): Promise<void> {
    const due = this.clock.now() - this.refreshedAt >= maxAgeMs;
    if (!due && this.breaker.state !== "half-open") return this.refreshing ?? Promise.resolve();
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
  failed(error: unknown): UpstreamFailure | SvcError {
    if (error instanceof SvcError) {
      this.breaker.failed();
      return error;
    }
    const failure = error instanceof UpstreamFailure ? error : unreachable("broke the connection");
    if (failure.sick) this.breaker.failed();
    // Whoever refuses is well.
    else this.breaker.succeeded();
    return failure;
  }

  private async describe(): Promise<void> {
    this.refreshedAt = this.clock.now();
    this.breaker.begin();
    const description = await describeServer(this.client, PROBE_TIMEOUT_MS, this.hint);
    // Some servers do nothing else while they answer.
    if (!description) return this.inFlight > 0 ? this.breaker.abandoned() : this.breaker.failed();
    if (description.kind === "ollama")
      this.description = { ...description, models: await this.show(description.models) };
    else this.description = description;
    this.breaker.succeeded();
  }

  private show(models: readonly RemoteModel[]): Promise<RemoteModel[]> {
    return Promise.all(
      models.map(async (model) => {
        const key = `${model.id} ${model.created}`;
        const known = this.shown.get(key);
        if (known) return { ...known, loaded: model.loaded };
        const shown = await describeOllamaModel(this.client, model, AbortSignal.timeout(PROBE_TIMEOUT_MS));
        this.shown.set(key, shown);
        return shown;
      }),
    );
  }
}
