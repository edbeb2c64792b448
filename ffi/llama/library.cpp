// Version, errors, log and compute backends: everything that exists before a model does.

#include "state.hpp"

#include "build-info.h"
#include "ggml-backend.h"
#include "log.h"

#include <pthread.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <stdexcept>

namespace svc {

State & state = *new State;

namespace {

thread_local std::string last_error;

constexpr size_t LOG_LINES = 1000;
constexpr size_t LOG_LINE_BYTES = 1000;
constexpr size_t STACK_BYTES = 64 << 20;

struct Log {
    std::mutex mutex;
    std::deque<std::string> ring;
    std::string complaint;
};
Log & log_state = *new Log;

const char * level_name(ggml_log_level level) {
    switch (level) {
        case GGML_LOG_LEVEL_ERROR: return "error";
        case GGML_LOG_LEVEL_WARN:  return "warn";
        case GGML_LOG_LEVEL_INFO:  return "info";
        default:                   return "debug";
    }
}

// "function: text" as llama.cpp writes it, without the function.
std::string without_function(const std::string & line) {
    const size_t colon = line.find(": ");
    const bool is_name = colon != std::string::npos && line.find(' ') > colon;
    return is_name ? line.substr(colon + 2) : line;
}

void on_log(ggml_log_level level, const char * text, void *) {
    // A continuation belongs to the line before it; progress dots are continuations, too.
    if (level == GGML_LOG_LEVEL_CONT || !text) return;
    // What llama.cpp says about a computation that was stopped on purpose is not news.
    if (is_stopping()) return;
    // Nor is this: the cache is shared by all requests, and each of them is held to what the model was trained for.
    if (std::strstr(text, "possible training context overflow")) return;
    // Nor how it plans its graphs each time that other adapters compute.
    if (state.may_plan && (level == GGML_LOG_LEVEL_INFO || level == GGML_LOG_LEVEL_DEBUG)) return;
    std::string line = std::string(text).substr(0, LOG_LINE_BYTES);
    while (!line.empty() && (line.back() == '\n' || line.back() == ' ')) line.pop_back();
    if (line.empty()) return;
    std::replace(line.begin(), line.end(), '\n', ' ');
    std::lock_guard<std::mutex> lock(log_state.mutex);
    if (level == GGML_LOG_LEVEL_ERROR && log_state.complaint.empty()) log_state.complaint = without_function(line);
    if (log_state.ring.size() == LOG_LINES) log_state.ring.pop_front();
    log_state.ring.push_back(std::string(level_name(level)) + "\t" + line + "\n");
}

} // namespace

void set_error(const std::string & sentence) { last_error = sentence; }

int32_t fail(const std::string & sentence) {
    set_error(sentence);
    return -1;
}

void forget_complaint() {
    std::lock_guard<std::mutex> lock(log_state.mutex);
    log_state.complaint.clear();
}

std::string with_complaint(const std::string & sentence) {
    std::lock_guard<std::mutex> lock(log_state.mutex);
    return log_state.complaint.empty() ? sentence : sentence + ": " + log_state.complaint;
}

void start_thread(void (*body)(void *), void * argument) {
    struct Start {
        void (*body)(void *);
        void * argument;
    };
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    auto * start = new Start{body, argument};
    pthread_t thread;
    const int result = pthread_create(
        &thread, &attributes,
        [](void * pointer) -> void * {
            const Start run = *static_cast<Start *>(pointer);
            delete static_cast<Start *>(pointer);
            run.body(run.argument);
            return nullptr;
        },
        start);
    pthread_attr_destroy(&attributes);
    if (result == 0) return;
    delete start;
    throw std::runtime_error(std::string("cannot start a thread: ") + std::strerror(result));
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

const char * svc_library_version(void) {
    static const std::string & version = *new std::string(std::string("llama.cpp ") + llama_version() + " (" + llama_commit() + ")");
    return version.c_str();
}

int32_t svc_init(const char * backend_dir) {
    return guarded<int32_t>(-1, [&] {
        if (ggml_backend_dev_count() > 0) return 0;
        llama_log_set(on_log, nullptr);
        // The common library would print to stderr from a thread of its own.
        common_log_set_verbosity_thold(-1);
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

} // extern "C"
