// State of the server, now and in the last minutes, requested once a second while the page shows it.

import { batch, signal } from "@preact/signals";
import type { Health } from "../../contract/health.ts";
import type { RequestList } from "../../contract/requests.ts";
import { levelsOf, type Levels } from "../logic/metrics.ts";
import { messageOf, NEEDS_KEY, type Api } from "./api.ts";

export type WatchedRequest = RequestList["data"][number];

const EVERY_MS = 1000;
/** Milliseconds after which a request to the server fails. */
const PATIENCE_MS = 5000;
/** Number of samples to keep. */
export const MOMENTS = 120;
/** Milliseconds without a sample after which the earlier ones are no longer shown: the charts have no gaps. */
const GAP_MS = 10_000;

export class Watch {
  readonly health = signal<Health | undefined>(undefined);
  readonly requests = signal<readonly WatchedRequest[]>([]);
  /** The newest is last. */
  readonly levels = signal<readonly Levels[]>([]);
  /** Why the other values are out of date; empty when they are current. */
  readonly trouble = signal("");
  /** Milliseconds since 1970 at the newest sample. */
  private sampledAt = 0;

  constructor(
    private readonly api: Api,
    private readonly patienceMs = PATIENCE_MS,
    private readonly everyMs = EVERY_MS,
  ) {}

  /** Requests the state until the returned function is called; pauses while there is no key that the server requires. */
  start(): () => void {
    const { api } = this;
    api.isKeyDeclined.value = false;
    const stopped = new AbortController();
    const look = async () => {
      if (api.isKeyDeclined.value) this.trouble.value = NEEDS_KEY;
      else if (!document.hidden && !api.needsKey.value) await this.look(stopped.signal);
      if (!stopped.signal.aborted) timer = setTimeout(() => void look(), this.everyMs);
    };
    let timer = setTimeout(() => void look(), 0);
    return () => {
      stopped.abort();
      clearTimeout(timer);
    };
  }

  async cancel(id: string): Promise<void> {
    // The request was cancelled or has ended meanwhile: a failure changes nothing.
    await this.api.fetch(`/v1/chat/completions/${encodeURIComponent(id)}/cancel`, {}).catch(() => {});
  }

  private async look(stopped: AbortSignal): Promise<void> {
    const patience = AbortSignal.timeout(this.patienceMs);
    const signal = AbortSignal.any([stopped, patience]);
    try {
      const [health, metrics, requests] = await Promise.all([
        this.api.json<Health>("/health", undefined, { signal }),
        this.api.fetch("/metrics", undefined, { signal }).then((response) => response.text()),
        this.api.json<RequestList>("/v1/requests", undefined, { signal }),
      ]);
      const now = Date.now();
      const before = now - this.sampledAt > GAP_MS ? [] : this.levels.value;
      this.sampledAt = now;
      batch(() => {
        this.health.value = health;
        this.requests.value = requests.data;
        this.levels.value = [...before, levelsOf(metrics)].slice(-MOMENTS);
        this.trouble.value = "";
      });
    } catch (error) {
      if (stopped.aborted) return;
      this.trouble.value = patience.aborted ? "The server does not answer." : messageOf(error);
    }
  }
}
