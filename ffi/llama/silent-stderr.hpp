// Silences standard error for a while: llama.cpp prints grammars and patterns that it refuses, which are the client's
// own words.

#pragma once

#include "../common/platform.hpp"

#include <unistd.h>

#include <mutex>

namespace svc {

// Any thread: the first object silences standard error, the last one restores it.
class SilentStderr {
  public:
    SilentStderr() {
        std::lock_guard<std::mutex> lock(mutex);
        if (count++ > 0) return;
        kept = dup(STDERR_FILENO);
        const int nowhere = open_nowhere();
        if (kept >= 0 && nowhere >= 0) dup2(nowhere, STDERR_FILENO);
        if (nowhere >= 0) close(nowhere);
    }
    ~SilentStderr() {
        std::lock_guard<std::mutex> lock(mutex);
        if (--count > 0 || kept < 0) return;
        dup2(kept, STDERR_FILENO);
        close(kept);
    }
    SilentStderr(const SilentStderr &) = delete;
    SilentStderr & operator=(const SilentStderr &) = delete;

  private:
    static inline std::mutex & mutex = *new std::mutex;
    static inline int count = 0;
    static inline int kept = -1;
};

} // namespace svc
