#include "errors.hpp"

#include <algorithm>
#include <cstring>

namespace svc {
namespace {

// Thread-local, because only the thread that failed reads its error.
thread_local std::string last_error;
thread_local int32_t last_code = 0;

// Returns the sentence up to the point where the JSON parser or llama.cpp begins to quote its input.
std::string without_quote(const std::string & sentence) {
    size_t end = sentence.size();
    for (const char * quote : {"last read:", "after accepting piece:"}) end = std::min(end, sentence.find(quote));
    if (end == sentence.size()) return sentence;
    while (end > 0 && std::strchr(" ;:,", sentence[end - 1])) end--;
    return sentence.substr(0, end);
}

} // namespace

Failure caught() {
    try {
        throw;
    } catch (const Failure & failure) {
        return failure;
    } catch (const std::exception & error) {
        return {0, without_quote(error.what())};
    } catch (...) {
        return {0, "unknown native exception"};
    }
}

int32_t fail(const Failure & failure) { return fail(failure.what(), failure.code); }

int32_t fail(const std::string & sentence, int32_t code) {
    last_error = sentence;
    last_code = code;
    return -1;
}

} // namespace svc

using namespace svc;

extern "C" {

int32_t svc_last_error(uint8_t * out, int32_t capacity) {
    const int32_t length = std::min(static_cast<int32_t>(last_error.size()), capacity);
    std::memcpy(out, last_error.data(), static_cast<size_t>(length));
    return length;
}

int32_t svc_last_error_code(void) { return last_code; }

} // extern "C"
