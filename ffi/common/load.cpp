#include "load.hpp"

#include "buffers.hpp"
#include "errors.hpp"
#include "threads.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace svc {
namespace {

enum class Phase { idle, loading, ready, failed };

// Held while the phase changes.
std::mutex & mutex = *new std::mutex;
// The loading thread sets this last: a thread that reads `ready` may use what was loaded.
std::atomic<Phase> phase{Phase::idle};
std::atomic<float> progress{0};
Failure & failure = *new Failure(0, "");

enum class LoadReport { none, pending, reported };
// The file being read, and whether a poll has reported it; both guarded by the mutex.
std::string & file = *new std::string;
LoadReport file_report = LoadReport::none;
std::condition_variable & known = *new std::condition_variable;

// Returns whether there is a new file to report. The call after that lets the loading thread continue.
bool report_file() {
    std::lock_guard<std::mutex> lock(mutex);
    if (file_report == LoadReport::pending) {
        file_report = LoadReport::reported;
        return true;
    }
    file_report = LoadReport::none;
    known.notify_all();
    return false;
}

void run(const std::function<void()> & load) {
    Phase end = Phase::ready;
    if (const std::optional<Failure> thrown = attempt(load)) {
        failure = *thrown;
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
    file.clear();
    start_thread([load = std::move(load)] { run(load); });
    phase = Phase::loading;
    return 0;
}

void open_file(const std::string & path) {
    std::unique_lock<std::mutex> lock(mutex);
    if (path == file) return;
    file = path;
    file_report = LoadReport::pending;
    known.wait(lock, [] { return file_report == LoadReport::none; });
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
        if (now == Phase::ready) return static_cast<int32_t>(SVC_LOAD_READY);
        return static_cast<int32_t>(report_file() ? SVC_LOAD_OPENING : SVC_LOAD_LOADING);
    });
}

int32_t svc_load_file(uint8_t * out, int32_t capacity) {
    return guarded<int32_t>(-1, [&] {
        std::lock_guard<std::mutex> lock(mutex);
        return copy_out(file, out, capacity);
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
