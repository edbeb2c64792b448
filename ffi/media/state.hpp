// State that the translation units of the media shim share: the projector; and the error for a faulty medium.
#pragma once

#include "shim.h"

#include "../common/buffers.hpp"
#include "../common/errors.hpp"
#include "../common/load.hpp"
#include "../common/log.hpp"
#include "cache.hpp"

#include "json.h"
#include "llama.h"
#include "mtmd.h"

#include <cstdint>
#include <string>

namespace media {

using namespace svc;

struct State {
    mtmd_context * context = nullptr;
    std::string marker;
    // Floats of one token's embedding.
    int32_t width = 0;
    int32_t sample_rate = 0;
    int32_t audio_seconds = 0;
    bool vision = false;
    bool audio = false;
    bool mrope = false;
    EmbeddingCache cache;
};

// Filled by svc_media_load_start; may be used once is_loaded() is true.
extern State & state;

struct MediumError : Failure {
    explicit MediumError(const std::string & sentence) : Failure(SVC_MEDIA_ERROR_BAD_MEDIUM, sentence) {}
};

} // namespace media
