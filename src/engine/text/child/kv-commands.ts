// Executes the scheduler's commands on the KV cache, and holds the bytes of the host cache.

import { release } from "../../../../ffi/llama/allocate.ts";
import type { Llama } from "../../../../ffi/llama/api.ts";
import type { Clock } from "../../../domain/clock.ts";
import type { HostCache } from "../../../scheduler/kv/host-cache.ts";
import type { HostId } from "../../../scheduler/kv/host-entries.ts";
import type { KvCommand } from "../../../scheduler/kv/kv-command.ts";
import type { KvDisk } from "./kv-disk.ts";

/** An entry of the host cache that could not be restored, and the sequence that is therefore empty. */
interface FailedRestore {
  readonly sequence: number;
  readonly hostId: HostId;
}

type Of<Type extends KvCommand["type"]> = Extract<KvCommand, { type: Type }>;

export class KvCommands {
  /** The parts of each entry; undefined for a part that could not be offloaded. */
  private readonly entries = new Map<HostId, (Uint8Array | undefined)[]>();

  constructor(
    private readonly llama: Llama,
    private readonly host: Pick<HostCache, "wrote" | "readEnded">,
    private readonly clock: Pick<Clock, "now">,
    private readonly disk?: KvDisk,
  ) {}

  /** Executes commands; returns the entries that could not be restored. */
  run(commands: readonly KvCommand[]): FailedRestore[] {
    const failed: FailedRestore[] = [];
    for (const command of commands) {
      if (command.type === "restore") {
        if (!this.restore(command)) this.fail(command.sequence, command.hostId, failed);
        continue;
      }
      // What is copied or offloaded from a sequence that could not be restored fails too.
      const source = command.type === "copy" ? failed.find(({ sequence }) => sequence === command.from) : undefined;
      if (command.type === "copy" && source) this.fail(command.to, source.hostId, failed);
      else if (command.type === "offload" && failed.some(({ sequence }) => sequence === command.sequence)) {
        this.add(command.hostId, undefined);
      } else this.carryOut(command);
    }
    return failed;
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

  private carryOut(command: Exclude<KvCommand, Of<"restore">>): void {
    switch (command.type) {
      case "copy":
        return this.llama.kvCopy(command.from, command.to, command.position, command.cells);
      case "trim":
        this.llama.kvRemove(command.sequence, command.position, -1);
        if (command.cells !== undefined) this.llama.kvGiveBack(command.sequence, command.cells);
        return;
      case "abandon":
        return this.llama.chunkAbandon();
      case "offload":
        return this.offload(command);
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

  private offload({ sequence, hostId, from, to }: Of<"offload">): void {
    this.add(hostId, this.llama.kvSave(sequence, from, to));
  }

  /** Adds the next part of an entry; undefined: it could not be offloaded. */
  private add(hostId: HostId, part: Uint8Array | undefined): void {
    this.entries.set(hostId, [...(this.entries.get(hostId) ?? []), part]);
    this.host.wrote(hostId, part?.length ?? 0, this.clock.now());
  }

  private restore({ sequence, hostId }: Of<"restore">): boolean {
    const parts = this.whole(hostId);
    return parts !== undefined && this.llama.kvRestore(sequence, parts);
  }

  private fail(sequence: number, hostId: HostId, failed: FailedRestore[]): void {
    this.llama.kvRemove(sequence, 0, -1);
    failed.push({ sequence, hostId });
  }

  private write({ hostId, ids, adapterKey, media }: Of<"write">): void {
    const entry = { ids, adapterKey, media };
    const parts = this.whole(hostId);
    if (parts && this.disk) {
      this.entries.delete(hostId);
      return this.disk.write(entry, parts);
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
