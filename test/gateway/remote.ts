// A gateway in front of fixture servers, and generations through it.

import { systemClock, type Clock } from "../../src/domain/clock.ts";
import type { EngineEvent, GenerateRequest } from "../../src/domain/generate.ts";
import { Gateway } from "../../src/gateway/gateway.ts";
import { affinity, prefixKey } from "../../src/gateway/prefix-key.ts";
import { Replica } from "../../src/gateway/replica.ts";
import { Upstream } from "../../src/gateway/upstream.ts";
import { RecordingLog } from "../support/recording-log.ts";
import { plainRequest } from "../support/request.ts";

/** Pause between rounds through the replicas, shorter than for real clients. */
const FIRST_PAUSE_MS = 10;

export interface RemoteOptions {
  readonly silenceMs?: number;
  readonly key?: string;
  readonly clock?: Clock;
  readonly hedge?: boolean;
}

/** Returns the upstream `far` with a replica at each address, after one refresh of its models. */
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

/** Yields requests whose conversations prefer this replica, whatever its state; each is a different conversation. */
export function* conversationsOf(
  { replicas }: Pick<Remote, "replicas">,
  replica: Replica | undefined,
  changes: Partial<GenerateRequest> = {},
): Generator<Partial<GenerateRequest>, never, void> {
  for (let number = 0; ; number++) {
    const conversation = { ...changes, messages: [{ role: "user" as const, content: `conversation ${number}` }] };
    const key = prefixKey(plainRequest("", conversation));
    const suits = (one: Replica) => affinity(one.url, key);
    if (replicas.every((one) => one === replica || (replica && suits(one) < suits(replica)))) yield conversation;
    if (number > 10_000) throw new Error("no conversation goes to this replica");
  }
}

/** Returns the first of those requests. */
export const conversationOf = (...of: Parameters<typeof conversationsOf>) => conversationsOf(...of).next().value;

/** Returns all events. `cancelAt`: the request is cancelled by its id at the first event of this type. */
export async function generate(
  { engine }: Pick<Remote, "engine">,
  changes: Partial<GenerateRequest> = {},
  signal = new AbortController().signal,
  cancelAt?: EngineEvent["type"],
): Promise<EngineEvent[]> {
  const events: EngineEvent[] = [];
  const request = plainRequest("hi", changes);
  for await (const event of engine.generate(request, signal)) {
    events.push(event);
    if (event.type === cancelAt) engine.cancel(request.id, "id");
  }
  return events;
}

export const textOf = (events: readonly EngineEvent[]): string =>
  events.map((event) => (event.type === "text" ? event.text : "")).join("");

export const finishOf = (events: readonly EngineEvent[]) => events.findLast((event) => event.type === "finish");
