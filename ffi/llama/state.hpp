// What the translation units of the shim share: the one model, its context, and how failures leave the library.
#pragma once

#include "shim.h"

#include "chat.h"
#include "common.h"
#include "llama.h"
#include "sampling.h"

#include <atomic>
#include <cstdint>
#include <exception>
#include <string>
#include <vector>

namespace svc {

struct State {
    llama_model * model = nullptr;
    llama_context * context = nullptr;
    const llama_vocab * vocab = nullptr;
    common_chat_templates_ptr templates;
    int32_t n_batch = 0;
    int32_t n_seq_max = 0;
    bool unified = true;
    bool has_chat_template = false;
    std::string device;
};

extern State state;

// The caller's last failure; one for each thread, because only the thread that failed asks for it.
void set_error(const std::string & sentence);

// Appends a line to the log ring. Any thread.
void log_line(ggml_log_level level, const std::string & text);

// While a decode is being aborted on purpose, llama.cpp's complaints about it are not news.
extern std::atomic<bool> expect_abort;

bool abort_requested(void *);

// Nothing may throw across the C border: runs `body`, or leaves a sentence and returns `failed`.
template <typename Result, typename Body> Result guarded(Result failed, Body && body) noexcept {
    try {
        return body();
    } catch (const std::exception & error) {
        set_error(error.what());
    } catch (...) {
        set_error("unknown native exception");
    }
    return failed;
}

inline int32_t fail(const std::string & sentence) {
    set_error(sentence);
    return -1;
}

// Copies bytes into a caller's buffer. Returns the length, or the negated length needed.
int32_t copy_out(const std::string & bytes, uint8_t * out, int32_t capacity);

inline common_json parse_json(const uint8_t * bytes, int32_t length) {
    return common_json::parse(std::string(reinterpret_cast<const char *>(bytes), static_cast<size_t>(length)));
}

} // namespace svc
