// What stable-diffusion.cpp keeps to its own files: inside.cpp includes the largest to get at it. It is compiled with the
// library and not with the shim, as that takes a minute.
#pragma once

#include "stable-diffusion.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace image {

enum class Part { unreadable, whole, diffusion, clip_l, clip_g, t5, llm, llm_vision, decoder };

// What the tensors in a file are for, by their names.
Part part_of(const std::string & path);

struct Traits {
    std::string family;
    // Sides of images are multiples of this.
    int32_t multiple = 8;
    bool draws = false;
    // Images are made smaller than they are drawn by a small decoder, which is quick.
    bool has_tiny_decoder = false;
    // By the name of UNets everything else is a transformer.
    bool is_transformer = false;
    bool takes_references = false;
    // It can only change images.
    bool needs_reference = false;
};
Traits traits_of(const sd_ctx_t * context);

// Reads all weights, which the library would only do when it needs them. False when that fails.
bool read_weights(sd_ctx_t * context);

void set_threads(sd_ctx_t * context, int32_t threads);

// Whether the adapter in this file changed anything of the image that was drawn last.
bool was_applied(const sd_ctx_t * context, const std::string & path);

// Frees what a computation held that was broken off by an exception.
void tidy(sd_ctx_t * context);

// Takes out of the context what an image keeps there between two of its steps, so that another one can be drawn. What it
// returns puts that back. `adapters`: those of the image, whose paths stay where they are.
std::function<void()> put_aside(sd_ctx_t * context, std::vector<sd_lora_t> adapters);

// ---- what it calls of the shim's ----

// A step of sampling is done, of so many; 0 when the first begins.
void on_step(int step, int steps, float seconds);
// Whether the image is to be shown as it is after the step that is being computed.
bool shows_step();

} // namespace image
