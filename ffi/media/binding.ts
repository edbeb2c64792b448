// Binds the media shim through bun:ffi; above this file there is no JSON, and no pointer except for the llama library.

import { addressable, NativeLibrary } from "../runtime/library.ts";
import {
  MEDIA_ERRORS,
  MEDIA_STAGES,
  MediaError,
  type Media,
  type MediaChunk,
  type MediaErrorCode,
  type MediaJob,
  type MediaState,
  type Medium,
  type Projector,
  type ProjectorConfig,
  type PromptChunk,
} from "./api.ts";
import { ABI_VERSION, symbols } from "./symbols.ts";

const shim = { name: "media", abi: ABI_VERSION, symbols, errors: MEDIA_ERRORS, Failure: MediaError };

/** See svc_media_stats in shim.h. */
interface MediaStats {
  readonly jobs: number;
  readonly cachedBytes: number;
}

type Description = { readonly kind: "text"; readonly tokens: number } | MediaChunk;

/**
 * Loads the media library in `directory`, after the llama shim of the same folder. Call it once per process, and unload
 * the projector before the model. Throws MediaError naming the path when the library is missing or has another version.
 */
export const openMedia = (directory: string): NativeMedia => new NativeMedia(directory, shim);

export class NativeMedia extends NativeLibrary<typeof symbols, MediaErrorCode> implements Media {
  /** `model`: address of the loaded llama_model. */
  loadStart(model: bigint, config: ProjectorConfig): void {
    // No client can guess it: one that could write it into a message would shift the media after it.
    const marker = `<__media_${crypto.randomUUID().replaceAll("-", "")}__>`;
    const json = this.json({ ...config, marker });
    this.check(this.native.svc_media_load_start(model, json, json.length), "start loading a projector");
  }

  projector(): Projector {
    return this.readJson(this.native.svc_media_info, "describe the projector") as Projector;
  }

  submit(text: string, media: readonly Medium[], client = ""): MediaJob {
    const owner = this.bytes(client);
    const job = this.check(this.native.svc_media_open(owner, owner.length - 1), "open a media job") as MediaJob;
    let added = 0;
    try {
      for (; added < media.length; added++) this.add(job, media[added] as Medium);
      const bytes = this.bytes(text);
      this.check(this.native.svc_media_prepare(job, bytes, bytes.length - 1), "prepare a prompt");
      return job;
    } catch (error) {
      this.release(job);
      if (error instanceof MediaError && added < media.length) error.medium = added;
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
    const stage = this.native.svc_media_state(job);
    if (stage < 0) return { ...this.failure(), ...(stage < -1 && { medium: -2 - stage }) };
    return this.named(MEDIA_STAGES, stage, "look at a job");
  }

  chunks(job: MediaJob): PromptChunk[] {
    const json = this.readJson((out, size) => this.native.svc_media_describe(job, out, size), "describe a prompt");
    const { chunks } = json as { readonly chunks: readonly Description[] };
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

  embeddings(job: MediaJob, chunk: number, offset = 0): bigint {
    return BigInt(this.native.svc_media_embeddings(job, chunk, offset));
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
    return this.readJson(this.native.svc_media_stats, "count media") as MediaStats;
  }

  private add(job: MediaJob, medium: Medium): void {
    const id = this.bytes(medium.id);
    const bytes = medium.kind === "audio" ? medium.bytes : medium.rgb;
    const content = [addressable(bytes), bytes.length] as const;
    const result =
      medium.kind === "audio"
        ? this.native.svc_media_add_audio(job, id, id.length - 1, ...content)
        : this.native.svc_media_add_image(job, id, id.length - 1, medium.width, medium.height, ...content);
    this.check(result, `add ${medium.kind}`);
  }
}
