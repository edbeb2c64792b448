// The life of an engine process, whatever it computes: it loads what the parent names, and serves until its parent goes away.

import { writeSync } from "node:fs";
import { errorMessage } from "../../domain/error-message.ts";
import type { EngineKind } from "./kind.ts";
import { ownMemory } from "./memory.ts";
import {
  ABORT_FD,
  PROTOCOL_VERSION,
  type FromEngine,
  type JobKey,
  type Part,
  type ProcessMemory,
  type ToEngine,
} from "./protocol.ts";

const POLL_MS = 10;
const MEMORY_MS = 1000;
/** Progress is reported when it has changed by this share, or by less in this time. */
const PROGRESS = { share: 0.01, ms: 1000 };
/** By how much memory grows where something is read into it, and not by chance. */
const GROWTH_BYTES = 1 << 20;
/** A stale parent: it speaks another version of the protocol. */
const EXIT_STALE = 64;
/** How long the parent may take to read why loading failed. */
const PATIENCE_MS = 10_000;

/** What a native library offers that loads in the background. */
interface NativeLoad {
  loadPoll():
    | { readonly state: "loading"; readonly progress: number; readonly file?: string }
    | { readonly state: "ready" }
    | { readonly state: "failed"; readonly error: string };
  drainLog?(): readonly { readonly level: "debug" | "info" | "warn" | "error"; readonly text: string }[];
}

type Notice = Extract<FromEngine<never, never>, { type: "progress" | "log" }>;

/**
 * Tells the parent which file is read from now on: should the process die before it is ready or reads another, it was this
 * one. It goes over the socket: what is sent as a message right before an end may be lost with the process.
 */
export function tellReading(file: string): void {
  writeSync(ABORT_FD, `@${JSON.stringify(file)}\n`);
}

/**
 * Resolves when a native library has loaded its model; sends progress and log lines meanwhile, and log lines for as long
 * as the process lives. Which file is read is told before that begins: it may end the process. Throws what the library says
 * when it fails.
 */
export async function untilLoaded(native: NativeLoad, send: (notice: Notice) => void): Promise<void> {
  const forward = () => {
    for (const { level, text } of native.drainLog?.() ?? []) send({ type: "log", level, text });
  };
  for (let [sent, at] = [-1, 0]; ;) {
    const state = native.loadPoll();
    forward();
    if (state.state === "failed") throw new Error(state.error);
    if (state.state === "ready") break;
    if (state.file !== undefined) {
      tellReading(state.file);
      continue;
    }
    const now = performance.now();
    // It begins again with each part of a file that has several.
    const moved = Math.abs(state.progress - sent);
    if (moved >= PROGRESS.share || (moved > 0 && now - at >= PROGRESS.ms)) {
      [sent, at] = [state.progress, now];
      send({ type: "progress", value: sent });
    }
    await Bun.sleep(POLL_MS);
  }
  if (native.drainLog) setInterval(forward, 1000).unref();
}

/** Runs an engine of this kind in this process; never returns. */
export async function runEngine<Options, Ready, Job, Event, Report>(
  kind: EngineKind<Options, Ready, Job, Event, Report>,
): Promise<never> {
  const send = (message: FromEngine<Ready, Event, Report>) => void process.send?.(message);
  process.on("disconnect", () => process.exit(0));
  // A Ctrl-C reaches the whole terminal group: the parent drains first and then ends this process.
  process.on("SIGINT", () => {});
  type Message = ToEngine<Options, Job>;
  const early: Message[] = [];
  let receive = (message: Message): void => void early.push(message);
  const options = await new Promise<Options>((resolve) => {
    process.on("message", (message: Message) => {
      if (message.type !== "load") return receive(message);
      if (message.version !== PROTOCOL_VERSION) process.exit(EXIT_STALE);
      resolve(message.options);
    });
  });
  const memory = reportMemory((memory) => send({ type: "memory", memory }));
  const { ready, worker } = await kind.load(options, send).catch((error: unknown) => {
    send({ type: "load-failed", message: errorMessage(error) });
    return endUnloaded();
  });
  if (worker.end) process.on("SIGTERM", () => void worker.end?.().finally(() => process.exit(0)));
  const arriving = new Map<JobKey, Uint8Array[]>();
  const takeContents = (key: JobKey): Uint8Array[] => {
    const contents = arriving.get(key) ?? [];
    arriving.delete(key);
    return contents;
  };
  receive = (message) => {
    if (message.type === "submit") worker.submit(message.key, message.job, takeContents(message.key));
    else if (message.type === "part") {
      const { key } = message;
      arriving.set(key, withPart(arriving.get(key) ?? [], message));
      send({ type: "taken", key });
    } else if (message.type === "cancel") {
      arriving.delete(message.key);
      worker.cancel(message.key, message.cause);
    } else if (message.type === "hold") worker.hold?.(message.key, message.held);
  };
  early.forEach(receive);
  memory.loaded();
  send({ type: "ready", ready });
  return worker.run();
}

function withPart(contents: Uint8Array[], { index, length, from, bytes }: Part): Uint8Array[] {
  const content = (contents[index] ??= new Uint8Array(length));
  content.set(bytes, from);
  return contents;
}

/**
 * Reports the memory each second, which is also how the parent knows that this process is well. While it loads, that
 * goes by progress: memory is reported when it has grown.
 */
function reportMemory(send: (memory: ProcessMemory) => void) {
  let most = 0;
  let isLoading = true;
  const look = () => {
    const resident = process.memoryUsage.rss();
    if (isLoading && resident < most + GROWTH_BYTES) return;
    most = resident;
    send({ resident, own: ownMemory() });
  };
  setInterval(look, MEMORY_MS).unref();
  return {
    loaded(): void {
      isLoading = false;
      look();
    },
  };
}

/**
 * Ends a process that could not load its model, after it has sent why: the parent ends it when it has read that. What is
 * sent right before an exit may be lost with it.
 */
async function endUnloaded(): Promise<never> {
  process.once("SIGTERM", () => process.exit(1));
  await Bun.sleep(PATIENCE_MS);
  return process.exit(1);
}
