// One engine process as its parent sees it: messages, abort requests, signs of life, the tail of stderr, and its end.

import { childSocket, type ChildSocket } from "../../../ffi/runtime/child-socket.ts";
import { systemErrorCode } from "../../domain/system-error-code.ts";
import type { JobKey } from "./protocol.ts";
import type { Pulse } from "./watchdog.ts";

const STDERR_LINES = 20;
/** More bytes than native code can report between two reads. */
const PULSE_BYTES = 16_384;

/** No crash reports, no outliving the parent, and no debugger, which ggml would start and wait for on an abort. */
const ENVIRONMENT = { DO_NOT_TRACK: "1", BUN_FEATURE_FLAG_NO_ORPHANS: "1", GGML_NO_BACKTRACE: "1" };

export interface EngineExit {
  readonly code: number | null;
  readonly signal: string | null;
  /** Last lines of stderr, for the log. */
  readonly stderr: readonly string[];
  /** The job because of which the process ended itself; undefined if there is none. */
  readonly culprit: JobKey | undefined;
  /** The last file that it began to read; undefined if there is none. */
  readonly file: string | undefined;
}

/** How an engine process is started. */
interface EngineStart {
  /** Program and arguments that run this binary as an engine. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

interface Spawned {
  readonly child: Bun.Subprocess<"ignore", "ignore", "pipe">;
  /** Set by the owner before it sends the first message: an engine says nothing before. */
  receive?: (message: unknown) => void;
}

function spawn({ command, env }: EngineStart): Spawned {
  const spawned: Spawned = {
    child: Bun.spawn([...command], {
      // Libraries also search the working directory for others, and a cache folder may be deleted at any time.
      cwd: "/",
      env: { ...env, ...ENVIRONMENT },
      stdio: ["ignore", "ignore", "pipe", "pipe"],
      serialization: "advanced",
      ipc: (message) => spawned.receive?.(message),
    }),
  };
  return spawned;
}

/** The one piece of state here that is nobody's: what would hold it is only loaded after the process was started. */
let ahead: { readonly command: readonly string[]; readonly spawned: Spawned } | undefined;

/**
 * Starts a process before it is known what it is to load: the next EngineProcess of the same kind takes it. It ends with
 * this process, which does not wait for it. Returns its process id, or undefined if it cannot be started.
 */
export function startAhead(start: EngineStart): number | undefined {
  try {
    const spawned = spawn(start);
    spawned.child.unref();
    ahead = { command: start.command, spawned };
    return spawned.child.pid;
  } catch {
    // The start that counts reports it.
    return undefined;
  }
}

function takeAhead({ command }: EngineStart): Spawned | undefined {
  // The kind comes last. The program's path may have changed meanwhile: an update has replaced it.
  if (ahead === undefined || ahead.command.at(-1) !== command.at(-1)) return undefined;
  const { spawned } = ahead;
  const { child } = spawned;
  ahead = undefined;
  if (child.exitCode !== null || child.signalCode !== null) {
    childSocket(child.stdio[3] as unknown as number).close();
    return undefined;
  }
  child.ref();
  return spawned;
}

interface EngineProcessOptions<From> extends EngineStart {
  readonly onMessage: (message: From) => void;
  readonly onExit: (exit: EngineExit) => void;
}

/** `To` and `From` are the messages that this kind of engine understands and sends. */
export class EngineProcess<To, From> {
  private readonly child: Spawned["child"];
  private readonly stderrTail: string[] = [];
  /** Closed here: Bun leaves it open when the process is gone. Then undefined, as another file may get its number. */
  private socket: ChildSocket | undefined;
  /** Whether it was asked to end. */
  private isEnding = false;
  private culprit: JobKey | undefined;
  private file: string | undefined;

  constructor(options: EngineProcessOptions<From>) {
    const spawned = takeAhead(options) ?? spawn(options);
    spawned.receive = (message) => options.onMessage(message as From);
    this.child = spawned.child;
    this.socket = childSocket(this.child.stdio[3] as unknown as number);
    const stderr = this.collectStderr();
    void this.child.exited.then(async () => {
      this.newLines();
      this.closeSocket();
      await Promise.race([stderr, Bun.sleep(100)]);
      const { exitCode: code, signalCode } = this.child;
      const signal = signalCode === null ? null : String(signalCode);
      options.onExit({ code, signal, stderr: this.stderrTail, culprit: this.culprit, file: this.file });
    });
  }

  get pid(): number {
    return this.child.pid;
  }

  /** Sends a message. Returns false if the process is known to be ending; its exit tells what became of its work. */
  send(message: To): boolean {
    if (this.isEnding || this.child.exitCode !== null || this.child.killed) return false;
    try {
      this.child.send(message);
      return true;
    } catch (error) {
      // A killed process loses its channel some time before its exit is known.
      if (systemErrorCode(error) !== "ERR_IPC_CHANNEL_CLOSED") throw error;
      return false;
    }
  }

  /**
   * Interrupts the computation if most of it is for this job, or for several that are aborted. The job's `cancel`
   * message must also be sent.
   */
  abort(key: JobKey): void {
    const bytes = new Uint8Array(4);
    new DataView(bytes.buffer).setInt32(0, key, true);
    try {
      this.socket?.write(bytes);
    } catch {
      // The process is gone or its socket is full: its exit or the `cancel` message has the same effect.
    }
  }

  /** Returns what the native code has reported of its computations since the last call; undefined if nothing. */
  pulse(): Pulse | undefined {
    const lines = this.newLines();
    const last = lines.at(-1);
    return last === undefined ? undefined : { moved: lines.some((line) => line.startsWith("+")), work: last.slice(1) };
  }

  /** Returns the new lines about computations; remembers the culprit and the last file. */
  private newLines(): string[] {
    const bytes = Buffer.alloc(PULSE_BYTES);
    try {
      const lines = bytes.toString("utf8", 0, this.socket?.read(bytes) ?? 0).split("\n");
      const last = lines.find((line) => line.startsWith("!"));
      if (last !== undefined) this.culprit = Number(last.slice(1));
      const file = lines.findLast((line) => line.startsWith("@"));
      if (file !== undefined) this.file = JSON.parse(file.slice(1)) as string;
      return lines.filter((line) => /^[+-]/.test(line));
    } catch {
      // There is nothing to read, or the process is gone.
      return [];
    }
  }

  /** Kills the process at once, whatever it is doing. Resolves when it is gone. */
  async kill(): Promise<void> {
    this.isEnding = true;
    this.child.kill("SIGKILL");
    await this.child.exited;
  }

  private closeSocket(): void {
    try {
      this.socket?.close();
    } catch {
      // It is closed already.
    }
    this.socket = undefined;
  }

  /**
   * Asks the process to end by the message `request`; ends it by force after `graceMs` milliseconds. Resolves when it is
   * gone.
   */
  async stop(request: To, graceMs: number): Promise<void> {
    this.send(request);
    this.isEnding = true;
    const killer = setTimeout(() => this.child.kill("SIGKILL"), graceMs);
    await this.child.exited;
    clearTimeout(killer);
  }

  private async collectStderr(): Promise<void> {
    let rest = "";
    for await (const chunk of this.child.stderr.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + chunk).split("\n");
      rest = (lines.pop() ?? "").slice(-2000);
      this.stderrTail.push(...lines.filter((line) => line !== ""));
      this.stderrTail.splice(0, this.stderrTail.length - STDERR_LINES);
    }
    if (rest !== "") this.stderrTail.push(rest);
  }
}
