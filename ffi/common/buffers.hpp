// Reads text from, and writes text to, buffers that the caller owns.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

namespace svc {

inline std::string text_of(const uint8_t * bytes, int32_t length) {
    return {reinterpret_cast<const char *>(bytes), static_cast<size_t>(length)};
}

// Copies bytes into a caller's buffer. Returns the length, or the negated length needed.
template <typename Bytes> int32_t copy_out(const Bytes & bytes, uint8_t * out, int32_t capacity) {
    const auto length = static_cast<int32_t>(bytes.size());
    if (length > capacity) return -length;
    if (length > 0) std::memcpy(out, bytes.data(), bytes.size());
    return length;
}

} // namespace svc
