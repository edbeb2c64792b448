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
        busy = helpers;
        error = nullptr;
        round++;
    }
    started.notify_all();
    take_tasks();
    std::unique_lock<std::mutex> lock(mutex);
    finished.wait(lock, [this] { return busy == 0; });
    if (error) std::rethrow_exception(error);
}

void Workers::serve() {
    uint64_t served = 0;
    std::unique_lock<std::mutex> lock(mutex);
    for (;;) {
        started.wait(lock, [&] { return round != served; });
        served = round;
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
