// Carries out what the scheduler wants done to the KV cache, and holds what was moved out of it.

import type { Llama } from "../../../ffi/llama/api.ts";
import type { KvCommand } from "../../scheduler/kv-cache.ts";

export class KvCommands {
  private readonly saved = new Map<number, Uint8Array>();

  constructor(private readonly llama: Llama) {}

  /** Returns the sequences that could not be restored: they hold nothing. */
  run(commands: readonly KvCommand[]): number[] {
    const lost: number[] = [];
    for (const command of commands) {
      if (command.type === "copy") this.llama.kvCopy(command.from, command.to, command.position);
      else if (command.type === "remove") this.llama.kvRemove(command.sequence, command.position, -1);
      else if (command.type === "forget") this.saved.delete(command.saved);
      else if (command.type === "save") this.save(command.sequence, command.saved);
      else if (!this.restore(command.sequence, command.saved)) lost.push(command.sequence);
    }
    return lost;
  }

  private save(sequence: number, id: number): void {
    const bytes = this.llama.kvSave(sequence);
    if (bytes) this.saved.set(id, bytes);
  }

  private restore(sequence: number, id: number): boolean {
    const bytes = this.saved.get(id);
    return bytes !== undefined && this.llama.kvRestore(sequence, bytes);
  }
}
