#include "abort.hpp"

#include "errors.hpp"
#include "threads.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <deque>
#include <mutex>

namespace svc {
namespace {

// Requests that came while their owner was not being computed; more than these are not worth keeping.
constexpr size_t MOST_PENDING = 64;

struct Aborts {
    std::mutex mutex;
    std::deque<int32_t> pending;
    // Of the running computation; 0 also when there is none.
    int32_t running = 0;
    std::atomic<bool> stop{false};
};
Aborts & aborts = *new Aborts;

void request_abort(int32_t owner) {
    std::lock_guard<std::mutex> lock(aborts.mutex);
    if (owner != 0 && (owner == aborts.running || aborts.running == AbortScope::ANYONE)) {
        aborts.stop = true;
        return;
    }
    // It may arrive just before the owner's computation starts.
    if (aborts.pending.size() == MOST_PENDING) aborts.pending.pop_front();
    aborts.pending.push_back(owner);
}

void listen(int fd) {
    int32_t owner = 0;
    size_t have = 0;
    for (;;) {
        const ssize_t got = read(fd, reinterpret_cast<char *>(&owner) + have, sizeof owner - have);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && errno == EAGAIN) {
            pollfd readable = {fd, POLLIN, 0};
            poll(&readable, 1, -1);
            continue;
        }
        // The other end is gone, so nobody waits for this process any more, whatever it is computing.
        if (got <= 0) _exit(0);
        have += static_cast<size_t>(got);
        if (have < sizeof owner) continue;
        have = 0;
        request_abort(owner);
    }
}

} // namespace

bool abort_requested(void *) { return aborts.stop.load(std::memory_order_relaxed); }

AbortScope::AbortScope(int32_t owner) {
    std::lock_guard<std::mutex> lock(aborts.mutex);
    aborts.running = owner;
    const auto early = std::find(aborts.pending.begin(), aborts.pending.end(), owner);
    if (owner <= 0 || early == aborts.pending.end()) return;
    aborts.pending.erase(early);
    aborts.stop = true;
}

AbortScope::~AbortScope() {
    std::lock_guard<std::mutex> lock(aborts.mutex);
    aborts.running = 0;
    aborts.stop = false;
}

bool AbortScope::aborted_already() const { return abort_requested(nullptr); }

} // namespace svc

using namespace svc;

extern "C" int32_t svc_abort_listen(int32_t fd) {
    return guarded<int32_t>(-1, [&] {
        if (fcntl(fd, F_GETFD) < 0) return fail("cannot listen for aborts: " + std::string(std::strerror(errno)));
        start_thread([fd] { listen(fd); });
        return 0;
    });
}
