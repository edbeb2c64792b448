// The native surface of speech to text: a flat C ABI over whisper.cpp.
//
// The rules and what is not particular to it are in ../common/library.h. Any thread may call any function. One process holds
// one model, so there is no handle for it. Abort requests that come through a pipe (svc_abort_listen) concern nobody here: a
// job's work stops when it is released.
//
// Sound is 16 kHz mono, floats from -1 to 1. Jobs wait in a queue for one of several workers, native threads, so that short
// clips are recognized side by side. Each job has a state of its own on the one model meanwhile; there are as many as jobs have
// been worked on at once.
//
// Who frees what: everything passed in is copied before the call returns. A job lives until svc_whisper_release, which may
// be called at any time: a job that is being worked on is stopped and frees itself.
#pragma once
#include "../common/library.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SVC_ABI_VERSION 3

// Starts loading a model on a native thread, and the compute backends first. `config` is JSON: {path, vadPath?: of a Silero
// model for svc_whisper_speech, libraries: folder with the compute backends, workers, threads: of each worker, gpu: bool,
// flashAttention: bool}. 0, or negative.
SVC_API int32_t svc_whisper_load_start(const uint8_t * config, int32_t config_length);
// Writes JSON about the loaded model: {type ("tiny", "base", …), bytes: of its file, languages: codes, device,
// audioContext: positions of the encoder, 50 a second}.
SVC_API int32_t svc_whisper_info(uint8_t * out, int32_t capacity);
// svc_unload stops all work and releases all jobs.

// Finds phrases with speech in them; takes about 3 ms a second of sound. Each call begins anew. `options` is JSON:
// {threshold, minSilenceSeconds, padSeconds}. Writes JSON: [{start, end}] in samples.
SVC_API int32_t svc_whisper_speech(const float * samples, int32_t count, const uint8_t * options, int32_t options_length,
                                   uint8_t * out, int32_t capacity);

// Listens on in a sound that comes piece by piece, one of any number: how likely it is in each whole 512 of the samples that
// somebody speaks. `memory` is what the call before it left, zeros at first, and is brought up to date: it has 256 numbers.
// Returns how many probabilities were written, or negative.
SVC_API int32_t svc_whisper_listen(const float * samples, int32_t count, float * memory, int32_t memory_count,
                                   float * probabilities, int32_t capacity);

// ---- jobs: one stretch of sound each ----

// Queues sound. `options` is JSON: {language?: a code, else it is detected, translate, prompt, temperature,
// beams, wordTimes, audioContext, threads (0: those of the worker)}. Returns the job's number > 0, or negative.
SVC_API int32_t svc_whisper_submit(const float * samples, int32_t count, const uint8_t * options, int32_t options_length);
// Waits up to `timeout_ms` (0 = not at all) for anything new about any job: its language, segments, its end or failure. What
// comes before the next call is reported once. Returns the job, or 0. Released jobs are not reported.
SVC_API int32_t svc_whisper_wait(int32_t timeout_ms);
enum svc_whisper_stage { SVC_WHISPER_STAGE_QUEUED, SVC_WHISPER_STAGE_RUNNING, SVC_WHISPER_STAGE_DONE };
// Where a job stands (svc_whisper_stage), or negative when it failed.
SVC_API int32_t svc_whisper_state(int32_t job);
// Writes JSON: the segments known by now, from number `from` on: [{start, end: seconds, text, tokens: ids without special
// ones, temperature, avgLogprob, noSpeechProb, words?: [{start, end, text, probability}]}].
SVC_API int32_t svc_whisper_segments(int32_t job, int32_t from, uint8_t * out, int32_t capacity);
// Writes JSON: {code?, probability?}. No code: it is not known yet. No probability: it was given.
SVC_API int32_t svc_whisper_language(int32_t job, uint8_t * out, int32_t capacity);
// Frees the job, or stops the work on it and lets that free it. A number that is unknown does nothing.
SVC_API void svc_whisper_release(int32_t job);

#ifdef __cplusplus
}
#endif
