// What the translation units of the image shim share: the one model, and the one image that is drawn with it.
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
#include <string>
#include <vector>

namespace image {

using namespace svc;
using Json = nlohmann::json;

struct State {
    // One of both: what draws, or what makes pictures larger.
    sd_ctx_t * context = nullptr;
    upscaler_ctx_t * upscaler = nullptr;
    std::string upscaler_path;
    Traits traits;
    int32_t threads = 1;
};

// Filled by svc_image_load_start; whoever sees is_loaded() may use it.
extern State & state;

// Samplers and schedulers by their names, as far as they make sense for the model.
std::vector<std::string> sampler_names();
std::vector<std::string> scheduler_names();

// Thrown from within a computation.
struct Stopped : Failure {
    Stopped() : Failure(SVC_IMAGE_ERROR_STOPPED, "the image was stopped") {}
};

// Whether the image that is drawn is wanted no more. Each call is a sign of life.
bool is_stopped(void *);

// Loads what makes pictures larger, anew where it is there. Throws.
void open_upscaler();

// Lets go of the image and returns when nobody draws.
void stop_drawing();

// Called with what the library shows.
void on_preview(int step, int count, sd_image_t * images, bool is_noisy, void *);

} // namespace image
