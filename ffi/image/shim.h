// The native surface of drawing: a flat C ABI over stable-diffusion.cpp.
//
// The rules and what is not particular to it are in ../common/library.h. Any thread may call any function. One process holds
// one model, so there is no handle for it. Images are known by their owners, each is drawn on a native thread, and one is
// computed at a time: others have paused between two of their steps. An abort request that comes through a pipe
// (svc_abort_listen) stops the image of this owner between two nodes of its graphs.
//
// Pixels are rows from the top without padding: red, green and blue, a byte each; of a mask one byte, 255 where the image is
// drawn anew and 0 where it stays. Everything passed in is copied before the call returns.
#pragma once
#include "../common/library.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SVC_ABI_VERSION 4

// Code of a failure: nobody would act upon it; it was stopped; there is not enough memory; an adapter does not fit the model.
enum svc_image_error {
    SVC_IMAGE_ERROR_FAILED,
    SVC_IMAGE_ERROR_STOPPED,
    SVC_IMAGE_ERROR_NO_MEMORY,
    SVC_IMAGE_ERROR_ADAPTER
};

// Starts loading a model on a native thread. `config` is JSON: {path, vae?, textEncoders: paths, taesd?, threads, mmap: bool,
// flashAttention: bool, upscales: bool}. What each file holds is found from its tensors; one that upscales is an ESRGAN model. 0, or
// negative.
SVC_API int32_t svc_image_load_start(const uint8_t * config, int32_t config_length);
// Writes JSON about the loaded model: {family, multiple: of which sides of images are, hasTinyDecoder,
// takesReferences, needsReference, device, sampler, scheduler: those that are taken where none is wished, samplers, schedulers,
// scale: how many times as large pictures become}.
SVC_API int32_t svc_image_info(uint8_t * out, int32_t capacity);
// svc_unload stops all images.

// Begins to draw an image. `options` is JSON: {owner: see svc_abort_listen, prompt, negativePrompt, width, height, seed, steps,
// guidance, sampler, scheduler, strength, previews, threads, tiles: bool, adapters: [{path, scale}], pictures: [{use: "image" |
// "mask" | "reference", width, height}]}; `pixels` has those of all pictures, one after the other. Of what upscales, owner, threads and
// one picture count. 0, or negative: also while another image is computed, or one of this owner is drawn.
SVC_API int32_t svc_image_start(const uint8_t * options, int32_t options_length, const uint8_t * pixels,
                                int32_t pixels_length);
// Has an image pause as soon as a step is done; it may be done before that. 0, or negative when there is none.
SVC_API int32_t svc_image_pause(int32_t owner);
// Has an image go on that has paused, with so many threads, or not pause. 0, or negative: also while another is computed.
SVC_API int32_t svc_image_resume(int32_t owner, int32_t threads);
enum svc_image_stage { SVC_IMAGE_STAGE_NONE, SVC_IMAGE_STAGE_DRAWING, SVC_IMAGE_STAGE_DONE, SVC_IMAGE_STAGE_PAUSED };
// Where the owner's image stands (svc_image_stage), or negative when it failed or was stopped by an abort request.
SVC_API int32_t svc_image_state(int32_t owner);
// Writes JSON: {step: those that are done, steps, previews: how often it was shown, width, height: as it was shown last}.
SVC_API int32_t svc_image_progress(int32_t owner, uint8_t * out, int32_t capacity);
// Writes the pixels as they were shown last. Returns their bytes, or the negated number needed.
SVC_API int32_t svc_image_preview(int32_t owner, uint8_t * out, int32_t capacity);
// Writes the pixels of an image that is done, and forgets it. Returns their bytes, or the negated number needed.
SVC_API int32_t svc_image_take(int32_t owner, uint8_t * out, int32_t capacity);
// Stops an image, which ends as soon as it can, and forgets one that has ended.
SVC_API void svc_image_stop(int32_t owner);

#ifdef __cplusplus
}
#endif
