// The C interface for image and audio input: a flat C ABI over llama.cpp's mtmd, in its own library.
//
// ../common/library.h has the rules and the functions that all libraries share. Any thread may call any function. One
// process holds one projector, so the projector has no handle. Log lines go to ggml's log. No thread listens for
// aborts: a job's work stops when the job is released.
//
// Two native threads do the work. One prepares prompts (tokens and counts, fast), the other encodes media (slow), so
// that a prompt's length is known while another's images are still being encoded. Decoding waits for neither. Clients
// take turns at both, and a turn of encoding is one chunk.
//
// Ownership: all arguments are copied before a call returns. A job, and every address taken from it, is valid until
// svc_media_release, which may be called at any time: a job that is being worked on is stopped and frees itself.
// Embeddings are shared with a cache of the most recently used ones, so that an image of an earlier turn is not encoded
// again. Embeddings that a job holds stay valid for the job even when the cache has dropped them.
#pragma once
#include "../common/library.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SVC_ABI_VERSION 7

// Error codes of calls and jobs.
enum svc_media_error {
    SVC_MEDIA_ERROR_FAILED,
    // A medium is at fault: its format, length or kind.
    SVC_MEDIA_ERROR_BAD_MEDIUM
};

// ---- projector: the model part that turns images and audio into embeddings ----

// Starts loading a projector on a native thread. `model` is the address of the loaded llama_model that it belongs to
// (svc_model_pointer), which must outlive it; compute backends must already be loaded. `config` is JSON: {path,
// threads, gpu: bool, flashAttention ("auto"|"on"|"off"), cacheBytes (maximum size of the embedding cache),
// audioSeconds (maximum length of all sounds of a job), marker (text that stands for a medium in a prompt)}. Returns 0,
// or a negative number.
SVC_API int32_t svc_media_load_start(uint64_t model, const uint8_t * config, int32_t config_length);
// Writes JSON about the loaded projector: {vision, audio, width (floats of a token's embedding), marker}.
SVC_API int32_t svc_media_info(uint8_t * out, int32_t capacity);
// svc_unload stops all work, releases all jobs and frees cache and projector: addresses taken from jobs become invalid.
// Call it before the model is freed.

// ---- jobs: one prompt with its media ----

// Opens a job for this client. Returns its number > 0, or a negative number.
SVC_API int32_t svc_media_open(const uint8_t * client, int32_t client_length);
// Adds an image: `bytes` = width · height · 3, RGB rows from the top. `id` identifies exactly these pixels (a hash of
// them), because equal ids share embeddings. Returns 0, or a negative number.
SVC_API int32_t svc_media_add_image(int32_t job, const uint8_t * id, int32_t id_length, int32_t width, int32_t height,
                                    const uint8_t * rgb, int32_t bytes);
// Adds a whole WAV, MP3 or FLAC file, which is decoded later. Returns 0, or a negative number.
SVC_API int32_t svc_media_add_audio(int32_t job, const uint8_t * id, int32_t id_length, const uint8_t * file,
                                    int32_t bytes);
// Queues the prompt: `text` is a rendered chat template with one marker per medium, in order. Special tokens in it are
// parsed, and begin and end tokens are added as the model needs them. No media can follow. Returns 0, or negative.
SVC_API int32_t svc_media_prepare(int32_t job, const uint8_t * text, int32_t text_length);
// Queues the encoding of a prepared job. Returns 1: queued, svc_media_wait will report it · 0: already encoded ·
// negative: failed.
SVC_API int32_t svc_media_encode(int32_t job);
// Waits up to `timeout_ms` (0 = not at all) for any job's preparation or encoding to end, each of which is reported once.
// Returns the job, or 0. Released jobs are not reported.
SVC_API int32_t svc_media_wait(int32_t timeout_ms);
enum svc_media_stage {
    SVC_MEDIA_STAGE_OPEN,
    SVC_MEDIA_STAGE_PREPARING,
    SVC_MEDIA_STAGE_PREPARED,
    SVC_MEDIA_STAGE_ENCODING,
    // Everything is encoded, or there was nothing to encode.
    SVC_MEDIA_STAGE_ENCODED
};
// Returns the stage of a job (svc_media_stage), or a negative number when it failed: -1 - n when the nth medium is known
// to be at fault.
SVC_API int32_t svc_media_state(int32_t job);
// Frees the job, or stops the work on it, which then frees it. Does nothing for an unknown number.
SVC_API void svc_media_release(int32_t job);

// ---- what a prepared job consists of ----

// Writes JSON: {chunks: [{kind: "text", tokens} | {kind: "image"|"audio", part, id, tokens, positions, nonCausal}]} in
// the order of the prompt. tokens: number of tokens or embeddings; positions: by how much the chunk advances the
// position (a text chunk: by its tokens); part: index among the chunks of one medium; nonCausal: all tokens of the
// chunk attend to each other, so it must be decoded in one micro-batch with llama_set_causal_attn(false).
SVC_API int32_t svc_media_describe(int32_t job, uint8_t * out, int32_t capacity);
// Copies the tokens of all text chunks, one chunk after the other. Returns their number, or a negative number (also
// when they do not fit).
SVC_API int32_t svc_media_tokens(int32_t job, int32_t * out, int32_t capacity);
// Returns the address of a chunk's embeddings from its token `offset` on, width floats for each, once the chunk is
// encoded; 0 before, and for text. Read-only, valid until svc_media_release.
SVC_API uint64_t svc_media_embeddings(int32_t job, int32_t chunk, int32_t offset);
// Writes the positions of `count` tokens of a media chunk, from its token `offset` on, for llama_batch.pos. `first` is
// the position of the chunk's first token. There are `count` numbers, or for models with mrope 4 · count: the first
// numbers of all tokens, then all second numbers and so on. Returns how many were written, or a negative number.
SVC_API int32_t svc_media_positions(int32_t job, int32_t chunk, int32_t first, int32_t offset, int32_t count,
                                    int32_t * out);

// ---- memory ----

// Writes JSON: {jobs: not yet freed, cachedBytes: of the embeddings in the cache}.
SVC_API int32_t svc_media_stats(uint8_t * out, int32_t capacity);

#ifdef __cplusplus
}
#endif
