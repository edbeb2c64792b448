// Decides how many threads compute: fewer than allowed while other programs need the cores.
//
// ggml's threads wait for one another many times in each step, and spin while they wait: when one of them has to wait
// for a core, all nearly come to a standstill. The CPU time that the threads got, of the time that they needed, is
// measured. With n threads, the same step is faster on fewer threads as soon as more than 1/n of a core is missing.
#pragma once

#include "ggml-backend.h"
#include "llama.h"

#include <ctime>

namespace svc {

// Prepares for at most `most` threads, which is also the initial number; `fixed` when the number must not change.
void create_compute_threads(int most, bool fixed);
void free_compute_threads();

// Returns the number of threads that compute now.
int compute_threads();

// Gives a context the current number of threads. Not while it computes.
void use_compute_threads(llama_context * context);
// The same for a backend that computes on the CPU.
void use_compute_threads(ggml_backend_t cpu);

// The CPU clock of the calling thread.
#ifdef __linux__
constexpr clockid_t CALLER = CLOCK_THREAD_CPUTIME_ID;
#else
// The clock of the whole process: threads have no clocks that other threads could read.
constexpr clockid_t CALLER = CLOCK_PROCESS_CPUTIME_ID;
#endif
// Returns the clock of the calling thread in a form that other threads can read.
clockid_t own_clock();

// Measures a computation on `threads` threads until the scope ends. `caller`: the clock of the thread that drives it.
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
