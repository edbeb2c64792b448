// A few threads that share the work of one step with the calling thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>

namespace svc {

class Workers {
  public:
    // `threads` counts the calling thread.
    explicit Workers(int threads);

    // Runs task(0) … task(count - 1), in any order and on any of the threads; returns when all are done.
    // Throws the first exception that a task threw.
    void run(size_t count, const std::function<void(size_t)> & task);

  private:
    void serve();
    void take_tasks();

    std::mutex mutex;
    std::condition_variable started, finished;
    const std::function<void(size_t)> * task = nullptr;
    size_t count = 0;
    std::atomic<size_t> next{0};
    int helpers = 0;
    // Number of helpers that work on the tasks.
    int busy = 0;
    std::exception_ptr error;
};

} // namespace svc
