#include "abort.hpp"

#include "errors.hpp"
#include "platform.hpp"
#include "threads.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace svc {
namespace {

// Limit on abort requests kept for owners that are not being computed; beyond it, the oldest one is dropped.
constexpr size_t MOST_PENDING = 64;

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds REPORT_PERIOD(1);

struct Aborts {
    std::mutex mutex;
    std::deque<int32_t> pending;
    // The owner of each row of the running computation; none when nothing is running.
    const int32_t * owners = nullptr;
    size_t rows = 0;
    // The owners that requested a stop, and their number of rows.
    std::vector<int32_t> leavers;
    size_t unwanted = 0;
    // Whether the computation is to stop, and whether it has noticed. When it ends without having noticed, the requests
    // apply to their owners' next computation instead.
    std::atomic<bool> stop{false};
    std::atomic<bool> heeded{false};
    // Description of the running computation; empty when nothing is running.
    std::atomic<const char *> work{""};
    // Increases while a computation makes progress.
    std::atomic<uint32_t> beats{0};
    // The descriptor for reports to the parent; negative until svc_abort_listen was called.
    std::atomic<int> fd{-1};
};
Aborts & aborts = *new Aborts;

void keep_pending(int32_t owner) {
    if (aborts.pending.size() == MOST_PENDING) aborts.pending.pop_front();
    aborts.pending.push_back(owner);
}

// Requires the mutex.
void request_abort(int32_t owner) {
    const auto owned = static_cast<size_t>(std::count(aborts.owners, aborts.owners + aborts.rows, owner));
    // The request may arrive just before the owner's computation starts.
    if (owned == 0) return keep_pending(owner);
    if (std::find(aborts.leavers.begin(), aborts.leavers.end(), owner) != aborts.leavers.end()) return;
    aborts.leavers.push_back(owner);
    aborts.unwanted += owned;
    if (2 * aborts.unwanted > aborts.rows) aborts.stop = true;
}

// Increments the counter without an atomic read-modify-write: two threads rarely increment at once, so a lost increment
// does not matter, and every nanosecond counts between graph nodes.
void beat() { aborts.beats.store(aborts.beats.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }

// Sends the periodic progress line; see svc_abort_listen.
void report(int fd) {
    static uint32_t reported = 0;
    const uint32_t beats = aborts.beats.load(std::memory_order_relaxed);
    tell(fd, (beats == reported ? "-" : "+") + std::string(aborts.work.load()) + "\n");
    reported = beats;
}

void listen(int fd) {
    int32_t owner = 0;
    size_t have = 0;
    Clock::time_point due = Clock::now() + REPORT_PERIOD;
    for (;;) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(due - Clock::now()).count();
        if (left <= 0) {
            report(fd);
            due = Clock::now() + REPORT_PERIOD;
            continue;
        }
        const int got = receive(fd, reinterpret_cast<char *>(&owner) + have, sizeof owner - have, static_cast<int>(left));
        // The parent has closed its end, so nothing needs this process any more, whatever it is computing.
        if (got < 0) _exit(0);
        have += static_cast<size_t>(got);
        if (have < sizeof owner) continue;
        have = 0;
        std::lock_guard<std::mutex> lock(aborts.mutex);
        if (owner > 0) request_abort(owner);
    }
}

} // namespace

void tell_cause(int32_t owner) {
    const int fd = aborts.fd;
    if (owner != 0 && fd >= 0) tell(fd, "!" + std::to_string(owner) + "\n");
}

bool abort_requested(void *) {
    beat();
    if (!aborts.stop.load(std::memory_order_relaxed)) return false;
    aborts.heeded.store(true, std::memory_order_relaxed);
    return true;
}

AbortScope::AbortScope(int32_t owner, const char * work) : only(owner) { begin(&only, 1, work); }

AbortScope::AbortScope(const int32_t * owners, size_t rows, const char * work) { begin(owners, rows, work); }

void AbortScope::begin(const int32_t * owners, size_t rows, const char * work) {
    beat();
    std::lock_guard<std::mutex> lock(aborts.mutex);
    aborts.work = work;
    aborts.owners = owners;
    aborts.rows = rows;
    const std::deque<int32_t> early = std::exchange(aborts.pending, {});
    for (const int32_t owner : early) request_abort(owner);
}

AbortScope::~AbortScope() {
    std::lock_guard<std::mutex> lock(aborts.mutex);
    if (!aborts.heeded) std::for_each(aborts.leavers.begin(), aborts.leavers.end(), keep_pending);
    aborts.owners = nullptr;
    aborts.rows = 0;
    aborts.leavers.clear();
    aborts.unwanted = 0;
    aborts.stop = false;
    aborts.heeded = false;
    aborts.work = "";
}

bool AbortScope::aborted_already() const { return abort_requested(nullptr); }

} // namespace svc

using namespace svc;

extern "C" int32_t svc_abort_listen(int32_t fd) {
    return guarded<int32_t>(-1, [&] {
        if (!is_open(fd)) return fail("cannot listen for aborts: " + std::string(std::strerror(errno)));
        aborts.fd = fd;
        start_thread([fd] { listen(fd); });
        return 0;
    });
}
