// The bun:ffi table of library.h, for the functions that each of our native libraries exports. `buffer` arguments take
// the typed array itself, which keeps it alive during the call.

import type { FFIFunction } from "bun:ffi";

const i32 = "i32";
const buffer = "buffer";

export const symbols = {
  svc_abi_version: { args: [], returns: i32 },
  svc_last_error: { args: [buffer, i32], returns: i32 },
  svc_last_error_code: { args: [], returns: i32 },
  svc_log_drain: { args: [buffer, i32], returns: i32 },
  svc_load_poll: { args: [], returns: i32 },
  svc_load_file: { args: [buffer, i32], returns: i32 },
  svc_load_progress: { args: [], returns: "f64" },
  svc_unload: { args: [], returns: i32 },
  svc_abort_listen: { args: [i32], returns: i32 },
} as const satisfies Record<string, FFIFunction>;

/** The enums of library.h: names of the values, starting at 0. */
export const enums = { svc_load: ["loading", "opening", "ready"] } as const;
