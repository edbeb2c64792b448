// Audio files to samples. mtmd's own helper does the same with the same decoder, but believes what a file says about
// its length, so that a small one can ask for all memory.

#include "jobs.hpp"

#define MINIAUDIO_IMPLEMENTATION
#define MA_NO_ENCODING
#define MA_NO_DEVICE_IO
#define MA_NO_RESOURCE_MANAGER
#define MA_NO_NODE_GRAPH
#define MA_NO_ENGINE
#define MA_NO_GENERATION
#define MA_API static
// The one object that is not static: mtmd has its own.
#define ma_atomic_global_lock svc_media_atomic_lock
#include "miniaudio/miniaudio.h"

#include <cstring>

namespace media {
namespace {

constexpr size_t BLOCK_FRAMES = 1 << 16;
constexpr size_t ROUNDING_FRAMES = 1 << 12;
// Some models' preprocessing divides a recording into frames and needs two of them.
constexpr int32_t SHORTEST_PART_OF_SECOND = 10;

ma_encoding_format format_of(const std::vector<uint8_t> & file) {
    const auto has = [&](size_t offset, const char * magic) {
        const size_t length = std::strlen(magic);
        return file.size() >= offset + length && std::memcmp(file.data() + offset, magic, length) == 0;
    };
    if (has(0, "RIFF") && has(8, "WAVE")) return ma_encoding_format_wav;
    if (has(0, "fLaC")) return ma_encoding_format_flac;
    // A tag, or eleven set bits as each frame has them.
    const bool has_frame = file.size() > 1 && file[0] == 0xff && (file[1] & 0xe0) == 0xe0;
    if (has(0, "ID3") || has_frame) return ma_encoding_format_mp3;
    throw MediumError("the audio is neither WAV, MP3 nor FLAC");
}

struct Decoder {
    Decoder(const std::vector<uint8_t> & file, int32_t sample_rate) {
        ma_decoder_config config = ma_decoder_config_init(ma_format_f32, 1, static_cast<ma_uint32>(sample_rate));
        config.encodingFormat = format_of(file);
        if (ma_decoder_init_memory(file.data(), file.size(), &config, &decoder) != MA_SUCCESS) {
            throw MediumError("the audio cannot be decoded");
        }
    }
    ~Decoder() { ma_decoder_uninit(&decoder); }
    Decoder(const Decoder &) = delete;

    ma_decoder decoder;
};

} // namespace

std::vector<float> decode_audio(const std::vector<uint8_t> & file, int32_t sample_rate, int32_t longest_seconds) {
    Decoder decoder(file, sample_rate);
    // What the file says, or its frames add up to.
    ma_uint64 declared = 0;
    if (ma_decoder_get_length_in_pcm_frames(&decoder.decoder, &declared) != MA_SUCCESS) declared = 0;
    const size_t longest = static_cast<size_t>(sample_rate) * static_cast<size_t>(longest_seconds);
    std::vector<float> samples;
    for (;;) {
        const size_t known = samples.size();
        samples.resize(known + BLOCK_FRAMES);
        ma_uint64 read = 0;
        float * out = samples.data() + known;
        const ma_result result = ma_decoder_read_pcm_frames(&decoder.decoder, out, BLOCK_FRAMES, &read);
        samples.resize(known + static_cast<size_t>(read));
        if (samples.size() > longest) {
            throw MediumError("the audio is longer than " + std::to_string(longest_seconds) + " seconds");
        }
        if (result != MA_SUCCESS || read < BLOCK_FRAMES) break;
    }
    if (samples.empty()) throw MediumError("the audio contains no samples");
    // Resampling rounds: mtmd's helper ends where the length says, so this must, too.
    const auto length = static_cast<size_t>(declared);
    const bool is_close = length < samples.size() + ROUNDING_FRAMES && length + ROUNDING_FRAMES > samples.size();
    if (length > 0 && is_close) samples.resize(length, 0.0f);
    const auto shortest = static_cast<size_t>(sample_rate / SHORTEST_PART_OF_SECOND);
    if (samples.size() < shortest) samples.resize(shortest, 0.0f);
    return samples;
}

} // namespace media
