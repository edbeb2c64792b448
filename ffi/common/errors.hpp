// How failures leave a native library: as a sentence and a code for the calling thread.
#pragma once

#include "library.h"

#include <stdexcept>
#include <string>

namespace svc {

// A failure with a code of the library's own (see its shim.h); 0: nobody would act upon it.
struct Failure : std::runtime_error {
    Failure(int32_t code, const std::string & sentence) : std::runtime_error(sentence), code(code) {}
    int32_t code;
};

// The exception that is being handled. Other people's sentences lose what they quote: prompts are private.
Failure caught();

// Leaves a failure for svc_last_error of this thread, and returns the number for "failed".
int32_t fail(const Failure & failure);
int32_t fail(const std::string & sentence, int32_t code = 0);

// Nothing may throw across the C border: runs `body`, or leaves its failure and returns `failed`.
template <typename Result, typename Body> Result guarded(Result failed, Body && body) noexcept {
    try {
        return body();
    } catch (...) {
        fail(caught());
    }
    return failed;
}

} // namespace svc
