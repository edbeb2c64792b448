#include "shim.h"

#include "../common/buffers.hpp"
#include "../common/errors.hpp"
#include "../common/load.hpp"
#include "../common/sound-file.hpp"

#include <map>

namespace audio {
namespace {

using namespace svc;

struct BadSound : Failure {
    explicit BadSound(const std::string & sentence) : Failure(SVC_AUDIO_ERROR_BAD_SOUND, sentence) {}
};

class Converter {
  public:
    explicit Converter(uint32_t rate) {
        check_rate(rate);
        const ma_resampler_config config =
            ma_resampler_config_init(ma_format_f32, 1, rate, SVC_AUDIO_RATE, ma_resample_algorithm_linear);
        if (ma_resampler_init(&config, nullptr, &resampler) != MA_SUCCESS) throw std::runtime_error("no memory");
    }
    ~Converter() { ma_resampler_uninit(&resampler, nullptr); }
    Converter(const Converter &) = delete;

    int32_t convert(const float * samples, int32_t frames, float * out, int32_t capacity) {
        ma_uint64 expected = 0, taken = static_cast<ma_uint64>(frames), made = static_cast<ma_uint64>(capacity);
        ma_resampler_get_expected_output_frame_count(&resampler, taken, &expected);
        if (expected > made) throw std::runtime_error("there is no room for what is converted");
        if (ma_resampler_process_pcm_frames(&resampler, samples, &taken, out, &made) != MA_SUCCESS) {
            throw std::runtime_error("the samples cannot be converted");
        }
        return static_cast<int32_t>(made);
    }

  private:
    ma_resampler resampler;
};

// What a handle refers to: either a file or a converter.
struct Open {
    std::unique_ptr<SoundFile> file;
    std::unique_ptr<Converter> converter;
};

std::map<int32_t, Open> & all = *new std::map<int32_t, Open>;
int32_t last_number = 0;

int32_t keep(Open open) {
    last_number = last_number == INT32_MAX ? 1 : last_number + 1;
    all[last_number] = std::move(open);
    return last_number;
}

SoundFile & file_of(int32_t number) {
    const auto found = all.find(number);
    if (found == all.end() || !found->second.file) throw std::runtime_error("no such sound is open");
    return *found->second.file;
}

Converter & converter_of(int32_t number) {
    const auto found = all.find(number);
    if (found == all.end() || !found->second.converter) throw std::runtime_error("no such converter is open");
    return *found->second.converter;
}

// Reports a faulty file with its own error code.
template <typename Body> int32_t checked(Body && body) {
    return guarded<int32_t>(-1, [&] {
        try {
            return body();
        } catch (const SoundError & error) {
            throw BadSound(error.what());
        }
    });
}

} // namespace
} // namespace audio

using namespace audio;

void svc::unload() { all.clear(); }

extern "C" {

int32_t svc_abi_version(void) { return SVC_ABI_VERSION; }

int32_t svc_audio_open(const uint8_t * path, int32_t length) {
    return checked([&] { return keep({std::make_unique<SoundFile>(text_of(path, length), SVC_AUDIO_RATE), nullptr}); });
}

double svc_audio_declared_frames(int32_t sound) {
    return guarded<double>(-1, [&] {
        SoundFile & file = file_of(sound);
        return static_cast<double>(file.is_mp3() ? 0 : file.declared_frames());
    });
}

int32_t svc_audio_read(int32_t sound, float * out, int32_t frames) {
    return checked([&] { return static_cast<int32_t>(file_of(sound).read(out, static_cast<size_t>(frames))); });
}

int32_t svc_audio_open_converter(int32_t rate) {
    return checked([&] {
        return keep({nullptr, std::make_unique<Converter>(static_cast<uint32_t>(std::max(rate, 0)))});
    });
}

int32_t svc_audio_convert(int32_t converter, const float * samples, int32_t frames, float * out, int32_t capacity) {
    return checked([&] { return converter_of(converter).convert(samples, frames, out, capacity); });
}

void svc_audio_close(int32_t number) { all.erase(number); }

} // extern "C"
