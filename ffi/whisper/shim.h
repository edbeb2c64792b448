// The C interface for speech to text: a flat C ABI over whisper.cpp.
//
// ../common/library.h has the rules and the functions that all libraries share. Any thread may call any function. One
// process holds one model, so the model has no handle. Abort requests from the pipe (svc_abort_listen) have no effect
// here: a job's work stops when the job is released.
//
// Sound is 16 kHz mono, floats from -1 to 1. Jobs wait in a queue for one of several workers, which are native threads,
// so that short clips are recognized side by side. A running job has its own state on the one model; there are as many
// states as jobs have run at once.
//
// Ownership: all arguments are copied before a call returns. A job lives until svc_whisper_release, which may be called
// at any time: a job that is being worked on is stopped and frees itself.
#pragma once
#include "../common/library.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SVC_ABI_VERSION 4

// Loads the compute backends and then a model, on a native thread. `config` is JSON: {path, vadPath?: a Silero model
// for svc_whisper_speech and svc_whisper_listen, libraries: folder with the compute backends, workers, threads: of each
// worker, gpu: bool, flashAttention: bool}. Returns 0, or a negative number.
SVC_API int32_t svc_whisper_load_start(const uint8_t * config, int32_t config_length);
// Writes JSON about the loaded model: {type ("tiny", "base", …), bytes: of its file, languages: codes, device,
// audioContext: encoder positions, 50 per second}.
SVC_API int32_t svc_whisper_info(uint8_t * out, int32_t capacity);
// svc_unload stops all work and releases all jobs.

// Finds phrases that contain speech; takes about 3 ms per second of sound. Each call starts afresh. `options` is JSON:
// {threshold, minSilenceSeconds, padSeconds}. Writes JSON: [{start, end}] in samples.
SVC_API int32_t svc_whisper_speech(const float * samples, int32_t count, const uint8_t * options, int32_t options_length,
                                   uint8_t * out, int32_t capacity);

// Continues to listen to one of any number of sounds that arrive piece by piece: writes the probability of speech in
// each whole 512 of the samples. `memory` has 256 numbers: what the previous call left, zeros at first; it is updated.
// Returns how many probabilities were written, or a negative number.
SVC_API int32_t svc_whisper_listen(const float * samples, int32_t count, float * memory, int32_t memory_count,
                                   float * probabilities, int32_t capacity);

// ---- jobs: one stretch of sound each ----

// Queues sound. `options` is JSON: {language?: a code, absent to detect it, translate, prompt, temperature, beams,
// wordTimes, audioContext, leastAudioContext, threads (0: those of the worker)}. Returns the job's number > 0, or a
// negative number.
SVC_API int32_t svc_whisper_submit(const float * samples, int32_t count, const uint8_t * options, int32_t options_length);
// Waits up to `timeout_ms` (0 = not at all) for an update of any job: its language, segments, end or failure. Everything
// new since the last call is reported once. Returns the job, or 0. Released jobs are not reported.
SVC_API int32_t svc_whisper_wait(int32_t timeout_ms);
enum svc_whisper_stage { SVC_WHISPER_STAGE_QUEUED, SVC_WHISPER_STAGE_RUNNING, SVC_WHISPER_STAGE_DONE };
// Returns the stage of a job (svc_whisper_stage), or a negative number when it failed.
SVC_API int32_t svc_whisper_state(int32_t job);
// Writes JSON: the segments known so far, from index `from` on: [{start, end: seconds, text, tokens: ids without
// special ones, temperature, avgLogprob, noSpeechProb, words?: [{start, end, text}]}].
SVC_API int32_t svc_whisper_segments(int32_t job, int32_t from, uint8_t * out, int32_t capacity);
// Writes the code of the language that was given or detected; nothing until it is known.
SVC_API int32_t svc_whisper_language(int32_t job, uint8_t * out, int32_t capacity);
// Frees the job, or stops the work on it, which then frees it. Does nothing for an unknown number.
SVC_API void svc_whisper_release(int32_t job);

#ifdef __cplusplus
}
#endif
