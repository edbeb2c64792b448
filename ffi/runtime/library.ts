// A native library of ours through bun:ffi: opening it, and what all of them do in the same way. A binding extends it with
// the functions of its own shim.h.

import { dlopen, type FFIFunction } from "bun:ffi";
import { join } from "node:path";
import { enums, symbols } from "../common/symbols.ts";
import { reasonOf, type NativeError, type NativeFailure } from "./native-error.ts";
import { fileName, unpacked } from "./native-files.ts";

type Table = Readonly<Record<string, FFIFunction>>;
export type Native<Symbols extends Table> = ReturnType<typeof dlopen<Symbols>>["symbols"];

/** What is particular to a library. */
interface Shim<Symbols extends Table, Code extends string> {
  /** As its file is called: `libsvc_<name>`. */
  readonly name: string;
  /** Version of shim.h that the binding was written for; the library must say the same. */
  readonly abi: number;
  readonly symbols: Symbols;
  /** Names of its error codes; the first is "failed". */
  readonly errors: readonly (Code | "failed")[];
  readonly Failure: new (message: string, code?: Code | "failed") => NativeError<Code>;
}

export type LoadState =
  /** `file`: is opened now, once a file; nothing of it is read before the next poll. */
  | { readonly state: "loading"; readonly progress: number; readonly file?: string }
  | { readonly state: "ready" }
  | { readonly state: "failed"; readonly error: string };

export interface LogLine {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly text: string;
}

const TEXT_BYTES = 64 * 1024;

/** The functions of a library. Throws an Error with the system's reason when it or one of them is missing. */
export function openSymbols<Symbols extends Table>(path: string, table: Symbols): Native<Symbols> {
  return dlopen(path, table).symbols;
}

export abstract class NativeLibrary<Symbols extends Table, Code extends string> {
  protected readonly native: Native<Symbols>;
  private readonly decoder = new TextDecoder();
  private readonly encoder = new TextEncoder();
  private readonly common: Native<typeof symbols>;
  /** For whatever is read out as text. */
  private text = new Uint8Array(TEXT_BYTES);

  /**
   * Opens the library in `directory`. Once a process. Throws the shim's error naming the path when it is missing, incomplete
   * or of another version; one that this program has packed is put back first.
   */
  constructor(
    directory: string,
    private readonly shim: Shim<Symbols, Code>,
  ) {
    const path = join(directory, fileName(shim.name));
    try {
      // Somebody may have emptied the cache folder since the server began.
      this.common = openSymbols(unpacked(path), symbols);
      this.native = openSymbols(path, shim.symbols);
    } catch (error) {
      throw new shim.Failure(`cannot load the native library ${path}: ${reasonOf(error)}`);
    }
    const version = this.common.svc_abi_version();
    if (version === shim.abi) return;
    throw new shim.Failure(`${path} has interface version ${version}, this program needs ${shim.abi}: rebuild it`);
  }

  loadPoll(): LoadState {
    const state = this.common.svc_load_poll();
    if (state < 0) return { state: "failed", error: this.failure().error };
    if (enums.svc_load[state] === "ready") return { state: "ready" };
    const progress = this.common.svc_load_progress();
    if (enums.svc_load[state] === "loading") return { state: "loading", progress };
    const file = this.read((out, capacity) => this.common.svc_load_file(out, capacity), "read a path");
    return { state: "loading", progress, file };
  }

  /** Frees what is loaded and everything made with it, so that something else can be loaded. Throws while loading. */
  unload(): void {
    this.check(this.common.svc_unload(), "unload");
  }

  /** Reads abort requests from a pipe, and ends the process when that closes. */
  listenForAborts(fd: number): void {
    this.check(this.common.svc_abort_listen(fd), "listen for aborts");
  }

  /** Log lines since the last call. */
  drainLog(): LogLine[] {
    const lines: LogLine[] = [];
    for (;;) {
      const length = this.common.svc_log_drain(this.text, this.text.length);
      if (length === 0) return lines;
      for (const line of this.textOf(length).trimEnd().split("\n")) {
        const tab = line.indexOf("\t");
        lines.push({ level: line.slice(0, tab) as LogLine["level"], text: line.slice(tab + 1) });
      }
    }
  }

  /** What the last call that failed left behind. */
  protected failure(): NativeFailure<Code> {
    const code = this.shim.errors[this.common.svc_last_error_code()] ?? "failed";
    return { error: this.textOf(this.common.svc_last_error(this.text, this.text.length)), code };
  }

  /** Returns `result`, or throws when it is negative. A failure with a code of its own says all that matters. */
  protected check(result: number, action: string): number {
    if (result >= 0) return result;
    const { error, code } = this.failure();
    throw new this.shim.Failure(code === "failed" ? `cannot ${action}: ${error}` : error, code);
  }

  /** The name that an enum gives to `result`. Throws when that is negative. */
  protected named<Name>(names: readonly Name[], result: number, action: string): Name {
    const name = names[this.check(result, action)];
    if (name === undefined) throw new this.shim.Failure(`cannot ${action}: the result is ${result}`);
    return name;
  }

  /** The text that `write` puts into a buffer; it is called again where that is too small. */
  protected read(write: (out: Uint8Array, capacity: number) => number, action: string): string {
    let length = write(this.text, this.text.length);
    // A failure is -1; no text needs a buffer of one byte.
    if (length < -1) {
      this.text = new Uint8Array(-length);
      length = write(this.text, this.text.length);
    }
    return this.textOf(this.check(length, action));
  }

  protected readJson(write: (out: Uint8Array, capacity: number) => number, action: string): unknown {
    return JSON.parse(this.read(write, action));
  }

  protected json(value: unknown): Uint8Array {
    return this.encoder.encode(JSON.stringify(value, wellFormed));
  }

  /** UTF-8, and one byte more: an empty array has no address. */
  protected bytes(text: string): Uint8Array {
    return this.encoder.encode(`${text.toWellFormed()}\0`);
  }

  private textOf(length: number): string {
    return this.decoder.decode(this.text.subarray(0, length));
  }
}

/** The array itself, or where that is empty one that has an address; its length says that nothing of this one counts. */
export const addressable = (array: Uint8Array | Float32Array): Uint8Array | Float32Array =>
  array.length > 0 ? array : new Uint8Array(4);

/** All numbers in one array, and one place more: an empty array has no address. */
export function joined(parts: readonly Int32Array[]): Int32Array {
  const all = new Int32Array(parts.reduce((sum, { length }) => sum + length, 1));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** C structs, one after the other, whose `fields` are numbers of 32 bits in this order. */
export const packed = <Field extends string>(
  fields: readonly Field[],
  rows: readonly Readonly<Record<Field, number>>[],
): Int32Array => Int32Array.from(rows.flatMap((row) => fields.map((field) => row[field])));

/** Half a surrogate pair has no UTF-8, in a value or in a name; the native side would refuse its escape. */
function wellFormed(_key: string, value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value);
  if (entries.every(([name]) => name.isWellFormed())) return value;
  return Object.fromEntries(entries.map(([name, inner]) => [name.toWellFormed(), inner]));
}
