// Access to the internals of stable-diffusion.cpp: inside.cpp includes its largest source file. inside.cpp is compiled
// with the library instead of the shim, because compiling it takes a minute.
#pragma once

#include "stable-diffusion.h"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace image {

enum class Part { unreadable, whole, diffusion, clip_l, clip_g, t5, llm, llm_vision, decoder };

// Returns which part of a model a file holds, judged by the names of its tensors.
Part part_of(const std::string & path);

struct Traits {
    std::string family;
    // Width and height of images must be multiples of this many pixels.
    int32_t multiple = 8;
    bool draws = false;
    // Previews, or all images when there is no other decoder, are decoded by a small, fast decoder.
    bool has_tiny_decoder = false;
    // The diffusion model is a transformer, not a UNet.
    bool is_transformer = false;
    bool takes_references = false;
    // The model can only edit images.
    bool needs_reference = false;
};
Traits traits_of(const sd_ctx_t * context);

// Reads all weights now; the library would read them only when needed. Returns false on failure.
bool read_weights(sd_ctx_t * context);

void set_threads(sd_ctx_t * context, int32_t threads);

// Returns whether the adapter in this file changed anything in the image drawn last.
bool was_applied(const sd_ctx_t * context, const std::string & path);

// Frees the memory of a computation that an exception interrupted.
void tidy(sd_ctx_t * context);

// Saves the state that an image keeps in the context between two steps, so that another image can be drawn. Returns a
// function that restores it. `adapters`: those of the image; their path strings must stay valid until then.
std::function<void()> put_aside(sd_ctx_t * context, std::vector<sd_lora_t> adapters);

// ---- functions of the shim that the library calls ----

// Called when sampling step `step` of `steps` is done; `step` is 0 when the first step begins.
void on_step(int step, int steps, float seconds);
// Returns whether to show a preview after the step being computed.
bool shows_step();

// Parts of a description with their weights: `(heavier)`, `[lighter]`, `(as given:1.5)`; `BREAK` has a negative weight.
using Parts = std::vector<std::pair<std::string, float>>;
Parts weighted_parts(const std::string & text);
// Returns the tokens that a text encoder is going to read. Throws Failure when they are too many.
std::vector<int> & bounded(std::vector<int> & tokens);

} // namespace image
