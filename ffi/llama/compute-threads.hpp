// How many threads compute at this moment: fewer than may, while other programs want the cores.
//
// The threads of ggml wait for one another many times in each step, and compute while they wait: where one of them has to wait
// for a core, all come almost to a standstill. What they got of the time that they wanted is measured; with less of them the
// same step is faster as soon as more than one part in n of a core is missing.
#pragma once

#include "ggml-backend.h"
#include "llama.h"

#include <ctime>

namespace svc {

// Prepares for at most so many threads, the number to begin with; `fixed` where it is not to change.
void create_compute_threads(int most, bool fixed);
void free_compute_threads();

// Threads that compute at this moment.
int compute_threads();

// Gives a context the threads of the moment. Not while it computes.
void use_compute_threads(llama_context * context);
// Likewise a backend that computes on the CPU.
void use_compute_threads(ggml_backend_t cpu);

// The clock of what the calling thread computes.
#ifdef __linux__
constexpr clockid_t CALLER = CLOCK_THREAD_CPUTIME_ID;
#else
// Of the whole process: other threads have no clocks that this one could read.
constexpr clockid_t CALLER = CLOCK_PROCESS_CPUTIME_ID;
#endif
// The same, for other threads to read.
clockid_t own_clock();

// Measures a computation on so many threads, from here to the end of the scope. `caller`: the clock of the thread that has the
// others compute.
class MeasuredComputation {
  public:
    explicit MeasuredComputation(int threads = compute_threads(), clockid_t caller = CALLER);
    ~MeasuredComputation();
    MeasuredComputation(const MeasuredComputation &) = delete;
    MeasuredComputation & operator=(const MeasuredComputation &) = delete;

  private:
    int threads;
    clockid_t caller;
    double wall;
    double had;
};

} // namespace svc
