// The declarations of shim.h as a bun:ffi table; `test/native/signatures.test.ts` compares the two. `buffer` arguments
// take the typed array itself, which keeps it alive during the call.

import type { FFIFunction } from "bun:ffi";
import { IMAGE_ERRORS, IMAGE_STAGES } from "./api.ts";

export const ABI_VERSION = 5;

/** Names of the enum values, starting at 0. */
export const enums = { svc_image_error: IMAGE_ERRORS, svc_image_stage: IMAGE_STAGES } as const;

const i32 = "i32";
const buffer = "buffer";

export const symbols = {
  svc_image_load_start: { args: [buffer, i32], returns: i32 },
  svc_image_info: { args: [buffer, i32], returns: i32 },

  svc_image_start: { args: [buffer, i32, buffer, i32], returns: i32 },
  svc_image_pause: { args: [i32], returns: i32 },
  svc_image_resume: { args: [i32, i32], returns: i32 },
  svc_image_state: { args: [i32], returns: i32 },
  svc_image_progress: { args: [i32, buffer, i32], returns: i32 },
  svc_image_preview: { args: [i32, buffer, i32], returns: i32 },
  svc_image_take: { args: [i32, buffer, i32], returns: i32 },
  svc_image_stop: { args: [i32], returns: "void" },
} as const satisfies Record<string, FFIFunction>;
