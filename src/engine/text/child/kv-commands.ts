// Executes the scheduler's commands on the KV cache, and holds the bytes of the host cache.

import { release } from "../../../../ffi/llama/allocate.ts";
import type { Llama } from "../../../../ffi/llama/api.ts";
import type { Clock } from "../../../domain/clock.ts";
import type { HostCache } from "../../../scheduler/kv/host-cache.ts";
import type { HostId } from "../../../scheduler/kv/host-entries.ts";
import type { KvCommand } from "../../../scheduler/kv/kv-command.ts";
import type { KvDisk } from "./kv-disk.ts";

type Of<Type extends KvCommand["type"]> = Extract<KvCommand, { type: Type }>;

export class KvCommands {
  /** The parts of each entry; undefined for a part that could not be offloaded. */
  private readonly entries = new Map<HostId, (Uint8Array | undefined)[]>();

  constructor(
    private readonly llama: Llama,
    private readonly host: Pick<HostCache, "wrote" | "readEnded" | "restoreFailed">,
    private readonly clock: Pick<Clock, "now">,
    private readonly disk?: KvDisk,
  ) {}

  /** Executes commands; returns the sequences that are empty in the end, because they could not be restored. */
  run(commands: readonly KvCommand[]): ReadonlySet<number> {
    const lost = new Set<number>();
    for (const command of commands) this.carryOut(command, lost);
    return lost;
  }

  /** Removes an entry and returns its state; undefined if it could not be offloaded completely. */
  take(hostId: HostId): Uint8Array[] | undefined {
    const parts = this.whole(hostId);
    if (parts) this.entries.delete(hostId);
    else this.drop(hostId);
    return parts;
  }

  /** Stores a state under an id, from which it can be restored. */
  put(hostId: HostId, parts: readonly Uint8Array[]): void {
    this.entries.set(hostId, [...parts]);
  }

  /** Frees an entry. */
  drop(hostId: HostId): void {
    for (const part of this.entries.get(hostId) ?? []) if (part) release(part);
    this.entries.delete(hostId);
  }

  private carryOut(command: KvCommand, lost: Set<number>): void {
    switch (command.type) {
      case "copy":
        return this.copy(command, lost);
      case "move":
        return this.move(command, lost);
      case "restore":
        return this.restore(command, lost);
      case "trim":
        return this.trim(command, lost);
      case "abandon":
        return this.llama.chunkAbandon();
      case "offload":
        return this.offload(command, lost);
      case "drop":
        return this.drop(command.hostId);
      case "write":
        return this.write(command);
      case "read":
        return void this.disk?.read(command.diskId, (parts) => this.readEnded(command.hostId, parts));
      case "delete":
        return this.disk?.delete(command.diskId);
    }
  }

  private copy({ from, to, position, cells }: Of<"copy">, lost: Set<number>): void {
    if (lost.has(from)) return this.lose(to, lost);
    lost.delete(to);
    this.llama.kvCopy(from, to, position, cells);
  }

  private move({ from, to }: Of<"move">, lost: Set<number>): void {
    if (lost.delete(from)) return this.lose(to, lost);
    lost.delete(to);
    this.llama.kvMove(from, to);
  }

  private restore({ sequence, hostId }: Of<"restore">, lost: Set<number>): void {
    lost.delete(sequence);
    const parts = this.whole(hostId);
    if (parts && this.llama.kvRestore(sequence, parts)) return;
    this.lose(sequence, lost);
    this.host.restoreFailed(hostId);
  }

  private lose(sequence: number, lost: Set<number>): void {
    this.llama.kvRemove(sequence, 0, -1);
    lost.add(sequence);
  }

  private trim({ sequence, position, cells }: Of<"trim">, lost: Set<number>): void {
    // From here on, the sequence belongs to nobody or to a request that computes it from its start.
    if (position === 0) lost.delete(sequence);
    this.llama.kvRemove(sequence, position, -1);
    if (cells !== undefined) this.llama.kvRelease(sequence, cells);
  }

  /** What is offloaded from a sequence that could not be restored fails, too. */
  private offload({ sequence, hostId, from, to }: Of<"offload">, lost: ReadonlySet<number>): void {
    this.add(hostId, lost.has(sequence) ? undefined : this.llama.kvSave(sequence, from, to));
  }

  /** Adds the next part of an entry; undefined: it could not be offloaded. */
  private add(hostId: HostId, part: Uint8Array | undefined): void {
    this.entries.set(hostId, [...(this.entries.get(hostId) ?? []), part]);
    this.host.wrote(hostId, part?.length ?? 0, this.clock.now());
  }

  private write({ hostId, ids, adapterKey, media, at }: Of<"write">): void {
    const entry = { ids, adapterKey, media };
    const parts = this.whole(hostId);
    if (parts && this.disk) {
      this.entries.delete(hostId);
      return this.disk.write(entry, parts, this.clock.now() - at);
    }
    this.drop(hostId);
    this.disk?.fail(entry, "a conversation could not be offloaded from the KV cache");
  }

  private readEnded(hostId: HostId, parts: Uint8Array[] | undefined): void {
    if (parts) this.put(hostId, parts);
    const bytes = parts?.reduce((sum, { length }) => sum + length, 0);
    this.host.readEnded(hostId, bytes, this.clock.now());
  }

  /** Returns all parts, or undefined if any could not be offloaded. */
  private whole(hostId: HostId): Uint8Array[] | undefined {
    const parts = this.entries.get(hostId) ?? [];
    const whole = parts.filter((part) => part !== undefined);
    return parts.length > 0 && whole.length === parts.length ? whole : undefined;
  }
}
