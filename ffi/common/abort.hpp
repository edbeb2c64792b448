// Stopping a computation from outside: JavaScript cannot run while one is under way, so requests come through a pipe.
#pragma once

#include <cstdint>

namespace svc {

// Brackets one computation, so that an abort request can find it. `owner`: see svc_abort_listen; ANYONE: it is that of
// several, any of whom may stop it; 0: nobody may.
class AbortScope {
  public:
    static constexpr int32_t ANYONE = -1;
    explicit AbortScope(int32_t owner);
    ~AbortScope();
    // True when the owner was aborted before the computation began.
    bool aborted_already() const;
};

// An abort callback for ggml and what is built on it; called between graph nodes.
bool abort_requested(void *);

} // namespace svc
