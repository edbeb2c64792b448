// The declarations of shim.h as a bun:ffi table; `test/native/signatures.test.ts` compares the two. `buffer` arguments
// take the typed array itself, which keeps it alive during the call.

import type { FFIFunction } from "bun:ffi";
import { CHUNK_RESULTS, LLAMA_ERRORS } from "./api.ts";

export const ABI_VERSION = 19;

/** Names of the enum values, starting at 0. */
export const enums = { svc_error: LLAMA_ERRORS, svc_decoded: CHUNK_RESULTS } as const;

const i32 = "i32";
const buffer = "buffer";

export const symbols = {
  svc_library_version: { args: [], returns: "cstring" },
  svc_init: { args: ["cstring"], returns: i32 },

  svc_load_start: { args: [buffer, i32], returns: i32 },
  svc_model_info: { args: [buffer, i32], returns: i32 },
  svc_model_pointer: { args: [], returns: "u64" },

  svc_prompt_submit: { args: [buffer, i32, buffer, i32, i32, "cstring", i32], returns: i32 },
  svc_prompt_cancel: { args: [i32], returns: "void" },
  svc_prompt_wait: { args: [i32, buffer], returns: i32 },
  svc_prompt_take: { args: [i32, buffer, i32, buffer, i32], returns: i32 },

  svc_token_piece: { args: [i32, i32, buffer, i32], returns: i32 },
  svc_token_is_end: { args: [i32], returns: i32 },

  svc_sampler_free: { args: [i32], returns: "void" },
  svc_sampler_stuck: { args: [i32], returns: i32 },
  svc_sampler_logprobs: { args: [i32, i32, buffer, buffer, i32], returns: i32 },

  svc_answer_push: { args: [i32, buffer, i32], returns: i32 },
  svc_answer_read: { args: [i32, i32, buffer, i32], returns: i32 },

  svc_schema_grammar: { args: [buffer, i32, buffer, i32], returns: i32 },
  svc_grammar_accepts: { args: [buffer, i32, buffer, i32], returns: i32 },

  svc_decode: { args: [buffer, buffer, buffer, buffer, buffer, i32, i32, i32, buffer], returns: i32 },
  svc_decode_embeddings: { args: ["u64", buffer, i32, i32, i32, i32], returns: i32 },
  svc_chunk_begin: { args: [buffer, buffer, buffer, buffer, i32], returns: i32 },
  svc_chunk_resume: { args: ["f64"], returns: i32 },
  svc_chunk_abandon: { args: [], returns: "void" },
  svc_compute_threads: { args: [], returns: i32 },
  svc_draft: { args: [buffer, i32, buffer, buffer, buffer], returns: i32 },

  svc_adapters_set: { args: [buffer, buffer, i32], returns: i32 },

  svc_kv_remove: { args: [i32, i32, i32], returns: i32 },
  svc_kv_release: { args: [i32, i32], returns: i32 },
  svc_kv_copy: { args: [i32, i32, i32, i32], returns: i32 },
  svc_kv_move: { args: [i32, i32], returns: i32 },
  svc_kv_save_begin: { args: [i32, i32, i32], returns: "f64" },
  svc_kv_save: { args: [buffer, "f64"], returns: "f64" },
  svc_kv_restore: { args: [i32, buffer, "f64", i32], returns: i32 },

  svc_worker_start: { args: [buffer, i32], returns: i32 },
  svc_worker_devices: { args: [buffer, i32], returns: i32 },

  svc_embed_info: { args: [buffer, i32], returns: i32 },
  svc_embed_tokenize: { args: [buffer, i32, i32, i32, buffer, i32], returns: i32 },
  svc_embed: { args: [buffer, buffer, i32, i32, buffer], returns: i32 },
} as const satisfies Record<string, FFIFunction>;
