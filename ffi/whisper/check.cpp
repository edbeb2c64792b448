// Checks a model file before whisper.cpp reads it: whisper.cpp trusts the file, and some contents make it end the
// process. The server has found out whether a given file is complete, but it reads neither the embedded ones nor files
// that were replaced since it started.

#include "state.hpp"

#include "ggml.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace whisper {
namespace {

constexpr uint32_t MAGIC = 0x67676d6c;
constexpr int32_t LONGEST_NAME = 256;
constexpr int32_t LARGEST_DIMENSION = 1 << 24;
// Files in the second version of the quantized formats add 2000 to their type.
constexpr int32_t VERSION_FACTOR = 1000;

class Reader {
  public:
    // On Windows, streams and paths take other strings in the system's own encoding.
    Reader(const std::string & path, const std::string & kind)
        : path(path), kind(kind), file(std::filesystem::u8path(path), std::ios::binary) {
        std::error_code missing;
        left = std::filesystem::file_size(std::filesystem::u8path(path), missing);
        if (missing) throw std::runtime_error("cannot read the " + kind + " " + path + ": " + missing.message());
        if (!file) throw std::runtime_error("cannot read the " + kind + " " + path);
        if (left < sizeof MAGIC || static_cast<uint32_t>(take()) != MAGIC) {
            throw std::runtime_error(path + " is not a " + kind + " in whisper.cpp's format");
        }
    }

    bool is_at_end() const { return left == 0; }

    int32_t take() {
        int32_t number = 0;
        claim(sizeof number);
        file.read(reinterpret_cast<char *>(&number), sizeof number);
        return number;
    }

    // Reads a number, which must be within bounds.
    int32_t take(int32_t least, int32_t most) {
        const int32_t number = take();
        require(number >= least && number <= most);
        return number;
    }

    void skip(uint64_t bytes) {
        claim(bytes);
        file.seekg(static_cast<std::streamoff>(bytes), std::ios::cur);
    }

    void require(bool holds) const {
        if (!holds) throw std::runtime_error("the " + kind + " " + path + " is damaged, or of an unknown kind");
    }

  private:
    void claim(uint64_t bytes) {
        if (bytes > left) throw std::runtime_error("the " + kind + " " + path + " is incomplete");
        left -= bytes;
    }

    const std::string path;
    const std::string kind;
    std::ifstream file;
    uint64_t left = 0;
};

bool is_one_of(int32_t value, std::initializer_list<int32_t> list) {
    return std::find(list.begin(), list.end(), value) != list.end();
}

void check_tensor(Reader & reader) {
    // A single number has no dimensions.
    const int32_t dimensions = reader.take(0, 4);
    const int32_t name = reader.take(1, LONGEST_NAME);
    const int32_t type = reader.take(0, GGML_TYPE_COUNT - 1);
    const auto format = static_cast<ggml_type>(type);
    // Some type numbers are no longer in use.
    reader.require(ggml_blck_size(format) > 0 && ggml_type_size(format) > 0);
    const int32_t columns = dimensions > 0 ? reader.take(1, LARGEST_DIMENSION) : 1;
    reader.require(columns % ggml_blck_size(format) == 0);
    uint64_t rows = 1;
    for (int32_t index = 1; index < dimensions; index++) {
        rows *= static_cast<uint64_t>(reader.take(1, LARGEST_DIMENSION));
        reader.require(rows <= LARGEST_DIMENSION);
    }
    reader.skip(static_cast<uint64_t>(name));
    reader.skip(ggml_row_size(format, columns) * rows);
}

void check_tensors(Reader & reader) {
    // whisper.cpp takes a file without tensors for a test.
    do check_tensor(reader);
    while (!reader.is_at_end());
}

} // namespace

void check_model(const std::string & path) {
    Reader reader(path, "speech model");
    const int32_t words = reader.take(51864, 60000);
    for (const bool is_text : {false, true}) {
        reader.take(1, is_text ? 1024 : 3000);
        const int32_t width = reader.take(64, 4096);
        const int32_t heads = reader.take(1, 64);
        reader.require(width % heads == 0);
        const int32_t layers = reader.take(1, 64);
        // whisper.cpp identifies models by their number of layers.
        reader.require(is_text || is_one_of(layers, {4, 6, 12, 24, 32}));
    }
    const int32_t bands = reader.take(1, 256);
    const int32_t type = reader.take(0, 10 * VERSION_FACTOR) % VERSION_FACTOR;
    reader.require(is_one_of(type, {0, 1, 2, 3, 7, 8, 9, 10, 11, 12, 13, 14}));
    reader.require(reader.take() == bands);
    reader.require(reader.take() == 1 + WHISPER_N_FFT / 2);
    reader.skip(sizeof(float) * static_cast<uint64_t>(bands) * (1 + WHISPER_N_FFT / 2));
    for (int32_t left = reader.take(1, words); left > 0; left--) {
        reader.skip(static_cast<uint64_t>(reader.take(0, LONGEST_NAME)));
    }
    check_tensors(reader);
}

void check_vad(const std::string & path) {
    Reader reader(path, "speech detector");
    reader.skip(static_cast<uint64_t>(reader.take(1, LONGEST_NAME)));
    for (int32_t part = 0; part < 3; part++) reader.take();
    // Window, context, and four convolutions: channels in, channels out and kernel; then the LSTM and the last layer.
    for (const int32_t size : {512, 64, 4, 129, 128, 3, 128, 64, 3, 64, 64, 3, 64, 128, 3, 128, 128, 128, 1}) {
        reader.require(reader.take() == size);
    }
    check_tensors(reader);
}

} // namespace whisper
