// Stopping a computation from outside, and telling how it goes: JavaScript cannot run while one is under way, so requests come
// through a pipe, and signs of life leave through it.
#pragma once

#include <cstdint>

namespace svc {

// Brackets one computation, so that an abort request can find it. `owner`: see svc_abort_listen; ANYONE: it is that of
// several, any of whom may stop it; 0: nobody may. `work`: what it is, in a few words that stay where they are.
class AbortScope {
  public:
    static constexpr int32_t ANYONE = -1;
    AbortScope(int32_t owner, const char * work);
    ~AbortScope();
    // True when the owner was aborted before the computation began.
    bool aborted_already() const;
};

// Tells the parent that this process ends because of a request, see svc_abort_listen; nothing of 0.
void tell_cause(int32_t owner);

// An abort callback for ggml and what is built on it; called between graph nodes. Each call is a sign of life.
bool abort_requested(void *);

} // namespace svc
