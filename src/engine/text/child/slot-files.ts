// Saves, restores and erases slots, one action after another, between the decode steps of requests.

import { release } from "../../../../ffi/llama/allocate.ts";
import type { Clock } from "../../../domain/clock.ts";
import { SvcError } from "../../../domain/errors.ts";
import type { SlotAction, SlotOutcome } from "../../../domain/slots.ts";
import type { Scheduler } from "../../../scheduler/scheduler.ts";
import type { JobKey } from "../../process/protocol.ts";
import type { Prefix } from "../../../scheduler/kv/prefix-index.ts";
import type { KvCommands } from "./kv-commands.ts";
import { fileBytes } from "./kv-file.ts";
import { badFile, type SlotFolder } from "./slot-folder.ts";

interface SlotHandlers {
  /** Executes the commands for the KV cache; returns false when a restore failed. */
  prepare(): boolean;
  /** Called when the action starts: if the process dies from here on, the action is the cause. */
  started(key: JobKey): void;
  answered(key: JobKey, outcome: SlotOutcome): void;
  refused(key: JobKey, error: SvcError): void;
}

/** What is saved for an empty slot. */
const NOTHING: Prefix = { ids: new Int32Array(0), adapterKey: "", media: [] };

export class SlotFiles {
  private turn: Promise<void> = Promise.resolve();
  /** Actions that were not cancelled or finished. */
  private readonly wanted = new Set<JobKey>();
  private roomMade: (() => void) | undefined;

  constructor(
    private readonly folder: SlotFolder,
    private readonly scheduler: Pick<Scheduler, "kv" | "slots">,
    private readonly commands: Pick<KvCommands, "take" | "put" | "drop">,
    /** Most tokens of a sequence. */
    private readonly capacity: number,
    private readonly clock: Clock,
    private readonly handlers: SlotHandlers,
  ) {}

  /** Takes an action, which is executed after those before it. */
  submit(key: JobKey, action: SlotAction): void {
    this.wanted.add(key);
    this.turn = this.turn.then(() => this.run(key, action));
  }

  /** Cancels an action: if it has not begun, it never does. */
  cancel(key: JobKey): void {
    this.wanted.delete(key);
    this.roomMade?.();
  }

  /** Called when a request has ended: there may now be capacity for a waiting action. */
  ended(): void {
    this.roomMade?.();
  }

  private async run(key: JobKey, action: SlotAction): Promise<void> {
    if (!this.wanted.has(key)) return;
    const begun = this.clock.now();
    try {
      const done = await this.carryOut(key, action);
      this.handlers.answered(key, { ...done, ms: this.clock.now() - begun });
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      this.handlers.refused(key, error);
    }
    this.wanted.delete(key);
  }

  private carryOut(key: JobKey, action: SlotAction): Promise<Omit<SlotOutcome, "ms">> {
    if (action.type === "save") return this.save(key, action.slot, action.filename);
    if (action.type === "restore") return this.restore(key, action.slot, action.filename);
    const tokens = this.scheduler.slots.erase(action.slot);
    this.handlers.prepare();
    return Promise.resolve({ tokens, bytes: 0 });
  }

  private async save(key: JobKey, slot: number, filename: string): Promise<Omit<SlotOutcome, "ms">> {
    const { entry, parts } = await this.whenThereIsRoom(key, () => this.offload(slot));
    try {
      await this.folder.write(filename, entry, parts);
      return { tokens: entry.ids.length, bytes: fileBytes(entry, parts) };
    } finally {
      parts.forEach(release);
    }
  }

  /** Returns what a slot holds, and its state; undefined while every sequence is running. */
  private offload(slot: number): { readonly entry: Prefix; readonly parts: readonly Uint8Array[] } | undefined {
    const { slots, kv } = this.scheduler;
    if (!kv.hasPlace) return undefined;
    const saved = slots.save(slot, this.clock.now());
    if (!saved) return { entry: NOTHING, parts: [] };
    this.handlers.prepare();
    const parts = this.commands.take(saved.hostId);
    if (parts) return { entry: saved.prefix, parts };
    throw new SvcError("server_busy", "The state of the slot could not be copied out of the KV cache: try again.");
  }

  private async restore(key: JobKey, slot: number, filename: string): Promise<Omit<SlotOutcome, "ms">> {
    const entry = await this.folder.header(filename);
    const { length } = entry.ids;
    if (length > this.capacity) {
      throw badFile(`holds ${length} tokens; the context has room for ${this.capacity}`);
    }
    const parts = await this.folder.read(filename, entry);
    const bytes = fileBytes(entry, parts);
    if (length > 0) await this.load(key, entry, parts);
    this.scheduler.slots.hold(slot, entry);
    return { tokens: length, bytes };
  }

  private async load(key: JobKey, entry: Prefix, parts: readonly Uint8Array[]): Promise<void> {
    const { kv } = this.scheduler;
    const hostId = kv.host.newId();
    this.commands.put(hostId, parts);
    try {
      const isAccepted = await this.whenThereIsRoom(key, () => {
        // Restores for other requests must not count here.
        this.handlers.prepare();
        if (!kv.adopt(entry, hostId, this.clock.now())) return undefined;
        this.handlers.started(key);
        return this.handlers.prepare();
      });
      if (!isAccepted) throw badFile("has a state that the model does not accept");
    } finally {
      this.commands.drop(hostId);
    }
  }

  /** Repeats `attempt` whenever a request ends, until it returns a result. Throws once the action is cancelled. */
  private async whenThereIsRoom<T>(key: JobKey, attempt: () => T | undefined): Promise<T> {
    for (;;) {
      if (!this.wanted.has(key)) throw new SvcError("request_cancelled", "The request was cancelled.");
      const result = attempt();
      if (result !== undefined) return result;
      await new Promise<void>((resolve) => (this.roomMade = resolve));
    }
  }
}
