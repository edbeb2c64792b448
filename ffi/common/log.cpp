#include "log.hpp"

#include "library.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <mutex>

namespace svc {
namespace {

constexpr size_t LOG_LINES = 1000;
constexpr size_t LOG_LINE_BYTES = 1000;

struct Log {
    std::mutex mutex;
    std::deque<std::string> ring;
};
Log & log_state = *new Log;
thread_local std::string complaint;

const char * level_name(ggml_log_level level) {
    switch (level) {
        case GGML_LOG_LEVEL_ERROR: return "error";
        case GGML_LOG_LEVEL_WARN:  return "warn";
        case GGML_LOG_LEVEL_INFO:  return "info";
        default:                   return "debug";
    }
}

std::string as_line(const char * text) {
    std::string line = std::string(text).substr(0, LOG_LINE_BYTES);
    while (!line.empty() && (line.back() == '\n' || line.back() == ' ')) line.pop_back();
    std::replace(line.begin(), line.end(), '\n', ' ');
    return line;
}

// Removes the function name from llama.cpp's "function: text".
std::string without_function(const std::string & line) {
    const size_t colon = line.find(": ");
    const bool is_name = colon != std::string::npos && line.find(' ') > colon;
    return is_name ? line.substr(colon + 2) : line;
}

} // namespace

void keep_log_line(ggml_log_level level, const char * text, void *) {
    // A continuation belongs to the previous line; progress dots are continuations too.
    if (level == GGML_LOG_LEVEL_CONT || !text) return;
    note_complaint(level, text);
    const std::string line = as_line(text);
    if (line.empty()) return;
    std::lock_guard<std::mutex> lock(log_state.mutex);
    if (log_state.ring.size() == LOG_LINES) log_state.ring.pop_front();
    log_state.ring.push_back(std::string(level_name(level)) + "\t" + line + "\n");
}

void note_complaint(ggml_log_level level, const char * text) {
    if (level == GGML_LOG_LEVEL_ERROR && complaint.empty()) complaint = without_function(as_line(text));
}

void forget_complaint() { complaint.clear(); }

std::string with_complaint(const std::string & sentence) {
    return complaint.empty() ? sentence : sentence + ": " + complaint;
}

} // namespace svc

using namespace svc;

extern "C" int32_t svc_log_drain(uint8_t * out, int32_t capacity) {
    std::lock_guard<std::mutex> lock(log_state.mutex);
    int32_t written = 0;
    while (!log_state.ring.empty()) {
        const std::string & line = log_state.ring.front();
        const auto length = static_cast<int32_t>(line.size());
        if (written + length > capacity) break;
        std::memcpy(out + written, line.data(), line.size());
        written += length;
        log_state.ring.pop_front();
    }
    return written;
}
