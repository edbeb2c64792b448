// Hostile requests, one after another from a few clients: each must be answered or refused, cost only what it
// contains, and not affect others.

import { footprint } from "../support/footprint.ts";
import { enginesOf } from "../support/processes.ts";
import { withServer, type TestServer } from "../support/server.ts";
import type { Send } from "./engine-client.ts";
import { ENGINE_FLAGS, engineHealth, filesLeft, withTemporaryFolder, type EngineKind } from "./engines.ts";
import type { Row } from "./row.ts";
import { signed } from "./signed.ts";
import { watchHealth } from "./slowest-health.ts";

export interface Flood {
  /** The promise that each request tests. */
  readonly promise: string;
  /** Description of the requests, for the table. */
  readonly what: string;
  readonly kind: EngineKind;
  /** Expensive requests come first, because memory held at half time counts as permanent. */
  readonly requests: readonly (readonly [name: string, send: Send])[];
  /** Accepted status codes. */
  readonly proper: readonly number[];
  /** A valid request, which is sent before, between and after the others and must be served. */
  readonly whole: Send;
  /** How often the engine's process may be replaced; never by default. */
  readonly mostRestarts?: number;
}

const CLIENTS = 4;
const PATIENCE_MS = 120_000;
const TOLD_MS = 3000;
const SLOWEST_HEALTH_MS = 250;
/** Bytes by which a process may grow between half time and the end. */
const MOST_GROWTH = 100e6;
/** Pause between two requests of the normal client. */
const PAUSE_MS = 500;

/** Returns rows about the answers, about a normal client, and about what is left behind. */
export const flood = (one: Flood): Promise<Row[]> => withTemporaryFolder((folder) => sent(one, folder));

async function sent({ promise, what, kind, requests, proper, whole, mostRestarts = 0 }: Flood, folder: string) {
  const counts: Record<string, number> = {};
  const faults: string[] = [];
  const rows: Row[] = [];
  const attack = `${requests.length} ${what}`;
  await withServer(ENGINE_FLAGS, async (server) => {
    await (await whole(server.url)).bytes();
    const watch = await watchHealth(server.url);
    const others = new WellMeaning(server, whole);
    let next = 0;
    const held = () => footprint(server.pid, enginesOf(server.pid, kind));
    let middle = held();
    const client = async () => {
      for (;;) {
        const [name, send] = requests[next++] ?? [];
        if (!name || !send) return;
        if (next === Math.floor(requests.length / 2)) middle = held();
        const started = performance.now();
        const end = await ended(send(server.url, AbortSignal.timeout(PATIENCE_MS)));
        const code = typeof end === "string" ? end : end.status;
        counts[code] = (counts[code] ?? 0) + 1;
        if (typeof end === "string") faults.push(`${name}: ${end}`);
        else if (!proper.includes(end.status)) faults.push(`${name}: ${end.status} ${end.text.slice(0, 200)}`);
        const took = performance.now() - started;
        if (took > TOLD_MS) console.error(`${name}: ${code} after ${Math.round(took)} ms`);
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
    const { served, refused, slowestMs } = await others.end();
    const slowest = await watch.end();
    await server.untilIdle(30_000).catch(() => {});
    const { restarts, running, waiting } = await engineHealth(server, kind);
    const after = held();
    const last = await whole(server.url);
    await last.bytes();
    for (const fault of [...faults, ...refused]) console.error(`FAIL  ${fault}`);
    const answers = Object.entries(counts).map(([status, number]) => `${number} × ${status}`);
    rows.push({
      promise,
      attack,
      figure: `${answers.join(", ")}, ${restarts} restarts, next client ${last.status}`,
      limit: `${proper.join(", ")}, ${mostRestarts === 0 ? "no restart" : `${mostRestarts} restarts`}`,
      ok: faults.length === 0 && restarts <= mostRestarts && last.ok,
    });
    rows.push({
      promise: "Damaged and hostile files do not delay other clients",
      attack,
      figure: `/health ${Math.round(slowest)} ms; another client: ${served} of ${served + refused.length} served, in ${(slowestMs / 1000).toFixed(1)} s at most`,
      limit: `/health ${SLOWEST_HEALTH_MS} ms, all served`,
      ok: slowest < SLOWEST_HEALTH_MS && refused.length === 0 && served > 0,
    });
    const growth = Math.max(after.front - middle.front, after.engine - middle.engine);
    const left = filesLeft(folder);
    const [front, engine] = [after.front, after.engine].map((bytes) => Math.round(bytes / 1e6));
    rows.push({
      promise: "Nothing leaks: files, descriptors, memory",
      attack,
      figure: `${left} files, ${running + waiting} requests, ${signed(after.files - middle.files)} descriptors, ${signed(growth / 1e6)} MB in the second half (server ${front} MB, engine ${engine} MB)`,
      limit: `nothing left, +${MOST_GROWTH / 1e6} MB`,
      ok: left === 0 && running + waiting === 0 && growth < MOST_GROWTH && enginesOf(server.pid, kind).length > 0,
    });
  });
  return rows;
}

type End = { readonly status: number; readonly text: string } | string;

const ended = (answer: Promise<Response>): Promise<End> =>
  answer.then(
    async (response) => ({ text: Buffer.from(await response.bytes()).toString("latin1"), status: response.status }),
    (error: unknown) => String(error),
  );

/** A client that sends valid requests one after another until it is stopped. */
class WellMeaning {
  private readonly refused: string[] = [];
  private served = 0;
  private slowestMs = 0;
  private isOver = false;
  private readonly sending: Promise<void>;

  constructor(
    { url }: TestServer,
    private readonly whole: Send,
  ) {
    this.sending = this.send(url);
  }

  async end() {
    this.isOver = true;
    await this.sending;
    const { served, refused, slowestMs } = this;
    return { served, refused, slowestMs };
  }

  private async send(url: string): Promise<void> {
    const headers = { "x-svc-client": "well-meaning" };
    while (!this.isOver) {
      const started = performance.now();
      const end = await ended(this.whole(url, AbortSignal.timeout(PATIENCE_MS), headers));
      this.slowestMs = Math.max(this.slowestMs, performance.now() - started);
      if (typeof end !== "string" && end.status === 200) this.served++;
      else this.refused.push(`another client: ${typeof end === "string" ? end : `${end.status} ${end.text}`}`);
      await Bun.sleep(PAUSE_MS);
    }
  }
}
