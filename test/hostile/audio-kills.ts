// The engines of recordings and of speech, killed under load: every request ends, and nothing is left.
//   bun test/hostile/audio-kills.ts [--kills N] [--seed N]

import { randomNumbers } from "../simulation/traces.ts";
import { openFiles } from "../support/processes.ts";
import { withServer, type TestServer } from "../support/server.ts";
import {
  AUDIO_FLAGS,
  engineOf,
  lasting,
  recognise,
  recording,
  recordingsLeft,
  say,
  withTemporaryFolder,
  type AudioKind,
} from "./audio-client.ts";
import { runAlone, type Row } from "./row.ts";

const CLIENTS = 10;
const PATIENCE_MS = 120_000;
const PAUSE_MS = 1000;
const KINDS = ["transcription", "speech"] as const;
const TYPED = new Set(["engine_crashed", "server_busy", "engine_unavailable"]);
const INPUT = "The quick brown fox jumps over the lazy dog. It does so every day, and nobody knows why.";

/** `whole`, `ended` with a proper error, or what is wrong. */
type End = "whole" | "ended" | { readonly fault: string };

async function endOf(response: Response, isBroken: boolean): Promise<End> {
  const body = await response.bytes().catch(() => undefined);
  // Sound that was begun has no other way to fail.
  if (!body) return isBroken ? "ended" : { fault: "broken off" };
  if (response.ok) {
    const text = Buffer.from(body).toString("latin1");
    if (!response.headers.get("content-type")?.startsWith("text/event-stream")) return "whole";
    if (text.includes("speech.audio.done")) return "whole";
    return [...TYPED].some((code) => text.includes(`"${code}"`)) ? "ended" : { fault: text.slice(-200) };
  }
  const { error } = JSON.parse(Buffer.from(body).toString()) as { readonly error?: { readonly code?: string } };
  return TYPED.has(error?.code ?? "") ? "ended" : { fault: `${response.status} ${JSON.stringify(error)}` };
}

class Load {
  readonly faults: string[] = [];
  readonly whole: Record<AudioKind, number> = { transcription: 0, speech: 0 };
  ended = 0;
  private stopped = false;
  private readonly clients: Promise<unknown>;

  constructor(url: string, clip: Uint8Array<ArrayBuffer>, random: () => number) {
    const attempts = {
      transcription: (signal: AbortSignal) => recognise(url, clip, { signal }).then((answer) => endOf(answer, false)),
      speech: async (signal: AbortSignal) => {
        const isStream = random() < 0.5;
        const body = { input: INPUT, ...(isStream && { stream_format: "sse" }) };
        return endOf(await say(url, body, { signal }), !isStream);
      },
    };
    const all = KINDS.flatMap((kind) => Array.from({ length: CLIENTS }, () => this.client(kind, attempts[kind])));
    this.clients = Promise.all(all);
  }

  stop(): Promise<unknown> {
    this.stopped = true;
    return this.clients;
  }

  private async client(kind: AudioKind, attempt: (signal: AbortSignal) => Promise<End>): Promise<void> {
    while (!this.stopped) {
      const signal = AbortSignal.timeout(PATIENCE_MS);
      const end = await attempt(signal).catch((error: unknown): End => ({ fault: `${kind}: ${String(error)}` }));
      this.ended++;
      if (end === "whole") this.whole[kind]++;
      else if (end === "ended") await Bun.sleep(20);
      else this.faults.push(end.fault);
    }
  }
}

/** Each has worked since it was killed last: one that cannot is replaced late, by design. */
async function kill(server: TestServer, load: Load, kind: AudioKind, random: () => number): Promise<void> {
  const before = load.whole[kind];
  while (load.whole[kind] === before) await Bun.sleep(5);
  await Bun.sleep(random() * PAUSE_MS);
  const pid = engineOf(server, kind);
  if (pid !== undefined) process.kill(pid, "SIGKILL");
}

export interface AudioKillsOptions {
  readonly kills: number;
  readonly seed: number;
}

/** Half of the kills for each of both engines. */
export async function audioKills({ kills, seed }: AudioKillsOptions): Promise<Row[]> {
  const random = randomNumbers(seed);
  const clip = lasting(await recording(), 3);
  const attack = `${kills} kills of the engines of recordings and speech, ${2 * CLIENTS} clients`;
  return withTemporaryFolder(async (folder) => {
    const rows: Row[] = [];
    await withServer([...AUDIO_FLAGS, "--max-queue", "64"], async (server) => {
      const next = async () => [(await recognise(server.url, clip)).ok, (await say(server.url, { input: INPUT })).ok];
      await next();
      const filesBefore = openFiles(server.pid);
      const load = new Load(server.url, clip, random);
      for (let done = 0; done < kills; done++) await kill(server, load, KINDS[done % 2] ?? "speech", random);
      await load.stop();
      const served = await next();
      const { faults, ended } = load;
      for (const fault of faults.slice(0, 10)) console.error(`FAIL  ${fault}`);
      rows.push({
        promise: "a crash ends no more than what it computed, and says so",
        attack,
        figure: `${ended} requests, ${faults.length} without a proper end, the next ${served.every(Boolean) ? "served" : "failed"}`,
        limit: "0, served",
        ok: faults.length === 0 && served.every(Boolean),
      });
      const idleMs = await server.untilIdle(30_000).catch(() => undefined);
      const left = recordingsLeft(folder);
      const descriptors = openFiles(server.pid) - filesBefore;
      rows.push({
        promise: "what ends leaves nothing behind",
        attack,
        figure: `${left} recordings, ${descriptors} descriptors more, ${idleMs === undefined ? "requests left" : "no request"}`,
        limit: "none, a connection for each client",
        ok: idleMs !== undefined && left === 0 && descriptors <= 2 * CLIENTS,
      });
    });
    return rows;
  });
}

if (import.meta.main)
  await runAlone(({ kills, seed }) => audioKills({ kills: Number(kills ?? 20), seed: Number(seed ?? 1) }));
