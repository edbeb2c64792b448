// Version, errors, log and threads: everything that exists before a projector does.

#include "state.hpp"

#include "ggml.h"
#include "mtmd-helper.h"

#include <pthread.h>

#include <algorithm>
#include <cstring>

namespace media {

State & state = *new State;

namespace {

thread_local std::string last_error;
thread_local Complaint * listening = nullptr;

// Some preprocessors keep arrays on the stack, and a second thread's stack is small on macOS.
constexpr size_t STACK_BYTES = 8 << 20;

struct Sink {
    ggml_log_callback callback = nullptr;
    void * user_data = nullptr;
};
Sink & sink = *new Sink;

} // namespace

void on_log(ggml_log_level level, const char * text, void *) {
    if (!text || level == GGML_LOG_LEVEL_DEBUG || level == GGML_LOG_LEVEL_CONT) return;
    if (level == GGML_LOG_LEVEL_ERROR && listening && listening->line.empty()) listening->line = text;
    if (sink.callback) sink.callback(level, text, sink.user_data);
}

void forward_log() {
    ggml_log_get(&sink.callback, &sink.user_data);
    mtmd_helper_log_set(on_log, nullptr);
}

Complaint::Complaint() { listening = this; }

Complaint::~Complaint() { listening = nullptr; }

std::string Complaint::added_to(const std::string & sentence) const {
    std::string cause = line;
    // "function: text" as mtmd writes it.
    const size_t colon = cause.find(": ");
    if (colon != std::string::npos && cause.find(' ') > colon) cause = cause.substr(colon + 2);
    while (!cause.empty() && (cause.back() == '\n' || cause.back() == ' ')) cause.pop_back();
    std::replace(cause.begin(), cause.end(), '\n', ' ');
    return cause.empty() ? sentence : sentence + ": " + cause;
}

void set_error(const std::string & sentence) { last_error = sentence; }

int32_t fail(const std::string & sentence, int32_t code) {
    set_error(sentence);
    return code;
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

} // namespace media

using namespace media;

extern "C" {

int32_t svc_media_abi_version(void) { return SVC_MEDIA_ABI_VERSION; }

int32_t svc_media_last_error(uint8_t * out, int32_t capacity) {
    const int32_t length = std::min(static_cast<int32_t>(last_error.size()), capacity);
    std::memcpy(out, last_error.data(), static_cast<size_t>(length));
    return length;
}

} // extern "C"
