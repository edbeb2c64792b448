// Reports failures from a native library as a sentence and a code for the calling thread.
#pragma once

#include "library.h"

#include <optional>
#include <stdexcept>
#include <string>

namespace svc {

// A failure with an error code of this library (see its shim.h); code 0 when no caller handles it specifically.
struct Failure : std::runtime_error {
    Failure(int32_t code, const std::string & sentence) : std::runtime_error(sentence), code(code) {}
    int32_t code;
};

// Returns the exception being handled. Quoted input is removed from third-party messages, because prompts are private.
Failure caught();

// Runs `body`. Returns the failure when it throws.
template <typename Body> std::optional<Failure> attempt(Body && body) {
    try {
        body();
        return std::nullopt;
    } catch (...) {
        return caught();
    }
}

// Stores a failure for svc_last_error of this thread. Returns -1, the return value for "failed".
int32_t fail(const Failure & failure);
int32_t fail(const std::string & sentence, int32_t code = 0);

// Runs `body`. When it throws, stores the failure and returns `failed`, because no exception may cross the C boundary.
template <typename Result, typename Body> Result guarded(Result failed, Body && body) noexcept {
    try {
        return body();
    } catch (...) {
        fail(caught());
    }
    return failed;
}

} // namespace svc
