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
#include <memory>
#include <string>
#include <vector>

namespace image {

using namespace svc;
using Json = nlohmann::json;

struct State {
    // What draws; absent where pictures are made larger.
    sd_ctx_t * context = nullptr;
    // Of what makes them larger.
    std::string upscaler_path;
    int32_t scale = 1;
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

using Upscaler = std::unique_ptr<upscaler_ctx_t, void (*)(upscaler_ctx_t *)>;
// Throws where its file holds none.
Upscaler open_upscaler(int32_t threads);
inline bool is_upscaler() { return !state.upscaler_path.empty(); }

// Of a thread: what the library says of its progress are tiles, which are the steps of a picture that is made larger.
extern thread_local bool counts_tiles;

// Lets go of the image and returns when nobody draws.
void stop_drawing();

// Called with what the library shows.
void on_preview(int step, int count, sd_image_t * images, bool is_noisy, void *);

} // namespace image
