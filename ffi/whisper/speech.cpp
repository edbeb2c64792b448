// Finds out where in a sound somebody speaks.

#include "state.hpp"

#include "inside.hpp"

#include <algorithm>
#include <mutex>

namespace whisper {
namespace {

// whisper.cpp counts hundredths of a second.
constexpr double SAMPLES_PER_TICK = SAMPLE_RATE / 100;

// Less is taken for a click. whisper.cpp's own 250 ms leave out short answers, and no more noise.
constexpr int LEAST_SPEECH_MS = 100;

// The detector keeps state, so it listens to one sound at a time.
std::mutex & mutex = *new std::mutex;

whisper_vad_params parameters(const common_json & options) {
    const auto milliseconds = [&](const char * name) { return static_cast<int>(options.at(name).get<double>() * 1000); };
    whisper_vad_params params = whisper_vad_default_params();
    params.threshold = options.at("threshold").get<float>();
    params.min_silence_duration_ms = milliseconds("minSilenceSeconds");
    params.speech_pad_ms = milliseconds("padSeconds");
    params.min_speech_duration_ms = LEAST_SPEECH_MS;
    return params;
}

common_json listen(const float * samples, int32_t count, const whisper_vad_params & params) {
    std::lock_guard<std::mutex> lock(mutex);
    const std::unique_ptr<whisper_vad_segments, decltype(&whisper_vad_free_segments)> found(
        whisper_vad_segments_from_samples(state.vad, params, samples, count), whisper_vad_free_segments);
    if (!found) throw std::runtime_error("the speech detector failed");
    const auto position = [&](float ticks) { return std::clamp(static_cast<int32_t>(ticks * SAMPLES_PER_TICK), 0, count); };
    common_json phrases = common_json::array();
    for (int index = 0; index < whisper_vad_segments_n_segments(found.get()); index++) {
        const int32_t start = position(whisper_vad_segments_get_segment_t0(found.get(), index));
        const int32_t end = position(whisper_vad_segments_get_segment_t1(found.get(), index));
        if (start < end) phrases.push_back(common_json{{"start", start}, {"end", end}});
    }
    return phrases;
}

int32_t listen_on(const float * samples, int32_t count, float * memory, float * probabilities, int32_t capacity) {
    std::lock_guard<std::mutex> lock(mutex);
    const int32_t windows = count / window_of(state.vad);
    if (windows > capacity) throw std::runtime_error("there is no room for the probabilities");
    if (windows == 0) return 0;
    if (!whisper::listen_on(state.vad, memory, samples, windows * window_of(state.vad))) {
        throw std::runtime_error("the speech detector failed");
    }
    std::copy_n(whisper_vad_probs(state.vad), windows, probabilities);
    return windows;
}

} // namespace
} // namespace whisper

using namespace whisper;

extern "C" {

int32_t svc_whisper_speech(const float * samples, int32_t count, const uint8_t * options, int32_t options_length,
                           uint8_t * out, int32_t capacity) {
    return guarded<int32_t>(-1, [&] {
        if (!is_loaded()) return fail("no model is loaded");
        if (!state.vad) return fail("no speech detector is loaded");
        const whisper_vad_params params = parameters(common_json::parse(text_of(options, options_length)));
        const common_json phrases = count > 0 ? listen(samples, count, params) : common_json::array();
        return copy_out(phrases.dump_safe(), out, capacity);
    });
}

int32_t svc_whisper_listen(const float * samples, int32_t count, float * memory, int32_t memory_count,
                           float * probabilities, int32_t capacity) {
    return guarded<int32_t>(-1, [&] {
        if (!is_loaded()) return fail("no model is loaded");
        if (!state.vad) return fail("no speech detector is loaded");
        if (memory_count != memory_of(state.vad)) return fail("the memory has another size");
        return listen_on(samples, count, memory, probabilities, capacity);
    });
}

} // extern "C"
