// Version, errors, log and compute backends: everything that exists before a model does.

#include "state.hpp"

#include "ggml-backend.h"
#include "log.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>

namespace svc {

State state;
std::atomic<bool> expect_abort{false};

namespace {

thread_local std::string last_error;

constexpr size_t LOG_LINES = 1000;
std::mutex log_mutex;
std::deque<std::string> log_ring;

const char * level_name(ggml_log_level level) {
    switch (level) {
        case GGML_LOG_LEVEL_ERROR: return "error";
        case GGML_LOG_LEVEL_WARN:  return "warn";
        case GGML_LOG_LEVEL_INFO:  return "info";
        default:                   return "debug";
    }
}

void on_log(ggml_log_level level, const char * text, void *) {
    // A continuation belongs to the line before it; progress dots are continuations, too.
    if (level == GGML_LOG_LEVEL_CONT) return;
    std::string line(text ? text : "");
    while (!line.empty() && (line.back() == '\n' || line.back() == ' ')) line.pop_back();
    if (!line.empty()) log_line(level, line);
}

} // namespace

void set_error(const std::string & sentence) { last_error = sentence; }

void log_line(ggml_log_level level, const std::string & text) {
    if (expect_abort.load(std::memory_order_relaxed)) return;
    std::string flat = text;
    std::replace(flat.begin(), flat.end(), '\n', ' ');
    std::lock_guard<std::mutex> lock(log_mutex);
    if (log_ring.size() == LOG_LINES) log_ring.pop_front();
    log_ring.push_back(std::string(level_name(level)) + "\t" + flat + "\n");
}

int32_t copy_out(const std::string & bytes, uint8_t * out, int32_t capacity) {
    const auto length = static_cast<int32_t>(bytes.size());
    if (length > capacity) return -length;
    std::memcpy(out, bytes.data(), bytes.size());
    return length;
}

} // namespace svc

using namespace svc;

extern "C" {

int32_t svc_abi_version(void) { return SVC_ABI_VERSION; }

const char * svc_library_version(void) { return llama_version(); }

int32_t svc_init(const char * backend_dir) {
    return guarded<int32_t>(-1, [&] {
        llama_log_set(on_log, nullptr);
        common_log_pause(common_log_main());
        // ggml would also load whatever this names.
        unsetenv("GGML_BACKEND_PATH");
        ggml_backend_load_all_from_path(backend_dir);
        if (ggml_backend_dev_count() == 0) return fail(std::string("no compute backend in ") + backend_dir);
        llama_backend_init();
        return 0;
    });
}

int32_t svc_last_error(uint8_t * out, int32_t capacity) {
    const int32_t length = std::min(static_cast<int32_t>(last_error.size()), capacity);
    std::memcpy(out, last_error.data(), static_cast<size_t>(length));
    return length;
}

int32_t svc_log_drain(uint8_t * out, int32_t capacity) {
    std::lock_guard<std::mutex> lock(log_mutex);
    int32_t written = 0;
    while (!log_ring.empty()) {
        const std::string & line = log_ring.front();
        const int32_t length = std::min(static_cast<int32_t>(line.size()), capacity);
        if (written + length > capacity) break;
        std::memcpy(out + written, line.data(), static_cast<size_t>(length));
        written += length;
        log_ring.pop_front();
    }
    return written;
}

} // extern "C"
