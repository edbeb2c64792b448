#include "grammar-watch.hpp"

#include "state.hpp"

#include <unistd.h>

#include <mutex>
#include <thread>

namespace svc {
namespace {

constexpr int MOST_SECONDS = 30;
constexpr int EXIT_CODE = 70;

// Seconds that each watch has been there for. Counted, not read from a clock: time in which the whole process stood
// still does not count.
std::list<int> & watches = *new std::list<int>;
std::mutex & mutex = *new std::mutex;
bool started = false;

void serve(void *) {
    for (;;) {
        std::this_thread::sleep_for(std::chrono::seconds(1));
        std::lock_guard<std::mutex> lock(mutex);
        for (int & seconds : watches) {
            if (++seconds > MOST_SECONDS) _exit(EXIT_CODE);
        }
    }
}

} // namespace

GrammarWatch::GrammarWatch(bool is_needed) : is_needed(is_needed) {
    if (!is_needed) return;
    std::lock_guard<std::mutex> lock(mutex);
    if (!started) start_thread(serve, nullptr);
    started = true;
    entry = watches.insert(watches.end(), 0);
}

GrammarWatch::~GrammarWatch() {
    if (!is_needed) return;
    std::lock_guard<std::mutex> lock(mutex);
    watches.erase(entry);
}

} // namespace svc
