#include "workers.hpp"

#include "../common/threads.hpp"

namespace svc {

Workers::Workers(int threads) {
    try {
        while (helpers < threads - 1) {
            start_thread([this] { serve(); });
            helpers++;
        }
    } catch (const std::exception &) {
        // Fewer threads are slower, not wrong.
    }
}

void Workers::run(size_t tasks, const std::function<void(size_t)> & body) {
    {
        std::lock_guard<std::mutex> lock(mutex);
        task = &body;
        count = tasks;
        next = 0;
        error = nullptr;
    }
    started.notify_all();
    take_tasks();
    // No task is left, so a helper that wakes up only now has nothing to do and is not waited for.
    std::unique_lock<std::mutex> lock(mutex);
    finished.wait(lock, [this] { return busy == 0; });
    if (error) std::rethrow_exception(error);
}

void Workers::serve() {
    std::unique_lock<std::mutex> lock(mutex);
    for (;;) {
        started.wait(lock, [this] { return next < count; });
        busy++;
        lock.unlock();
        take_tasks();
        lock.lock();
        if (--busy == 0) finished.notify_one();
    }
}

void Workers::take_tasks() {
    for (size_t i = next++; i < count; i = next++) {
        try {
            (*task)(i);
        } catch (...) {
            std::lock_guard<std::mutex> lock(mutex);
            if (!error) error = std::current_exception();
        }
    }
}

} // namespace svc
