// What whisper.cpp keeps to its own file: inside.cpp includes that to get at it.
#pragma once

#include "whisper.h"

#include <cstdint>
#include <string>

namespace whisper {

// A state whose computations ask `stop` between graph nodes, where whisper.cpp would only ask between graphs, of which
// one can take seconds. Null when it cannot be made.
whisper_state * make_state(whisper_context * context, ggml_abort_callback stop, void * user_data);

// whisper_full_with_state as if the state were new, and with a probability of no speech that is one: whisper.cpp reads it
// from where it has not computed it. Frees the state and sets it to null when that cannot be made larger.
int run_full(whisper_context * context, whisper_state *& used, const whisper_full_params & params, const float * samples,
             int count);

// Within it, before a half minute is encoded: it was encoded just now to detect the language, or it was not.
void reuse_encoding(bool encoded);

// How sure the language is that was just detected.
double language_probability(const whisper_state * used);

// How often decoding has got stuck and was tried again at a higher temperature.
int32_t failures_of(const whisper_state * used);

// Samples that the detector hears at once, and numbers that it remembers from one to the next.
int32_t window_of(const whisper_vad_context * detector);
int32_t memory_of(const whisper_vad_context * detector);

// whisper_vad_detect_speech, going on where the memory was left, which is brought up to date.
bool listen_on(whisper_vad_context * detector, float * memory, const float * samples, int count);

int32_t language_count(const whisper_context * context);
std::string device_of(const whisper_context * context);

} // namespace whisper
