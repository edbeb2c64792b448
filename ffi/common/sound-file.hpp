// Decodes WAV, MP3 and FLAC files to one-channel samples at any rate, block by block. No buffer is ever sized by the
// length that a file declares. Only one source of a library may include this: it compiles miniaudio. `SoundError` is the
// library's exception for a file that is at fault; it is made from a sentence.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

#define MINIAUDIO_IMPLEMENTATION
#define MA_NO_ENCODING
#define MA_NO_DEVICE_IO
#define MA_NO_RESOURCE_MANAGER
#define MA_NO_NODE_GRAPH
#define MA_NO_ENGINE
#define MA_NO_GENERATION
#define MA_API static
// The only symbol that is not static; renamed because other libraries may bring their own miniaudio.
#define ma_atomic_global_lock svc_sound_atomic_lock
#include "miniaudio/miniaudio.h"

#include "ggml.h"

namespace svc {

template <typename SoundError> void check_rate(uint32_t rate) {
    if (rate >= 1000 && rate <= 384000) return;
    throw SoundError("the audio must have 1000 to 384000 samples a second; got " + std::to_string(rate));
}

// Supplies the bytes of a file, or bytes in memory, to miniaudio.
template <typename SoundError> class SoundSource {
  public:
    explicit SoundSource(const std::string & path) : file(ggml_fopen(path.c_str(), "rb"), std::fclose) {
        if (!file) throw std::runtime_error("the file cannot be opened");
        fseeko(file.get(), 0, SEEK_END);
        size = static_cast<uint64_t>(std::max<off_t>(ftello(file.get()), 0));
        look();
    }
    // The bytes must outlive this object.
    SoundSource(const uint8_t * bytes, size_t size) : bytes(bytes), size(size) { look(); }
    SoundSource(const SoundSource &) = delete;

    static ma_result read(ma_decoder * decoder, void * out, size_t bytes, size_t * bytes_read) {
        auto & self = *static_cast<SoundSource *>(decoder->pUserData);
        const uint64_t from = self.position;
        *bytes_read = self.take(out, bytes);
        self.fill_open_end(static_cast<uint8_t *>(out), from, *bytes_read);
        return *bytes_read == 0 && bytes > 0 ? MA_AT_END : MA_SUCCESS;
    }
    static ma_result seek(ma_decoder * decoder, ma_int64 offset, ma_seek_origin origin) {
        auto & self = *static_cast<SoundSource *>(decoder->pUserData);
        const uint64_t start = origin == ma_seek_origin_start ? 0 : origin == ma_seek_origin_current ? self.position : self.size;
        const int64_t target = static_cast<int64_t>(start) + offset;
        return target >= 0 && self.go_to(static_cast<uint64_t>(target)) ? MA_SUCCESS : MA_BAD_SEEK;
    }

    ma_encoding_format format;

  private:
    static constexpr size_t CHUNK_HEADER = 8;
    // Files of this form keep their lengths as 64-bit numbers in a chunk before all others.
    static constexpr const char * LONG_FORM = "RF64";
    static constexpr int MOST_CHUNKS = 1 << 12;

    void look() {
        format = sniff();
        if (format == ma_encoding_format_wav) find_open_end();
        go_to(0);
    }

    bool go_to(uint64_t offset) {
        if (offset > size || (file && fseeko(file.get(), static_cast<off_t>(offset), SEEK_SET) != 0)) return false;
        position = offset;
        return true;
    }

    // Reads from the current position; returns fewer bytes only at the end.
    size_t take(void * out, size_t count) {
        const size_t got = file ? std::fread(out, 1, count, file.get()) : std::min<size_t>(count, size - position);
        if (!file && got > 0) std::memcpy(out, bytes + position, got);
        position += got;
        return got;
    }

    bool read_at(uint64_t offset, uint8_t * out, size_t count) { return go_to(offset) && take(out, count) == count; }

    ma_encoding_format sniff() {
        uint8_t head[12] = {};
        go_to(0);
        const size_t length = take(head, sizeof(head));
        const auto has = [&](size_t offset, const char * magic) {
            return offset + 4 <= length && std::memcmp(head + offset, magic, std::strlen(magic)) == 0;
        };
        if ((has(0, "RIFF") || has(0, LONG_FORM)) && has(8, "WAVE")) return ma_encoding_format_wav;
        if (has(0, "fLaC")) return ma_encoding_format_flac;
        if (has(0, "ID3")) {
            // The tag's length has seven bits in each byte.
            const uint64_t tag = (head[6] & 127) << 21 | (head[7] & 127) << 14 | (head[8] & 127) << 7 | (head[9] & 127);
            uint8_t magic[4];
            const bool is_flac = read_at(10 + tag, magic, sizeof(magic)) && std::memcmp(magic, "fLaC", 4) == 0;
            return is_flac ? ma_encoding_format_flac : ma_encoding_format_mp3;
        }
        // The eleven sync bits and layer III that start each frame.
        if (head[0] == 0xff && (head[1] & 0xe6) == 0xe2) return ma_encoding_format_mp3;
        throw SoundError("the audio is neither WAV, MP3 nor FLAC");
    }

    static uint32_t number(const uint8_t * at) {
        return at[0] | at[1] << 8 | at[2] << 16 | static_cast<uint32_t>(at[3]) << 24;
    }

    // Finds a data size that is wrong because the recorder left it open or the file was truncated: all that follows is
    // sound.
    void find_open_end() {
        uint8_t header[CHUNK_HEADER];
        uint8_t lengths[16];
        const bool is_long = read_at(0, header, 4) && std::memcmp(header, LONG_FORM, 4) == 0;
        uint64_t at = 12;
        uint64_t long_length_at = 0;
        for (int chunk = 0; chunk < MOST_CHUNKS && read_at(at, header, CHUNK_HEADER); chunk++) {
            uint64_t length = number(header + 4);
            at += CHUNK_HEADER;
            // The length of the file, then the length of the sound.
            if (is_long && chunk == 0 && read_at(at, lengths, sizeof(lengths))) long_length_at = at + 8;
            if (std::memcmp(header, "data", 4) == 0) {
                if (long_length_at > 0) length = number(lengths + 8) | static_cast<uint64_t>(number(lengths + 12)) << 32;
                if (length > 0 && length <= size - at) return;
                open_end = long_length_at > 0 ? long_length_at : at - 4;
                open_bytes = long_length_at > 0 ? 8 : 4;
                length_there = long_length_at > 0 ? size - at : std::min<uint64_t>(size - at, UINT32_MAX - 1);
                return;
            }
            at += length + (length & 1);
        }
    }

    // Replaces the wrong size with the actual one where the bytes read from offset `from` contain it.
    void fill_open_end(uint8_t * out, uint64_t from, size_t bytes) const {
        for (uint64_t place = 0; open_end > 0 && place < open_bytes; place++) {
            const uint64_t at = open_end + place;
            if (at >= from && at < from + bytes) out[at - from] = static_cast<uint8_t>(length_there >> (8 * place));
        }
    }

    const std::unique_ptr<FILE, decltype(&std::fclose)> file{nullptr, std::fclose};
    const uint8_t * const bytes = nullptr;
    uint64_t size = 0;
    uint64_t position = 0;
    uint64_t open_end = 0;
    uint64_t open_bytes = 0;
    uint64_t length_there = 0;
};

template <typename SoundError> class SoundFile {
  public:
    SoundFile(const std::string & path, int32_t sample_rate) : source(path) { decode_at(sample_rate); }
    // The bytes must outlive this object.
    SoundFile(const uint8_t * bytes, size_t size, int32_t sample_rate) : source(bytes, size) { decode_at(sample_rate); }
    SoundFile(const SoundFile &) = delete;

    // Returns the number of frames read; fewer than requested means the end of the file, or that the rest is damaged.
    size_t read(float * out, size_t frames) {
        ma_uint64 read = 0;
        ma_decoder_read_pcm_frames(&decoder, out, frames, &read);
        return static_cast<size_t>(read);
    }

    // Returns the number of frames, at the requested rate, that the file declares or that its parts add up to; 0 when
    // it does not say. An MP3 file is read to its end to find out.
    uint64_t declared_frames() {
        ma_uint64 frames = 0;
        return ma_decoder_get_length_in_pcm_frames(&decoder, &frames) == MA_SUCCESS ? frames : 0;
    }

    bool is_mp3() const { return source.format == ma_encoding_format_mp3; }

  private:
    using Source = SoundSource<SoundError>;

    void decode_at(int32_t sample_rate) {
        ma_decoder_config config = ma_decoder_config_init(ma_format_f32, 1, static_cast<ma_uint32>(sample_rate));
        config.encodingFormat = source.format;
        if (ma_decoder_init(Source::read, Source::seek, &source, &config, &decoder) != MA_SUCCESS) {
            throw SoundError("the audio cannot be decoded");
        }
        opened.reset(&decoder);
        ma_uint32 channels = 0, rate = 0;
        ma_data_source_get_data_format(decoder.pBackend, nullptr, &channels, &rate, nullptr, 0);
        check_rate<SoundError>(rate);
        if (channels >= 1 && channels <= 16) return;
        throw SoundError("the audio must have 1 to 16 channels; got " + std::to_string(channels));
    }

    Source source;
    ma_decoder decoder;
    // Also frees what the decoder holds when the file is refused.
    std::unique_ptr<ma_decoder, decltype(&ma_decoder_uninit)> opened{nullptr, ma_decoder_uninit};
};

} // namespace svc
