// What the translation units of the media shim share: the one projector, how failures leave the library, and threads.
#pragma once

#include "shim.h"

#include "cache.hpp"

#include "json.h"
#include "llama.h"
#include "mtmd.h"

#include <atomic>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>

namespace media {

struct State {
    // Set last by the loading thread: whoever sees it may use the rest.
    std::atomic<bool> ready{false};
    mtmd_context * context = nullptr;
    std::string marker;
    // Floats of one token's embedding.
    int32_t width = 0;
    int32_t sample_rate = 0;
    int32_t audio_seconds = 0;
    bool vision = false;
    bool audio = false;
    bool mrope = false;
    bool non_causal = false;
    EmbeddingCache cache;
};

// This and every other object with a destructor is leaked on purpose: native threads still use them while the process
// exits.
extern State & state;

// ---- failures ----

// The medium is what is wrong, not the program.
struct MediumError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

constexpr int32_t FAILED = -1;
constexpr int32_t BAD_MEDIUM = -2;

// The caller's last failure; one for each thread, because only the thread that failed asks for it.
void set_error(const std::string & sentence);

// Sets the sentence and returns `code`.
int32_t fail(const std::string & sentence, int32_t code = FAILED);

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

// ---- log ----

// Sends mtmd's log lines to ggml's log, but for debug lines: those contain prompts.
void forward_log();

// Collects the first error line of this thread while it lives: the first one names the cause, the others repeat it.
class Complaint {
  public:
    Complaint();
    ~Complaint();
    // `sentence`, and that line, without its function name, if there is one.
    std::string added_to(const std::string & sentence) const;

  private:
    friend void on_log(ggml_log_level, const char *, void *);
    std::string line;
};

// ---- helpers ----

// Runs `body` on a detached thread with a stack of a known size.
void start_thread(void (*body)(void *), void * argument);

// Copies bytes into a caller's buffer. Returns the length, or the negated length needed.
int32_t copy_out(const std::string & bytes, uint8_t * out, int32_t capacity);

} // namespace media
