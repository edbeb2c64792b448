// Decodes containers with Symphonia as WebAssembly (vendor/sound-decoder), one instance per file. Whatever a file
// contains, the decoder can neither use more than its own memory nor end the process.

import { readFileSync } from "node:fs";
import wasmPath from "../../../vendor/sound-decoder/sound-decoder.wasm" with { type: "file" };
import type { SoundBytes } from "./sound-bytes.ts";

const END = -1;
const UNSUPPORTED = -3;
const NO_SOUND = -4;

/** Times the file's size that may be read: seeking rereads a file several times, but a reader must not read forever. */
const READ_OVER = 16;
const SPARE_BYTES = 1 << 24;
const SPARE_READS = 1 << 14;
const LEAST_READ = 256;
/** Fewest bytes that a packet takes in a file; what a malicious file only claims takes none. */
const LEAST_PACKET = 4;

interface Exports {
  readonly memory: WebAssembly.Memory;
  open(kind: number, size: number, isSeekable: number): number;
  next(): number;
  output(): number;
  rate(): number;
  time(): number;
  trim_start(): number;
  trim_end(): number;
  head(): number;
  head_length(): number;
}

/** Thrown when the file is damaged or invalid. */
export class DamagedSound extends Error {
  override readonly name = "DamagedSound";
}

/** Thrown when a file has content that is not decoded here; another program may decode it. */
export class UnsupportedSound extends Error {
  override readonly name = "UnsupportedSound";
}

/** The content of one packet. */
type Packet =
  | {
      readonly kind: "samples";
      /** Samples of one channel; valid until the next packet is read. */
      readonly samples: Float32Array;
      readonly rate: number;
      /** Where the packet begins, in seconds by the file's clock, which may begin anywhere; below too. */
      readonly at: number;
    }
  | {
      readonly kind: "opus";
      readonly bytes: Uint8Array;
      /** Seconds at the beginning and end that must not be played. */
      readonly trimStart: number;
      readonly trimEnd: number;
      readonly at: number;
    }
  /** The packet belongs to another track, or is damaged. */
  | { readonly kind: "nothing" };

let compiled: WebAssembly.Module | undefined;
const decoderModule = (): WebAssembly.Module => (compiled ??= new WebAssembly.Module(readFileSync(wasmPath)));

export class ContainerReader {
  private readonly wasm: Exports;
  private readonly isOpus: boolean;
  /** Bytes that may still be read from the file. */
  private bytesLeft: number;
  private readsLeft: number;
  /** How many packets without sound may still come. */
  private emptyLeft: number;

  /**
   * Opens a file. `container`: the number of its format. `isSeekable`: looks for tables at its end. Throws
   * DamagedSound, or UnsupportedSound when the sound has a coding that is not supported here.
   */
  constructor(
    private readonly file: SoundBytes,
    container: number,
    isSeekable: boolean,
  ) {
    this.bytesLeft = file.size * READ_OVER + SPARE_BYTES;
    this.readsLeft = this.bytesLeft / LEAST_READ + SPARE_READS;
    this.emptyLeft = file.size / LEAST_PACKET;
    const host = { read: (offset: number, out: number, length: number) => this.read(offset, out, length) };
    this.wasm = new WebAssembly.Instance(decoderModule(), { host }).exports as unknown as Exports;
    const opened = this.call(() => this.wasm.open(container, file.size, isSeekable ? 1 : 0));
    if (opened === END) throw new DamagedSound("a file that ends before its sound begins");
    this.isOpus = this.checked(opened) === 1;
  }

  /** The identification header of an Opus track; undefined for other kinds of tracks. */
  get opusHead(): Uint8Array | undefined {
    return this.isOpus ? this.bytes(this.wasm.head(), this.wasm.head_length()) : undefined;
  }

  /** Returns the next packet; undefined at the end. Throws as the constructor does. */
  next(): Packet | undefined {
    const length = this.call(() => this.wasm.next());
    if (length === END) return undefined;
    if (this.checked(length) === 0) {
      if (this.emptyLeft-- <= 0) throw new DamagedSound("a file of packets without content");
      return { kind: "nothing" };
    }
    const { wasm } = this;
    const at = wasm.time();
    if (!this.isOpus) {
      const samples = new Float32Array(wasm.memory.buffer, wasm.output(), length);
      return { kind: "samples", samples, rate: wasm.rate(), at };
    }
    const bytes = this.bytes(wasm.output(), length);
    return { kind: "opus", bytes, trimStart: wasm.trim_start(), trimEnd: wasm.trim_end(), at };
  }

  private bytes(at: number, length: number): Uint8Array {
    return new Uint8Array(this.wasm.memory.buffer, at, length).slice();
  }

  private read(offset: number, out: number, length: number): number {
    this.bytesLeft -= length;
    this.readsLeft -= 1;
    if (this.bytesLeft < 0 || this.readsLeft < 0) throw new DamagedSound("a file that leads in circles");
    return offset < this.file.size ? this.file.read(offset, new Uint8Array(this.wasm.memory.buffer, out, length)) : 0;
  }

  /** Converts a trap, the result of a panic or of too little memory, to DamagedSound. */
  private call(run: () => number): number {
    try {
      return run();
    } catch (error) {
      if (error instanceof WebAssembly.RuntimeError) throw new DamagedSound("a damaged file");
      throw error;
    }
  }

  private checked(code: number): number {
    if (code >= 0) return code;
    if (code === UNSUPPORTED) throw new UnsupportedSound("a coding that is not decoded here");
    throw new DamagedSound(code === NO_SOUND ? "a file without a sound track" : "a damaged file");
  }
}
