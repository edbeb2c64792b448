#include "load.hpp"

#include "errors.hpp"
#include "threads.hpp"

#include <atomic>
#include <mutex>

namespace svc {
namespace {

enum class Phase { idle, loading, ready, failed };

// Held for each change of the phase.
std::mutex & mutex = *new std::mutex;
// Set last by the loading thread: whoever sees it ready may use what was loaded.
std::atomic<Phase> phase{Phase::idle};
std::atomic<float> progress{0};
Failure & failure = *new Failure(0, "");

void run(const std::function<void()> & load) {
    Phase end = Phase::ready;
    try {
        load();
    } catch (...) {
        failure = caught();
        unload();
        end = Phase::failed;
    }
    std::lock_guard<std::mutex> lock(mutex);
    phase = end;
}

} // namespace

int32_t start_load(std::function<void()> load) {
    std::lock_guard<std::mutex> lock(mutex);
    if (phase == Phase::loading || phase == Phase::ready) return fail("something is loaded or loading already");
    progress = 0;
    start_thread([load = std::move(load)] { run(load); });
    phase = Phase::loading;
    return 0;
}

bool is_loaded() { return phase == Phase::ready; }

bool on_load_progress(float share, void *) {
    progress = share;
    return true;
}

} // namespace svc

using namespace svc;

extern "C" {

int32_t svc_load_poll(void) {
    return guarded<int32_t>(-1, [] {
        const Phase now = phase;
        if (now == Phase::failed) return fail(failure);
        if (now == Phase::idle) return fail("nothing is loaded");
        return static_cast<int32_t>(now == Phase::ready ? SVC_LOAD_READY : SVC_LOAD_LOADING);
    });
}

double svc_load_progress(void) { return progress; }

int32_t svc_unload(void) {
    return guarded<int32_t>(-1, [] {
        std::lock_guard<std::mutex> lock(mutex);
        if (phase == Phase::loading) return fail("a load is under way");
        phase = Phase::idle;
        unload();
        return 0;
    });
}

} // extern "C"
