// Clients that send one request after another while something happens to the server, and how the requests end.

import { until } from "../support/until.ts";

/** `whole`, `ended` with a proper error, or a description of what is wrong. */
export type End = "whole" | "ended" | { readonly fault: string };

export interface Attempt<Kind extends string = string> {
  /** The engine that answers. */
  readonly kind: Kind;
  readonly run: (signal: AbortSignal, random: () => number) => Promise<End>;
}

/** A request that has not ended by then counts as hanging. */
const PATIENCE_MS = 120_000;
const AFTER_ERROR_MS = 20;
/** Error codes that are acceptable while engines die. */
export const TYPED: ReadonlySet<string> = new Set([
  "engine_crashed",
  "engine_unavailable",
  "model_loading",
  "request_cancelled",
  "server_busy",
]);

/** `choose` returns a client's next request, given the client's number. */
export class Load<Kind extends string> {
  readonly faults: string[] = [];
  /** Counts of whole answers by engine. */
  readonly whole = new Map<Kind, number>();
  ended = 0;
  private stopped = false;
  private readonly clients: Promise<unknown>;

  constructor(
    count: number,
    private readonly choose: (client: number) => Attempt<Kind>,
    private readonly random: () => number,
  ) {
    this.clients = Promise.all(Array.from({ length: count }, (_, client) => this.client(client)));
  }

  stop(): Promise<unknown> {
    this.stopped = true;
    return this.clients;
  }

  /** Resolves after the engine's next answer: an engine that has not worked is restarted with a delay, by design. */
  async worked(kind: Kind): Promise<void> {
    const before = this.whole.get(kind);
    await until(() => this.whole.get(kind) !== before, PATIENCE_MS);
  }

  private async client(client: number): Promise<void> {
    while (!this.stopped) {
      const { kind, run } = this.choose(client);
      const late = AbortSignal.timeout(PATIENCE_MS);
      const end = await run(late, this.random).catch((error: unknown) => ({
        fault: late.aborted ? `no end within ${PATIENCE_MS / 1000} s` : `the connection failed: ${String(error)}`,
      }));
      this.ended++;
      if (end === "whole") this.whole.set(kind, (this.whole.get(kind) ?? 0) + 1);
      else if (end === "ended") await Bun.sleep(AFTER_ERROR_MS);
      else this.faults.push(`${kind}: ${end.fault}`);
    }
  }
}

/**
 * `done`: the last event of a complete stream. `canBreak`: whether an answer that has begun can fail only by a broken
 * connection.
 */
export async function endOf(response: Response, { done = "", canBreak = false } = {}): Promise<End> {
  const body = await response.bytes().catch(() => undefined);
  if (!body) return canBreak ? "ended" : { fault: "broken off" };
  const text = Buffer.from(body).toString("latin1");
  if (response.ok) {
    if (!response.headers.get("content-type")?.startsWith("text/event-stream") || text.includes(done)) return "whole";
    return [...TYPED].some((code) => text.includes(`"${code}"`)) ? "ended" : { fault: text.slice(-200) };
  }
  const { error } = JSON.parse(Buffer.from(body).toString()) as { readonly error?: { readonly code?: string } };
  return TYPED.has(error?.code ?? "") ? "ended" : { fault: `${response.status} ${JSON.stringify(error)}` };
}
