// The media shim through bun:ffi: a typed API on top, no JSON above this file, and no pointer but those that go on to the
// other library.

import { dlopen, toArrayBuffer, type Pointer } from "bun:ffi";
import { join } from "node:path";
import {
  MediaError,
  type Media,
  type MediaChunk,
  type MediaJob,
  type MediaState,
  type Medium,
  type Projector,
  type ProjectorConfig,
  type ProjectorState,
  type PromptChunk,
} from "./api.ts";
import { symbols } from "./symbols.ts";

/** What this file was written for; the library must say the same. */
const ABI_VERSION = 1;
const LIBRARY = process.platform === "darwin" ? "libsvc_media.dylib" : "libsvc_media.so";
const TEXT_BYTES = 64 * 1024;
/** What the shim returns when a medium is at fault. */
const BAD_MEDIUM = -2;
const FLOAT_BYTES = 4;

/** See svc_media_stats in shim.h. */
export interface MediaStats {
  readonly jobs: number;
  readonly cachedBytes: number;
  readonly cachedChunks: number;
  readonly heldBytes: number;
}

/** The real library can also be looked into. */
export interface NativeMedia extends Media {
  stats(): MediaStats;
  /** A copy of a chunk's embeddings. Throws MediaError while it is not encoded. */
  copyEmbeddings(job: MediaJob, chunk: number): Float32Array;
}

type Native = ReturnType<typeof dlopen<typeof symbols>>["symbols"];
type Description = { readonly kind: "text"; readonly tokens: number } | MediaChunk;

/**
 * Loads the media library in `directory`, after the llama shim of the same folder. Once a process.
 * Throws MediaError naming the path when it is missing or of another version.
 */
export function openMedia(directory: string): NativeMedia {
  const path = join(directory, LIBRARY);
  const native = load(path);
  const version = native.svc_media_abi_version();
  if (version !== ABI_VERSION) {
    throw new MediaError(`${path} has interface version ${version}, this program needs ${ABI_VERSION}: rebuild it`);
  }
  return new Binding(native);
}

function load(path: string): Native {
  try {
    return dlopen(path, symbols).symbols;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new MediaError(`cannot load the native library ${path}: ${reason}`);
  }
}

class Binding implements NativeMedia {
  private text = new Uint8Array(TEXT_BYTES);
  private readonly decoder = new TextDecoder();
  private readonly encoder = new TextEncoder();

  constructor(private readonly native: Native) {}

  loadStart(model: bigint, config: ProjectorConfig): void {
    const json = this.encoder.encode(JSON.stringify(config));
    this.check(this.native.svc_media_load_start(model, json, json.length), "start loading a projector");
  }

  loadPoll(): ProjectorState {
    const state = this.native.svc_media_load_poll();
    if (state === 0) return { state: "loading", progress: this.native.svc_media_load_progress() };
    return state === 1 ? { state: "ready" } : { state: "failed", error: this.lastError() };
  }

  projector(): Projector {
    const length = this.native.svc_media_info(this.text, this.text.length);
    return this.parse(this.check(length, "describe the projector")) as Projector;
  }

  unload(): void {
    this.check(this.native.svc_media_unload(), "unload the projector");
  }

  submit(text: string, media: readonly Medium[]): MediaJob {
    const job = this.check(this.native.svc_media_open(), "open a media job") as MediaJob;
    try {
      for (const medium of media) this.check(this.add(job, medium), `add ${medium.kind}`);
      const bytes = this.bytes(text);
      this.check(this.native.svc_media_prepare(job, bytes, bytes.length - 1), "prepare a prompt");
      return job;
    } catch (error) {
      this.release(job);
      throw error;
    }
  }

  encode(job: MediaJob): boolean {
    return this.check(this.native.svc_media_encode(job), "encode media") === 1;
  }

  wait(timeoutMs: number): MediaJob | undefined {
    const job = this.native.svc_media_wait(timeoutMs);
    return job === 0 ? undefined : (job as MediaJob);
  }

  state(job: MediaJob): MediaState {
    const state = this.native.svc_media_state(job);
    if (state < 0) return { error: this.lastError(), badMedium: state === BAD_MEDIUM };
    if (state === 2) return "prepared";
    if (state === 3) return "encoding";
    return state === 4 ? "encoded" : "preparing";
  }

  chunks(job: MediaJob): PromptChunk[] {
    const { chunks } = this.describe(job);
    const count = chunks.reduce((sum, chunk) => sum + (chunk.kind === "text" ? chunk.tokens : 0), 0);
    // One more than needed: an empty array has no address.
    const tokens = new Int32Array(count + 1);
    this.check(this.native.svc_media_tokens(job, tokens, count), "take a prompt's tokens");
    let from = 0;
    return chunks.map((chunk) => {
      if (chunk.kind !== "text") return chunk;
      from += chunk.tokens;
      return { kind: "text", tokens: tokens.subarray(from - chunk.tokens, from) };
    });
  }

  embeddings(job: MediaJob, chunk: number): bigint {
    return BigInt(this.native.svc_media_embeddings(job, chunk));
  }

  positions(job: MediaJob, chunk: number, first: number, offset: number, count: number): Int32Array {
    const out = new Int32Array(4 * count + 1);
    const written = this.native.svc_media_positions(job, chunk, first, offset, count, out);
    return out.subarray(0, this.check(written, "take positions"));
  }

  release(job: MediaJob): void {
    this.native.svc_media_release(job);
  }

  stats(): MediaStats {
    const length = this.native.svc_media_stats(this.text, this.text.length);
    return this.parse(this.check(length, "count media")) as MediaStats;
  }

  copyEmbeddings(job: MediaJob, chunk: number): Float32Array {
    const address = this.embeddings(job, chunk);
    const entry = this.describe(job).chunks[chunk];
    if (address === 0n || !entry) throw new MediaError("the chunk is not encoded");
    const bytes = entry.tokens * this.projector().width * FLOAT_BYTES;
    return new Float32Array(toArrayBuffer(Number(address) as Pointer, 0, bytes).slice(0));
  }

  private add(job: MediaJob, medium: Medium): number {
    const id = this.bytes(medium.id);
    if (medium.kind === "audio") {
      const { file } = medium;
      return this.native.svc_media_add_audio(job, id, id.length - 1, addressable(file), file.length);
    }
    const { width, height, rgb } = medium;
    return this.native.svc_media_add_image(job, id, id.length - 1, width, height, addressable(rgb), rgb.length);
  }

  private describe(job: MediaJob): { readonly chunks: readonly Description[] } {
    let length = this.native.svc_media_describe(job, this.text, this.text.length);
    if (length < -1) {
      this.text = new Uint8Array(-length);
      length = this.native.svc_media_describe(job, this.text, this.text.length);
    }
    return this.parse(this.check(length, "describe a prompt")) as { chunks: Description[] };
  }

  /** Returns `result`, or throws with the library's own sentence when it is negative. */
  private check(result: number, action: string): number {
    if (result >= 0) return result;
    const reason = this.lastError();
    // What is wrong with a medium is for clients, who do not care what the program was doing.
    if (result === BAD_MEDIUM) throw new MediaError(reason, true);
    throw new MediaError(`cannot ${action}: ${reason}`);
  }

  private parse(length: number): unknown {
    return JSON.parse(this.decoder.decode(this.text.subarray(0, length)));
  }

  private lastError(): string {
    const length = this.native.svc_media_last_error(this.text, this.text.length);
    return this.decoder.decode(this.text.subarray(0, length));
  }

  /** UTF-8, and one byte more: an empty array has no address. */
  private bytes(text: string): Uint8Array {
    return this.encoder.encode(`${text.toWellFormed()}\0`);
  }
}

/** An empty array has no address; its length says that nothing of this one counts. */
const addressable = (bytes: Uint8Array): Uint8Array => (bytes.length > 0 ? bytes : new Uint8Array(1));
