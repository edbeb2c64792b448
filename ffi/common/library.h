// What every native library of ours exports; each shim.h adds its own. The sources beside this file are compiled into each.
//
// Rules: scalars, pointers and pointer + length only; no struct by value, no callback into JavaScript, no exception
// across the border. Functions that can fail return a negative number (or 0 for handles and addresses), which
// svc_last_error and svc_last_error_code explain. Functions that write text return its length, or the negated length needed
// where that is more than the capacity.
#pragma once
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef _WIN32
#define SVC_API __declspec(dllexport)
#else
#define SVC_API __attribute__((visibility("default")))
#endif

// Version of the library's shim.h; the binding refuses any other.
SVC_API int32_t svc_abi_version(void);
// Copies the sentence of the calling thread's last failure (UTF-8, no terminator). Returns its length in bytes, cut to
// `capacity`.
SVC_API int32_t svc_last_error(uint8_t * out, int32_t capacity);
// Its code, of the enum in the library's shim.h; 0 where nobody would act upon it.
SVC_API int32_t svc_last_error_code(void);
// Moves log lines (level, tab, text, newline each) out of a ring. Returns bytes written. Any thread.
SVC_API int32_t svc_log_drain(uint8_t * out, int32_t capacity);

enum svc_load { SVC_LOAD_LOADING, SVC_LOAD_OPENING, SVC_LOAD_READY };
// How the load that was started last goes on (svc_load), or negative when it failed. `opening` comes once a file, before
// anything of it is read: loading goes on at the next call, so that whoever asks can say which file ended the process.
SVC_API int32_t svc_load_poll(void);
// Path of the file that was opened last.
SVC_API int32_t svc_load_file(uint8_t * out, int32_t capacity);
// Share of the weights loaded, 0 to 1; counts from 0 again for each part of a file that has several.
SVC_API double svc_load_progress(void);
// Frees what was loaded and all that was made with it, so that something else can be loaded. Not while loading. 0, or
// negative.
SVC_API int32_t svc_unload(void);

// Makes the thread that reads `fd` (a pipe from the parent) interpret each 4-byte little-endian number as "abort the
// computation of this owner", the running one or else the next; ends the process when the pipe closes, because then the
// parent is gone. Where the pipe goes both ways (a socket), a line a second comes back: `+` if a computation has moved on since
// the last one, else `-`, and what is being computed. Before the process ends itself because of one owner, that comes back:
// `!` and its number. 0, or negative.
SVC_API int32_t svc_abort_listen(int32_t fd);

#ifdef __cplusplus
}
#endif
