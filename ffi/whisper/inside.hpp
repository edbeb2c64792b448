// Access to the internals of whisper.cpp: inside.cpp includes its source file.
#pragma once

#include "whisper.h"

#include <cstdint>
#include <string>

namespace whisper {

// Makes a state whose computations call `stop` between graph nodes; whisper.cpp would only call it between graphs, and
// one graph can take seconds. Null when the state cannot be made.
whisper_state * make_state(whisper_context * context, ggml_abort_callback stop, void * user_data);

// Runs whisper_full_with_state as if the state were new, and with a correct probability of no speech, which whisper.cpp
// reads from where it has not computed it. When the state cannot be made larger, frees it and sets it to null.
int run_full(whisper_context * context, whisper_state *& used, const whisper_full_params & params, const float * samples,
             int count);

// Called within run_full, before a half minute is encoded. `encoded`: detecting the language has just encoded it.
void reuse_encoding(bool encoded);

// Called within run_full, before a half minute is encoded: encodes it with this many positions, at most the model's.
void use_positions(whisper_context * context, int32_t positions);

// Returns how often decoding got stuck and was tried again at a higher temperature.
int32_t failures_of(const whisper_state * used);

// Return the samples per window of the detector, and how many numbers it remembers between windows.
int32_t window_of(const whisper_vad_context * detector);
int32_t memory_of(const whisper_vad_context * detector);

// Runs whisper_vad_detect_speech, continuing from `memory`, which is updated.
bool listen_on(whisper_vad_context * detector, float * memory, const float * samples, int count);

int32_t language_count(const whisper_context * context);
std::string device_of(const whisper_context * context);

} // namespace whisper
