// The life of an engine process of any kind: it loads what its parent names and serves until the parent disconnects.

import { writeSync } from "node:fs";
import type { LoadState, LogLine } from "../../../ffi/runtime/library.ts";
import { errorMessage } from "../../domain/error-message.ts";
import type { EngineKind } from "./kind.ts";
import { ownMemory } from "./machine.ts";
import {
  ABORT_FD,
  PROTOCOL_VERSION,
  type FromEngine,
  type JobKey,
  type ProcessMemory,
  type ToEngine,
} from "./protocol.ts";

const POLL_MS = 2;
const MEMORY_MS = 1000;
/** Progress is reported after a change of `share`, or of less once `ms` milliseconds have passed. */
const PROGRESS = { share: 0.01, ms: 1000 };
/** Growth in memory, in bytes, that counts as progress of loading; less may be chance. */
const GROWTH_BYTES = 1 << 20;
/** Exit code when the parent speaks another version of the protocol. */
const EXIT_STALE = 64;
/** Milliseconds that the parent has to read why loading failed. */
const PATIENCE_MS = 10_000;

/** What a native library offers that loads its model in the background. */
interface NativeLoad {
  loadPoll(): LoadState;
  drainLog(): readonly LogLine[];
}

type Notice = Extract<FromEngine<never, never>, { type: "progress" | "log" }>;

/**
 * Tells the parent which file is read next, so that the parent knows which file it was if the process dies before it is
 * ready or reads another. It goes over the socket: an IPC message sent just before the process dies may be lost.
 */
export function tellReading(file: string): void {
  writeSync(ABORT_FD, `@${JSON.stringify(file)}\n`);
}

/**
 * Resolves when a native library has loaded its model. Meanwhile sends progress and log lines; log lines go on for as
 * long as the process lives. Each file is reported before it is read, because reading it may end the process. Throws an
 * Error with the library's message when loading fails.
 */
export async function untilLoaded(native: NativeLoad, send: (notice: Notice) => void): Promise<void> {
  const forward = () => {
    for (const { level, text } of native.drainLog()) send({ type: "log", level, text });
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
    // Progress starts again at 0 with each part of a model in several files.
    const moved = Math.abs(state.progress - sent);
    if (moved >= PROGRESS.share || (moved > 0 && now - at >= PROGRESS.ms)) {
      [sent, at] = [state.progress, now];
      send({ type: "progress", value: sent });
    }
    await Bun.sleep(POLL_MS);
  }
  setInterval(forward, 1000).unref();
}

/** Runs an engine of this kind in this process. Never returns. */
export async function runEngine<Options, Ready, Job, Event, Report>(
  kind: EngineKind<Options, Ready, Job, Event, Report>,
): Promise<never> {
  const send = (message: FromEngine<Ready, Event, Report>) => void process.send?.(message);
  const exit = () => process.exit(0);
  process.on("disconnect", exit);
  // Terminals and service managers signal all processes of a group: the parent drains first and then ends this process.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
  let end: () => void = exit;
  const options = await new Promise<Options>((resolve) => {
    process.on("message", (message: ToEngine<Options, Job>) => {
      if (message.type === "end") return end();
      if (message.type !== "load") return;
      if (message.version !== PROTOCOL_VERSION) process.exit(EXIT_STALE);
      resolve(message.options);
    });
  });
  const memory = reportMemory((memory) => send({ type: "memory", memory }));
  const { ready, loop } = await kind.load(options, send).catch(async (error: unknown) => {
    send({ type: "load-failed", message: errorMessage(error) });
    // The parent reads the reason and ends this process: what is sent just before an exit may be lost.
    await Bun.sleep(PATIENCE_MS);
    return process.exit(1);
  });
  if (loop.end) end = () => void loop.end?.().finally(exit);
  const arriving = new Map<JobKey, Uint8Array[]>();
  const takeContents = (key: JobKey): Uint8Array[] => {
    const contents = arriving.get(key) ?? [];
    arriving.delete(key);
    return contents;
  };
  // There are no jobs before `ready`.
  process.on("message", (message: ToEngine<Options, Job>) => {
    if (message.type === "submit") loop.submit(message.key, message.job, takeContents(message.key));
    else if (message.type === "part") {
      const { key, index, length, from, bytes } = message;
      const contents = arriving.getOrInsert(key, []);
      (contents[index] ??= new Uint8Array(length)).set(bytes, from);
      send({ type: "taken", key });
    } else if (message.type === "cancel") {
      arriving.delete(message.key);
      loop.cancel(message.key, message.cause);
    } else if (message.type === "hold") loop.hold?.(message.key, message.held);
  });
  memory.loaded();
  send({ type: "ready", ready });
  return loop.run();
}

/**
 * Reports memory every second, which also tells the parent that this process is alive. While a model loads, memory is
 * reported only when it has grown, because it then counts as progress.
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
