// Opens one of our native libraries through bun:ffi, and does what all of them do in the same way. A binding extends it
// with the functions of its own shim.h.

import { dlopen, type FFIFunction } from "bun:ffi";
import { join } from "node:path";
import { enums, symbols } from "../common/symbols.ts";
import { reasonOf, type NativeError, type NativeFailure } from "./native-error.ts";
import { doubt } from "./extract.ts";
import { componentOf, fileName, unpacked } from "./native-files.ts";

type Table = Readonly<Record<string, FFIFunction>>;
export type Native<Symbols extends Table> = ReturnType<typeof dlopen<Symbols>>["symbols"];

/** What differs between libraries. */
interface Shim<Symbols extends Table, Code extends string> {
  /** Name within the file name: `libsvc_<name>`. */
  readonly name: string;
  /** Version of shim.h that the binding was written for; the library must report the same version. */
  readonly abi: number;
  readonly symbols: Symbols;
  /** Names of the library's error codes; the first is "failed". */
  readonly errors: readonly (Code | "failed")[];
  readonly Failure: new (message: string, code?: Code | "failed") => NativeError<Code>;
}

export type LoadState =
  /** `file`: opened now, reported once per file; nothing of it is read before the next poll. */
  | { readonly state: "loading"; readonly progress: number; readonly file?: string }
  | { readonly state: "ready" }
  | { readonly state: "failed"; readonly error: string };

export interface LogLine {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly text: string;
}

const TEXT_BYTES = 64 * 1024;

/** Opens a library and returns its functions. Throws an Error with the system's reason when anything is missing. */
export function openSymbols<Symbols extends Table>(path: string, table: Symbols): Native<Symbols> {
  return dlopen(path, table).symbols;
}

export abstract class NativeLibrary<Symbols extends Table, Code extends string> {
  protected readonly native: Native<Symbols>;
  private readonly decoder = new TextDecoder();
  private readonly encoder = new TextEncoder();
  private readonly common: Native<typeof symbols>;
  /** Buffer for everything that is read as text. */
  private text = new Uint8Array(TEXT_BYTES);

  /**
   * Opens the library in `directory`, unpacking it again first if this program has packed it. Call it once per process.
   * Throws the shim's error naming the path when the library is missing, incomplete or has another version.
   */
  constructor(
    directory: string,
    private readonly shim: Shim<Symbols, Code>,
  ) {
    const path = join(directory, fileName(shim.name));
    try {
      // The cache folder may have been emptied since the server started.
      this.common = openSymbols(unpacked(path), symbols);
      this.native = openSymbols(path, shim.symbols);
    } catch (error) {
      if (componentOf(path)) doubt(directory);
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

  /** Reads abort requests from a pipe, and ends the process when the pipe closes. */
  listenForAborts(fd: number): void {
    this.check(this.common.svc_abort_listen(fd), "listen for aborts");
  }

  /** Returns the log lines since the last call. */
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

  /** Returns the failure of the last call that failed. */
  protected failure(): NativeFailure<Code> {
    const code = this.shim.errors[this.common.svc_last_error_code()] ?? "failed";
    return { error: this.textOf(this.common.svc_last_error(this.text, this.text.length)), code };
  }

  /** Returns `result`, or throws when it is negative. A failure with its own code needs no `action`. */
  protected check(result: number, action: string): number {
    if (result >= 0) return result;
    const { error, code } = this.failure();
    throw new this.shim.Failure(code === "failed" ? `cannot ${action}: ${error}` : error, code);
  }

  /** Returns the name that an enum gives to `result`. Throws when `result` is negative or has no name. */
  protected named<Name>(names: readonly Name[], result: number, action: string): Name {
    const name = names[this.check(result, action)];
    if (name === undefined) throw new this.shim.Failure(`cannot ${action}: the result is ${result}`);
    return name;
  }

  /** Returns the text that `write` puts into a buffer; calls `write` again when the buffer was too small. */
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

  /** Returns UTF-8 with one more byte, because an empty array has no address. */
  protected bytes(text: string): Uint8Array {
    return this.encoder.encode(`${text.toWellFormed()}\0`);
  }

  private textOf(length: number): string {
    return this.decoder.decode(this.text.subarray(0, length));
  }
}

/** Returns the array itself, or for an empty array a substitute that has an address; pass the original length. */
export const addressable = (array: Uint8Array | Float32Array): Uint8Array | Float32Array =>
  array.length > 0 ? array : new Uint8Array(4);

/** Returns all numbers in one array with one more place, because an empty array has no address. */
export function joined(parts: readonly Int32Array[]): Int32Array {
  const all = new Int32Array(parts.reduce((sum, { length }) => sum + length, 1));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/**
 * Replaces half surrogate pairs in values and names: they have no UTF-8, and native code would refuse their escapes.
 */
function wellFormed(_key: string, value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value);
  if (entries.every(([name]) => name.isWellFormed())) return value;
  return Object.fromEntries(entries.map(([name, inner]) => [name.toWellFormed(), inner]));
}
