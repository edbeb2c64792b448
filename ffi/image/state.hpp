// State that the translation units of the image shim share: the model and its options.
#pragma once

#include "shim.h"

#include "../common/buffers.hpp"
#include "../common/errors.hpp"
#include "../common/load.hpp"
#include "../common/log.hpp"
#include "inside/inside.hpp"

#include "json.hpp"
#include "stable-diffusion.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace image {

using namespace svc;
using Json = nlohmann::json;

struct State {
    // The drawing context; null for an upscaler.
    sd_ctx_t * context = nullptr;
    // Path of the upscaler; empty for a model that draws.
    std::string upscaler_path;
    int32_t scale = 1;
    Traits traits;
    int32_t threads = 1;
};

// Filled by svc_image_load_start; may be used once is_loaded() is true.
extern State & state;

// Returns the names of the samplers and schedulers that make sense for the model.
std::vector<std::string> sampler_names();
std::vector<std::string> scheduler_names();

// Thrown from within a computation when its image was stopped.
struct Stopped : Failure {
    Stopped() : Failure(SVC_IMAGE_ERROR_STOPPED, "the image was stopped") {}
};

// Returns whether the image being drawn was stopped or aborted. Each call is a sign of life.
bool is_stopped(void *);

using Upscaler = std::unique_ptr<upscaler_ctx_t, void (*)(upscaler_ctx_t *)>;
// Opens the upscaling model. Throws when its file holds none.
Upscaler open_upscaler(int32_t threads);
inline bool is_upscaler() { return !state.upscaler_path.empty(); }

// True on a thread where the library's progress counts tiles, which are the steps of enlarging a picture.
extern thread_local bool counts_tiles;

// Stops all images and returns when their threads have ended.
void stop_drawing();

// Preview callback of the library.
void on_preview(int step, int count, sd_image_t * images, bool is_noisy, void *);

} // namespace image
