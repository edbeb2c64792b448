#include "grammar-watch.hpp"

#include "../common/abort.hpp"
#include "../common/threads.hpp"

#include <time.h>
#include <unistd.h>

#include <chrono>
#include <mutex>
#include <thread>

namespace svc {
namespace {

constexpr int MOST_SECONDS = 30;

std::list<Watched> & watches = *new std::list<Watched>;
std::mutex & watch_mutex = *new std::mutex;
bool started = false;
thread_local int32_t handled_for = 0;

void serve() {
    for (;;) {
        std::this_thread::sleep_for(std::chrono::seconds(1));
        std::lock_guard<std::mutex> lock(watch_mutex);
        for (Watched & watched : watches) {
            if (++watched.seconds <= MOST_SECONDS) continue;
            tell_cause(watched.owner);
            _exit(static_cast<int>(watched.handling));
        }
    }
}

// Returns the CPU time of this thread in seconds; wall-clock time would include time in which other threads ran.
double thread_seconds() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

} // namespace

void handle_for(int32_t owner) { handled_for = owner; }

GrammarWatch::GrammarWatch(Handling handling, bool is_needed) : is_needed(is_needed), began(is_needed ? thread_seconds() : 0) {
    if (!is_needed) return;
    std::lock_guard<std::mutex> lock(watch_mutex);
    if (!started) start_thread(serve);
    started = true;
    entry = watches.insert(watches.end(), {handling, handled_for, 0});
}

GrammarWatch::~GrammarWatch() {
    if (!is_needed) return;
    std::lock_guard<std::mutex> lock(watch_mutex);
    watches.erase(entry);
}

double GrammarWatch::seconds() const { return is_needed ? thread_seconds() - began : 0; }

} // namespace svc
