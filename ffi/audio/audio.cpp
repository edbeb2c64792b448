#include "shim.h"

#include "../common/buffers.hpp"
#include "../common/errors.hpp"
#include "../common/load.hpp"
#include "../common/sound-file.hpp"

#include <map>
#include <variant>

namespace audio {
namespace {

using namespace svc;

struct SoundError : Failure {
    explicit SoundError(const std::string & sentence) : Failure(SVC_AUDIO_ERROR_BAD_SOUND, sentence) {}
};

using Sound = SoundFile<SoundError>;

class Converter {
  public:
    explicit Converter(uint32_t rate) {
        check_rate<SoundError>(rate);
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

// What a number refers to.
using Open = std::variant<std::unique_ptr<Sound>, std::unique_ptr<Converter>>;

std::map<int32_t, Open> & all = *new std::map<int32_t, Open>;
int32_t last_number = 0;

int32_t keep(Open open) {
    last_number = last_number == INT32_MAX ? 1 : last_number + 1;
    all[last_number] = std::move(open);
    return last_number;
}

template <typename Kind> Kind & opened(int32_t number) {
    const auto found = all.find(number);
    auto * const open = found == all.end() ? nullptr : std::get_if<std::unique_ptr<Kind>>(&found->second);
    if (!open) throw std::runtime_error("nothing of this kind is open under this number");
    return **open;
}

} // namespace
} // namespace audio

using namespace audio;

void svc::unload() { all.clear(); }

extern "C" {

int32_t svc_abi_version(void) { return SVC_ABI_VERSION; }

int32_t svc_audio_open(const uint8_t * path, int32_t length) {
    return guarded<int32_t>(-1, [&] { return keep(std::make_unique<Sound>(text_of(path, length), SVC_AUDIO_RATE)); });
}

double svc_audio_declared_frames(int32_t sound) {
    return guarded<double>(-1, [&] {
        Sound & file = opened<Sound>(sound);
        return static_cast<double>(file.is_mp3() ? 0 : file.declared_frames());
    });
}

int32_t svc_audio_read(int32_t sound, float * out, int32_t frames) {
    return guarded<int32_t>(-1, [&] { return static_cast<int32_t>(opened<Sound>(sound).read(out, static_cast<size_t>(frames))); });
}

int32_t svc_audio_open_converter(int32_t rate) {
    return guarded<int32_t>(-1, [&] { return keep(std::make_unique<Converter>(static_cast<uint32_t>(std::max(rate, 0)))); });
}

int32_t svc_audio_convert(int32_t converter, const float * samples, int32_t frames, float * out, int32_t capacity) {
    return guarded<int32_t>(-1, [&] { return opened<Converter>(converter).convert(samples, frames, out, capacity); });
}

void svc_audio_close(int32_t number) { all.erase(number); }

} // extern "C"
