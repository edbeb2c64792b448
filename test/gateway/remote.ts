// A gateway over fixture servers, and what a generation through it gives.

import { systemClock, type Clock } from "../../src/domain/clock.ts";
import type { EngineEvent, GenerateRequest } from "../../src/domain/generate.ts";
import { Gateway } from "../../src/gateway/gateway.ts";
import { prefixKey } from "../../src/gateway/prefix-key.ts";
import { Replica } from "../../src/gateway/replica.ts";
import { Upstream } from "../../src/gateway/upstream.ts";
import { RecordingLog } from "../http/harness.ts";
import { plainRequest } from "../support/request.ts";

/** Rounds through replicas pause less than they do for clients. */
const FIRST_PAUSE_MS = 10;

export interface RemoteOptions {
  readonly silenceMs?: number;
  readonly key?: string;
  readonly clock?: Clock;
  readonly hedge?: boolean;
}

/** The upstream `far` with a replica at each address, asked once what it has. */
export async function remote(
  urls: readonly string[],
  { silenceMs = 5000, key, clock = systemClock, hedge = false }: RemoteOptions = {},
) {
  const timeouts = { connectMs: 1000, silenceMs };
  const address = (url: string) => ({ url, ...(key !== undefined && { key }) });
  const replicas = urls.map((url) => new Replica(address(url), timeouts, clock));
  const upstream = new Upstream("up", replicas, true, { firstPauseMs: FIRST_PAUSE_MS, hedge });
  const log = new RecordingLog();
  const gateway = new Gateway({ configured: [upstream], clock: systemClock, log });
  await gateway.start();
  gateway.stop();
  const model = upstream.models()[0]?.id ?? "far";
  const backend = gateway.find(`up/${model}`)?.chat;
  if (!backend) throw new Error("no backend");
  return { gateway, upstream, replicas, log, engine: backend.engine };
}

export type Remote = Awaited<ReturnType<typeof remote>>;

/** What a request holds whose conversation belongs to this replica, as things are. */
export function conversationOf({ upstream }: Pick<Remote, "upstream">, replica: Replica | undefined) {
  for (let number = 0; number < 1000; number++) {
    const messages = [{ role: "user" as const, content: `conversation ${number}` }];
    const choice = upstream.choose("far", prefixKey(plainRequest("", { messages })), new Set());
    if (choice?.replica === replica) return { messages };
  }
  throw new Error("no conversation goes to this replica");
}

export async function generate(
  { engine }: Pick<Remote, "engine">,
  changes: Partial<GenerateRequest> = {},
  signal = new AbortController().signal,
): Promise<EngineEvent[]> {
  const events: EngineEvent[] = [];
  for await (const event of engine.generate(plainRequest("hi", changes), signal)) events.push(event);
  return events;
}

export const textOf = (events: readonly EngineEvent[]): string =>
  events.map((event) => (event.type === "text" ? event.text : "")).join("");

export const finishOf = (events: readonly EngineEvent[]) => events.findLast((event) => event.type === "finish");
