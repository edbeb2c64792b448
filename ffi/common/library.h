// Exported by each of our native libraries; its shim.h adds more. The sources beside this file are compiled into each.
//
// Rules: parameters are scalars, pointers and pointer + length only; no struct by value, no callback into JavaScript,
// no exception across the boundary. Functions that can fail return a negative number (or 0 for handles and addresses),
// and svc_last_error and svc_last_error_code then say why. Functions that write text return its length, or the negated
// required length when it exceeds the capacity.
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

// Returns the version of the library's shim.h; the binding refuses any other.
SVC_API int32_t svc_abi_version(void);
// Copies the message of the calling thread's last failure (UTF-8, no terminator), cut to `capacity`. Returns its size.
SVC_API int32_t svc_last_error(uint8_t * out, int32_t capacity);
// Returns the code of that failure, from the enum in the library's shim.h; 0 when no caller handles it specifically.
SVC_API int32_t svc_last_error_code(void);
// Moves log lines (each: level, tab, text, newline) out of a ring buffer. Returns the bytes written. Any thread.
SVC_API int32_t svc_log_drain(uint8_t * out, int32_t capacity);

enum svc_load { SVC_LOAD_LOADING, SVC_LOAD_OPENING, SVC_LOAD_READY };
// Returns the state (svc_load) of the load that was started last, or a negative number when it failed. `opening` is
// returned once per file, before any of the file is read. Loading then waits for the next call, so that the caller can
// record which file crashed the process.
SVC_API int32_t svc_load_poll(void);
// Writes the path of the file that was opened last.
SVC_API int32_t svc_load_file(uint8_t * out, int32_t capacity);
// Returns the fraction of the weights loaded, 0 to 1; it restarts from 0 for each part of a multi-part file.
SVC_API double svc_load_progress(void);
// Frees the loaded model and everything made with it, so that another can be loaded. Not while loading. Returns 0, or
// negative.
SVC_API int32_t svc_unload(void);

// Starts a thread that reads `fd` (a pipe from the parent) and takes each 4-byte little-endian number as "abort the
// computation of this owner", either the running one or the owner's next. The process ends when the pipe closes,
// because then the parent is gone. When the pipe is bidirectional (a socket), the thread writes one line a second: `+`
// when a computation has made progress since the last line, else `-`, followed by what is being computed. Before the
// process ends itself because of one owner, it writes `!` and the owner's number. Returns 0, or a negative number.
SVC_API int32_t svc_abort_listen(int32_t fd);

#ifdef __cplusplus
}
#endif
