// The declarations of shim.h as a bun:ffi table; `test/native/signatures.test.ts` compares the two. `buffer` arguments
// take the typed array itself, which keeps it alive during the call.

import type { FFIFunction } from "bun:ffi";
import { WHISPER_STAGES } from "./api.ts";

export const ABI_VERSION = 4;

/** Names of the enum values, starting at 0. */
export const enums = { svc_whisper_stage: WHISPER_STAGES } as const;

const i32 = "i32";
const buffer = "buffer";

export const symbols = {
  svc_whisper_load_start: { args: [buffer, i32], returns: i32 },
  svc_whisper_info: { args: [buffer, i32], returns: i32 },

  svc_whisper_speech: { args: [buffer, i32, buffer, i32, buffer, i32], returns: i32 },
  svc_whisper_listen: { args: [buffer, i32, buffer, i32, buffer, i32], returns: i32 },

  svc_whisper_submit: { args: [buffer, i32, buffer, i32], returns: i32 },
  svc_whisper_wait: { args: [i32], returns: i32 },
  svc_whisper_state: { args: [i32], returns: i32 },
  svc_whisper_segments: { args: [i32, i32, buffer, i32], returns: i32 },
  svc_whisper_language: { args: [i32, buffer, i32], returns: i32 },
  svc_whisper_release: { args: [i32], returns: "void" },
} as const satisfies Record<string, FFIFunction>;
