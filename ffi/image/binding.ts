// Binds the image shim through bun:ffi; callers above this file see a typed API, never JSON or pointers.

import { addressable, NativeLibrary } from "../runtime/library.ts";
import {
  IMAGE_ERRORS,
  IMAGE_STAGES,
  ImageError,
  type DrawOptions,
  type DrawProgress,
  type DrawState,
  type ImageConfig,
  type ImageErrorCode,
  type ImageLibrary,
  type ImageTraits,
} from "./api.ts";
import { ABI_VERSION, symbols } from "./symbols.ts";

const shim = { name: "image", abi: ABI_VERSION, symbols, errors: IMAGE_ERRORS, Failure: ImageError };

/**
 * Loads the image library in `directory`. Call it once per process, and never in a process that has loaded the llama
 * library: each library has its own ggml.
 * Throws ImageError naming the path when the library is missing or has another version.
 */
export const openImageLibrary = (directory: string): NativeImageLibrary => new NativeImageLibrary(directory, shim);

export class NativeImageLibrary extends NativeLibrary<typeof symbols, ImageErrorCode> implements ImageLibrary {
  loadStart(config: ImageConfig): void {
    const json = this.json(config);
    this.check(this.native.svc_image_load_start(json, json.length), "start loading an image model");
  }

  traits(): ImageTraits {
    return this.readJson(this.native.svc_image_info, "describe the image model") as ImageTraits;
  }

  start(options: DrawOptions): void {
    const pictures = options.pictures.map(({ use, width, height }) => ({ use, width, height }));
    const json = this.json({ ...options, pictures });
    const pixels = Buffer.concat(options.pictures.map((picture) => picture.pixels));
    this.check(this.native.svc_image_start(json, json.length, addressable(pixels), pixels.length), "draw an image");
  }

  pause(owner: number): void {
    this.check(this.native.svc_image_pause(owner), "pause an image");
  }

  resume(owner: number, threads: number): void {
    this.check(this.native.svc_image_resume(owner, threads), "go on with an image");
  }

  state(owner: number): DrawState {
    const stage = this.native.svc_image_state(owner);
    return stage < 0 ? this.failure() : this.named(IMAGE_STAGES, stage, "look at an image");
  }

  progress(owner: number): DrawProgress {
    const write = (out: Uint8Array, capacity: number) => this.native.svc_image_progress(owner, out, capacity);
    return this.readJson(write, "follow an image") as DrawProgress;
  }

  preview(owner: number): Uint8Array {
    return this.pixels((out, capacity) => this.native.svc_image_preview(owner, out, capacity), "show an image");
  }

  take(owner: number): Uint8Array {
    return this.pixels((out, capacity) => this.native.svc_image_take(owner, out, capacity), "take an image");
  }

  stop(owner: number): void {
    this.native.svc_image_stop(owner);
  }

  /** Returns what `write` puts into a buffer of the size that `write` asks for. */
  private pixels(write: (out: Uint8Array, capacity: number) => number, action: string): Uint8Array {
    // -1 is a failure, never a size: a pixel has three bytes.
    const needed = write(new Uint8Array(1), 0);
    const out = new Uint8Array(needed < -1 ? -needed : 1);
    return out.subarray(0, this.check(write(out, out.length), action));
  }
}
