// The C interface for drawing: a flat C ABI over stable-diffusion.cpp.
//
// ../common/library.h has the rules and the functions that all libraries share. Any thread may call any function. One
// process holds one model, so the model has no handle. Images are identified by their owners. Each image is drawn on
// its own native thread. One is computed at a time; the others are paused between two steps. An abort request from the
// pipe (svc_abort_listen) stops its owner's image between two graph nodes.
//
// Pixels are rows from the top without padding: one byte each for red, green and blue. A mask has one byte per pixel:
// 255 where the image is redrawn and 0 where it stays. All arguments are copied before a call returns.
#pragma once
#include "../common/library.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SVC_ABI_VERSION 5

// Codes of failures: no specific handling; the image was stopped; not enough memory; an adapter does not fit the model;
// a prompt has too many tokens, and the sentence tells how many.
enum svc_image_error {
    SVC_IMAGE_ERROR_FAILED,
    SVC_IMAGE_ERROR_STOPPED,
    SVC_IMAGE_ERROR_NO_MEMORY,
    SVC_IMAGE_ERROR_ADAPTER,
    SVC_IMAGE_ERROR_TOO_LONG
};

// Starts loading a model on a native thread. `config` is JSON: {path, vae?, textEncoders: paths, taesd?, threads, mmap:
// bool, flashAttention: bool, upscales: bool}. The tensors of each file show what it holds; a model that upscales is an
// ESRGAN model. Returns 0, or a negative number.
SVC_API int32_t svc_image_load_start(const uint8_t * config, int32_t config_length);
// Writes JSON about the loaded model: {family, multiple: divisor of image sides, hasTinyDecoder, takesReferences,
// needsReference, device, sampler, scheduler: the defaults, samplers, schedulers, scale: factor of an upscaler}.
SVC_API int32_t svc_image_info(uint8_t * out, int32_t capacity);
// svc_unload stops all images.

// Begins to draw an image. `options` is JSON: {owner: see svc_abort_listen, prompt, negativePrompt, width, height,
// seed, steps, guidance, sampler, scheduler, strength, previews, threads, tiles: bool, adapters: [{path, scale}],
// pictures: [{use: "image" | "mask" | "reference", width, height}]}. `pixels` holds the pixels of all pictures, one
// after the other. An upscaler uses only owner, threads and one picture. Returns 0, or a negative number: also while
// another image is being computed, or when this owner has an image.
SVC_API int32_t svc_image_start(const uint8_t * options, int32_t options_length, const uint8_t * pixels,
                                int32_t pixels_length);
// Pauses an image when its current step is done; the image may finish before that. 0, or negative: there is none.
SVC_API int32_t svc_image_pause(int32_t owner);
// Resumes a paused image with this many threads, or cancels a requested pause. Returns 0, or a negative number: also
// while another image is being computed.
SVC_API int32_t svc_image_resume(int32_t owner, int32_t threads);
enum svc_image_stage { SVC_IMAGE_STAGE_NONE, SVC_IMAGE_STAGE_DRAWING, SVC_IMAGE_STAGE_DONE, SVC_IMAGE_STAGE_PAUSED };
// Returns the stage of the owner's image (svc_image_stage), or negative when it failed or was aborted.
SVC_API int32_t svc_image_state(int32_t owner);
// Writes JSON: {step: completed steps, steps: total, previews: number shown, width, height: of the latest one}.
SVC_API int32_t svc_image_progress(int32_t owner, uint8_t * out, int32_t capacity);
// Writes the pixels of the latest preview. Returns their size in bytes, or the negated size needed.
SVC_API int32_t svc_image_preview(int32_t owner, uint8_t * out, int32_t capacity);
// Writes the pixels of a finished image and forgets the image. Returns their size in bytes, or the negated size needed.
SVC_API int32_t svc_image_take(int32_t owner, uint8_t * out, int32_t capacity);
// Stops an image, which ends as soon as possible, and forgets an image that has ended.
SVC_API void svc_image_stop(int32_t owner);

#ifdef __cplusplus
}
#endif
