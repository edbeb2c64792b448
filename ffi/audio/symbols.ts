// The declarations of shim.h as a bun:ffi table; `test/native/signatures.test.ts` compares the two. `buffer` arguments
// take the typed array itself, which keeps it alive during the call.

import type { FFIFunction } from "bun:ffi";
import { AUDIO_ERRORS } from "./api.ts";

export const ABI_VERSION = 3;

/** Names of the enum values, starting at 0. */
export const enums = { svc_audio_error: AUDIO_ERRORS } as const;

const i32 = "i32";
const buffer = "buffer";

export const symbols = {
  svc_audio_open: { args: [buffer, i32], returns: i32 },
  svc_audio_declared_frames: { args: [i32], returns: "f64" },
  svc_audio_read: { args: [i32, buffer, i32], returns: i32 },

  svc_audio_open_converter: { args: [i32], returns: i32 },
  svc_audio_convert: { args: [i32, buffer, i32, buffer, i32], returns: i32 },

  svc_audio_close: { args: [i32], returns: "void" },
} as const satisfies Record<string, FFIFunction>;
