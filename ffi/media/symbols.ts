// The declarations of shim.h as a bun:ffi table; `test/native/signatures.test.ts` compares the two. `buffer` arguments
// take the typed array itself, which keeps it alive during the call.

import type { FFIFunction } from "bun:ffi";
import { MEDIA_ERRORS, MEDIA_STAGES } from "./api.ts";

export const ABI_VERSION = 7;

/** Names of the enum values, starting at 0. */
export const enums = { svc_media_error: MEDIA_ERRORS, svc_media_stage: MEDIA_STAGES } as const;

const i32 = "i32";
const u64 = "u64";
const buffer = "buffer";

export const symbols = {
  svc_media_load_start: { args: [u64, buffer, i32], returns: i32 },
  svc_media_info: { args: [buffer, i32], returns: i32 },

  svc_media_open: { args: [buffer, i32], returns: i32 },
  svc_media_add_image: { args: [i32, buffer, i32, i32, i32, buffer, i32], returns: i32 },
  svc_media_add_audio: { args: [i32, buffer, i32, buffer, i32], returns: i32 },
  svc_media_prepare: { args: [i32, buffer, i32], returns: i32 },
  svc_media_encode: { args: [i32], returns: i32 },
  svc_media_wait: { args: [i32], returns: i32 },
  svc_media_state: { args: [i32], returns: i32 },
  svc_media_release: { args: [i32], returns: "void" },

  svc_media_describe: { args: [i32, buffer, i32], returns: i32 },
  svc_media_tokens: { args: [i32, buffer, i32], returns: i32 },
  svc_media_embeddings: { args: [i32, i32, i32], returns: u64 },
  svc_media_positions: { args: [i32, i32, i32, i32, i32, buffer], returns: i32 },

  svc_media_stats: { args: [buffer, i32], returns: i32 },
} as const satisfies Record<string, FFIFunction>;
