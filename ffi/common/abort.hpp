// Stops a computation from outside and reports its progress. JavaScript cannot run during a computation, so abort
// requests arrive through a pipe, and signs of life leave through the same pipe.
#pragma once

#include <cstddef>
#include <cstdint>

namespace svc {

// Marks the extent of one computation, so that abort requests can find it. `work`: a short description with static
// lifetime.
class AbortScope {
  public:
    // `owner`: see svc_abort_listen; 0 when nobody may stop it.
    AbortScope(int32_t owner, const char * work);
    // Several owners' rows are computed together: `owners` has the owner of each, or 0. The computation stops when the
    // owners of more than half of the rows have requested it, because it is lost for the others.
    AbortScope(const int32_t * owners, size_t rows, const char * work);
    ~AbortScope();
    AbortScope(const AbortScope &) = delete;
    AbortScope & operator=(const AbortScope &) = delete;
    // Returns true when the owner was aborted before the computation began.
    bool aborted_already() const;

  private:
    void begin(const int32_t * owners, size_t rows, const char * work);

    const int32_t only = 0;
};

// Tells the parent that this process is about to end because of this owner's request (see svc_abort_listen); 0: none.
void tell_cause(int32_t owner);

// Abort callback for ggml and the libraries built on ggml; called between graph nodes. Each call is a sign of life.
bool abort_requested(void *);

} // namespace svc
