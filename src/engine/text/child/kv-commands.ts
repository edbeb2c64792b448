// Carries out what the scheduler wants done to the KV cache, and holds what was moved out of it into host memory.

import { release } from "../../../../ffi/llama/allocate.ts";
import type { Llama } from "../../../../ffi/llama/api.ts";
import type { KvCommand } from "../../../scheduler/kv/kv-command.ts";
import type { SavedId } from "../../../scheduler/kv/host-entries.ts";
import type { KvDisk } from "./kv-disk.ts";

/** What could not be brought back, and the sequence that holds nothing for that reason. */
export interface Lost {
  readonly sequence: number;
  readonly saved: SavedId;
}

type Of<Type extends KvCommand["type"]> = Extract<KvCommand, { type: Type }>;

export class KvCommands {
  /** In parts; with undefined among them where saving failed. */
  private readonly saved = new Map<SavedId, (Uint8Array | undefined)[]>();

  constructor(
    private readonly llama: Llama,
    /** A part of something was saved, so many bytes. */
    private readonly wrote: (saved: SavedId, bytes: number) => void,
    private readonly disk?: KvDisk,
  ) {}

  /** Returns what could not be restored. */
  run(commands: readonly KvCommand[]): Lost[] {
    const lost: Lost[] = [];
    for (const command of commands) {
      if (command.type === "restore") {
        if (!this.restore(command)) this.lose(command.sequence, command.saved, lost);
        continue;
      }
      // A copy of what could not be restored.
      const source = command.type === "copy" ? lost.find(({ sequence }) => sequence === command.from) : undefined;
      if (command.type === "copy" && source) this.lose(command.to, source.saved, lost);
      else this.carryOut(command);
    }
    return lost;
  }

  /** What was read from disk. */
  keep(id: SavedId, parts: readonly Uint8Array[]): void {
    this.saved.set(id, [...parts]);
  }

  private carryOut(command: Exclude<KvCommand, Of<"restore">>): void {
    switch (command.type) {
      case "copy":
        return this.llama.kvCopy(command.from, command.to, command.position);
      case "remove":
        return void this.llama.kvRemove(command.sequence, command.position, -1);
      case "abandon":
        return this.llama.chunkAbandon();
      case "save":
        return this.save(command);
      case "forget":
        return this.forget(command.saved);
      case "store":
        return this.store(command);
      case "load":
        return void this.disk?.load(command.stored, command.saved);
      case "erase":
        return this.disk?.erase(command.stored);
    }
  }

  private save({ sequence, saved, from, to }: Of<"save">): void {
    const parts = this.saved.get(saved) ?? [];
    this.saved.set(saved, parts);
    const part = this.llama.kvSave(sequence, from, to);
    parts.push(part);
    this.wrote(saved, part?.length ?? 0);
  }

  private restore({ sequence, saved }: Of<"restore">): boolean {
    const parts = this.whole(saved);
    return parts !== undefined && this.llama.kvRestore(sequence, parts);
  }

  private lose(sequence: number, saved: SavedId, lost: Lost[]): void {
    this.llama.kvRemove(sequence, 0, -1);
    lost.push({ sequence, saved });
  }

  private store({ saved, ids, adapterKey, media }: Of<"store">): void {
    const entry = { ids, adapterKey, media };
    const parts = this.whole(saved);
    if (parts && this.disk) {
      this.saved.delete(saved);
      return this.disk.store(entry, parts);
    }
    this.forget(saved);
    this.disk?.fail(entry, "a conversation could not be taken out of the KV cache");
  }

  private forget(id: SavedId): void {
    for (const part of this.saved.get(id) ?? []) if (part) release(part);
    this.saved.delete(id);
  }

  /** All parts, if saving them went well. */
  private whole(id: SavedId): Uint8Array[] | undefined {
    const parts = this.saved.get(id) ?? [];
    const whole = parts.filter((part) => part !== undefined);
    return parts.length > 0 && whole.length === parts.length ? whole : undefined;
  }
}
