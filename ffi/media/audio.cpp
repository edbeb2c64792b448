// Decodes audio files to samples. mtmd's own helper uses the same decoder, but trusts the length that a file declares,
// so that a small file can claim all memory.

#include "jobs.hpp"

#include "../common/sound-file.hpp"

namespace media {
namespace {

constexpr size_t BLOCK_FRAMES = 1 << 16;
constexpr size_t ROUNDING_FRAMES = 1 << 12;
// The preprocessing of some models divides a recording into frames and needs at least two.
constexpr int32_t SHORTEST_PART_OF_SECOND = 10;

} // namespace

std::vector<float> decode_audio(const std::vector<uint8_t> & file, int32_t sample_rate, size_t most_samples) {
    SoundFile<MediumError> sound(file.data(), file.size(), sample_rate);
    const uint64_t declared = sound.declared_frames();
    std::vector<float> samples;
    for (;;) {
        const size_t known = samples.size();
        samples.resize(known + BLOCK_FRAMES);
        const size_t read = sound.read(samples.data() + known, BLOCK_FRAMES);
        samples.resize(known + read);
        if (samples.size() > most_samples) {
            const std::string limit = std::to_string(state.audio_seconds);
            throw MediumError("the sounds of a request are longer than " + limit + " seconds together");
        }
        if (read < BLOCK_FRAMES) break;
    }
    if (samples.empty()) throw MediumError("the audio contains no samples");
    // Resampling rounds. mtmd's helper ends at the declared length, so this must as well.
    const auto length = static_cast<size_t>(declared);
    const bool is_close = length < samples.size() + ROUNDING_FRAMES && length + ROUNDING_FRAMES > samples.size();
    if (length > 0 && is_close) samples.resize(length, 0.0f);
    const auto shortest = static_cast<size_t>(sample_rate / SHORTEST_PART_OF_SECOND);
    if (samples.size() < shortest) samples.resize(shortest, 0.0f);
    return samples;
}

} // namespace media
