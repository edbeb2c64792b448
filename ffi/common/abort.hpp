// Stops a computation from outside and reports its progress. JavaScript cannot run during a computation, so abort
// requests arrive through a pipe, and signs of life leave through the same pipe.
#pragma once

#include <cstdint>

namespace svc {

// Marks the extent of one computation, so that an abort request can find it. `owner`: see svc_abort_listen; ANYONE when
// the computation serves several owners, any of whom may stop it; 0 when nobody may stop it. `work`: a short
// description with static lifetime.
class AbortScope {
  public:
    static constexpr int32_t ANYONE = -1;
    AbortScope(int32_t owner, const char * work);
    ~AbortScope();
    // Returns true when the owner was aborted before the computation began.
    bool aborted_already() const;
};

// Tells the parent that this process is about to end because of this owner's request (see svc_abort_listen); 0: none.
void tell_cause(int32_t owner);

// Abort callback for ggml and the libraries built on ggml; called between graph nodes. Each call is a sign of life.
bool abort_requested(void *);

} // namespace svc
