#include "compute-threads.hpp"

#include "state.hpp"

#include "ggml-cpu.h"

#include <unistd.h>

#include <ctime>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <vector>

namespace svc {
namespace {

// Seconds of computation that are judged together: the system gives other programs turns of some milliseconds.
constexpr double JUDGED_SECONDS = 0.1;
// Measurements from before a pause longer than this, in seconds, say nothing about the time after it.
constexpr double LONGEST_PAUSE = 0.05;
// Seconds for which a core that was lost, or was not free after all, is left to other programs.
constexpr double SHORTEST_PATIENCE = 0.1;
constexpr double LONGEST_PATIENCE = 1;
// Threads are added when less than this share of the break-even point (1/n of a core) would be missing; between the two
// nothing changes.
constexpr double WORTH = 0.8;

double seconds(clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

// Returns the total seconds that cores were idle since the system started; negative where the system does not say.
double idle_seconds() {
#ifdef __linux__
    std::FILE * file = std::fopen("/proc/stat", "re");
    if (!file) return -1;
    unsigned long long idle = 0;
    unsigned long long waiting = 0;
    const int found = std::fscanf(file, "cpu %*u %*u %*u %llu %llu", &idle, &waiting);
    std::fclose(file);
    static const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
    return found == 2 ? static_cast<double>(idle + waiting) / ticks : -1;
#else
    return -1;
#endif
}

struct Moment {
    double wall = seconds(CLOCK_MONOTONIC);
    double processor = seconds(CLOCK_PROCESS_CPUTIME_ID);
    double idle = idle_seconds();
};

#ifdef __linux__
// Returns the thread ids of this process.
std::set<int> own_threads() {
    std::set<int> threads;
    std::error_code failed;
    for (const auto & entry : std::filesystem::directory_iterator("/proc/self/task", failed)) {
        threads.insert(std::atoi(entry.path().filename().c_str()));
    }
    return threads;
}

// Returns what pthread_getcpuclockid returns for a thread of this process.
clockid_t clock_of(int thread) { return static_cast<clockid_t>(~static_cast<unsigned>(thread) << 3 | 6); }
#endif

// Threads that wait for graphs, and the clocks of their CPU time. The clock of the process is not precise enough for
// short steps: the system accounts for a thread that runs on another core only at its next tick.
struct Pool {
    ggml_threadpool * threads = nullptr;
    // Clocks of all threads but the caller's. On systems other than Linux the caller's clock is that of the process.
    std::vector<clockid_t> clocks;
    // Whether the clocks can be trusted: no other thread started at the same time. Windows' clocks are too coarse.
    bool is_measured = true;
};

Pool make_pool(decltype(ggml_threadpool_new) * make, ggml_threadpool_params & params) {
#ifdef __linux__
    const std::set<int> before = own_threads();
    Pool made = {make(&params)};
    for (const int thread : own_threads()) {
        if (before.count(thread) == 0) made.clocks.push_back(clock_of(thread));
    }
    made.is_measured = made.clocks.size() + 1 == static_cast<size_t>(params.n_threads);
    return made;
#elif defined(_WIN32)
    return {make(&params), {}, false};
#else
    return {make(&params)};
#endif
}

class ComputeThreads {
  public:
    int count = 1;

    void create(int threads, bool is_fixed) {
        most = count = threads;
        fixed = is_fixed || threads == 1;
    }

    // Pools are made and freed by the CPU variant; an idle pool costs nothing.
    ggml_threadpool * pool() {
        const auto found = by_size.find(count);
        if (found != by_size.end()) return found->second.threads;
        const auto make = reinterpret_cast<decltype(ggml_threadpool_new) *>(cpu_function("ggml_threadpool_new"));
        if (!make) return nullptr;
        ggml_threadpool_params params = ggml_threadpool_params_default(count);
        // The smallest value above zero: threads spin for some milliseconds before they sleep, so that the next step
        // need not wake them, and free the cores when no step follows.
        params.poll = 1;
        return (by_size[count] = make_pool(make, params)).threads;
    }

    void free() {
        const auto free_pool = reinterpret_cast<decltype(ggml_threadpool_free) *>(cpu_function("ggml_threadpool_free"));
        for (const auto & [size, pool] : by_size) {
            if (pool.threads && free_pool) free_pool(pool.threads);
        }
        by_size.clear();
    }

    void prepare(double now) {
        if (fixed || now - ended < LONGEST_PAUSE) return;
        computed = missing = 0;
        if (count < most) grow_where_free();
    }

    // Returns the CPU time that the pool of this size and its caller have used so far; NAN where unknown.
    double had(int threads, clockid_t caller) const {
        const auto pool = by_size.find(threads);
        if (fixed || pool == by_size.end() || !pool->second.is_measured) return NAN;
        double sum = seconds(caller);
        for (const clockid_t clock : pool->second.clocks) sum += seconds(clock);
        return sum;
    }

    void record(int threads, double now, double wall, double processor) {
        ended = now;
        if (fixed || threads != count) return;
        computed += wall;
        // An unknown time (NAN) counts as nothing missing.
        missing += std::max(0.0, count * wall - processor);
        if (computed < JUDGED_SECONDS) return;
        const double cores = missing / computed;
        computed = missing = 0;
        if (count > 1 && cores > 1.0 / count) return shed(cores);
        if (count < most) grow_where_free();
    }

  private:
    void shed(double cores) {
        since = Moment();
        // Cores that were added only recently were not free: wait longer each time before trying again.
        patience = since.wall - grown < 2 * patience ? std::min(2 * patience, LONGEST_PATIENCE) : SHORTEST_PATIENCE;
        left = since.wall;
        count = std::max(1, count - std::max(1, static_cast<int>(std::lround(cores))));
    }

    // Judges only the time since the last call: what other programs did before that says nothing about now.
    void grow_where_free() {
        const Moment now;
        const double passed = now.wall - since.wall;
        if (passed < JUDGED_SECONDS) return;
        // Cores that other programs left free in this time. Where the system does not say, only an attempt shows
        // whether cores are free.
        const double free = now.idle < 0 ? most : (now.idle - since.idle + now.processor - since.processor) / passed;
        since = now;
        if (now.wall - left < patience || free < count + 1 - WORTH / (count + 1)) return;
        count = std::min(most, std::max(count + 1, static_cast<int>(free)));
        grown = now.wall;
    }

    int most = 1;
    bool fixed = true;
    std::map<int, Pool> by_size;
    // Input of the next judgement: seconds of computation, and core seconds that were needed but not available.
    double computed = 0;
    double missing = 0;
    double patience = SHORTEST_PATIENCE;
    double grown = -LONGEST_PATIENCE;
    double left = -LONGEST_PATIENCE;
    double ended = -LONGEST_PAUSE;
    // When free cores were last counted.
    Moment since;
};
ComputeThreads & pools = *new ComputeThreads;

} // namespace

void create_compute_threads(int most, bool fixed) { pools.create(most, fixed); }
void free_compute_threads() { pools.free(); }
int compute_threads() { return pools.count; }

clockid_t own_clock() {
#ifdef __linux__
    return clock_of(gettid());
#else
    return CALLER;
#endif
}

void use_compute_threads(llama_context * context) {
    pools.prepare(seconds(CLOCK_MONOTONIC));
    if (ggml_threadpool * pool = pools.pool()) llama_attach_threadpool(context, pool, nullptr);
    llama_set_n_threads(context, pools.count, pools.count);
}

void use_compute_threads(ggml_backend_t cpu) {
    pools.prepare(seconds(CLOCK_MONOTONIC));
    const auto attach =
        reinterpret_cast<decltype(ggml_backend_cpu_set_threadpool) *>(cpu_function("ggml_backend_cpu_set_threadpool"));
    const auto set_count =
        reinterpret_cast<decltype(ggml_backend_cpu_set_n_threads) *>(cpu_function("ggml_backend_set_n_threads"));
    ggml_threadpool * pool = pools.pool();
    if (attach && pool) attach(cpu, pool);
    if (set_count) set_count(cpu, pools.count);
}

MeasuredComputation::MeasuredComputation(int threads, clockid_t caller)
    : threads(threads), caller(caller), wall(seconds(CLOCK_MONOTONIC)), had(pools.had(threads, caller)) {}

MeasuredComputation::~MeasuredComputation() {
    const double now = seconds(CLOCK_MONOTONIC);
    pools.record(threads, now, now - wall, pools.had(threads, caller) - had);
}

} // namespace svc

extern "C" int32_t svc_compute_threads(void) { return svc::compute_threads(); }
