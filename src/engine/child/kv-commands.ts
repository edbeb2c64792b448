// Carries out what the scheduler wants done to the KV cache, and holds what was moved out of it.

import type { Llama } from "../../../ffi/llama/api.ts";
import type { KvCommand } from "../../scheduler/kv-command.ts";

export class KvCommands {
  /** In parts; with undefined among them where saving failed. */
  private readonly saved = new Map<number, (Uint8Array | undefined)[]>();

  constructor(private readonly llama: Llama) {}

  /** Returns the sequences that could not be restored: they hold nothing. */
  run(commands: readonly KvCommand[]): number[] {
    const lost: number[] = [];
    for (const command of commands) {
      if (command.type === "copy") this.llama.kvCopy(command.from, command.to, command.position);
      else if (command.type === "remove") this.llama.kvRemove(command.sequence, command.position, -1);
      else if (command.type === "abandon") this.llama.chunkAbandon();
      else if (command.type === "forget") this.saved.delete(command.saved);
      else if (command.type === "save") this.save(command);
      else if (!this.restore(command.sequence, command.saved)) lost.push(command.sequence);
    }
    return lost;
  }

  private save({ sequence, saved, from, to }: Extract<KvCommand, { type: "save" }>): void {
    const parts = this.saved.get(saved) ?? [];
    this.saved.set(saved, parts);
    parts.push(this.llama.kvSave(sequence, from, to));
  }

  private restore(sequence: number, id: number): boolean {
    const parts = this.saved.get(id) ?? [];
    const whole = parts.filter((part) => part !== undefined);
    if (parts.length > 0 && whole.length === parts.length && this.llama.kvRestore(sequence, whole)) return true;
    this.llama.kvRemove(sequence, 0, -1);
    return false;
  }
}
