// Standard error, closed for a while: llama.cpp prints grammars and patterns that it refuses, and they are the client's own
// words.

#pragma once

#include <fcntl.h>
#include <unistd.h>

namespace svc {

class SilentStderr {
  public:
    SilentStderr() : kept(dup(STDERR_FILENO)), nowhere(open("/dev/null", O_WRONLY | O_CLOEXEC)) {
        if (kept >= 0 && nowhere >= 0) dup2(nowhere, STDERR_FILENO);
    }
    ~SilentStderr() {
        if (kept >= 0 && nowhere >= 0) dup2(kept, STDERR_FILENO);
        if (kept >= 0) close(kept);
        if (nowhere >= 0) close(nowhere);
    }
    SilentStderr(const SilentStderr &) = delete;
    SilentStderr & operator=(const SilentStderr &) = delete;

  private:
    int kept, nowhere;
};

} // namespace svc
