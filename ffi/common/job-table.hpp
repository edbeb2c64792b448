// Jobs by number, for libraries whose threads work on them while callers look at them and release them at any time.
#pragma once

#include "errors.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>

namespace svc {

// What every kind of job has.
struct AnyJob {
    int32_t number = 0;
    // Work on a released job stops.
    std::atomic<bool> released{false};
    // The mutex of the table protects it.
    std::optional<Failure> failure;
};

// `Job` is derived from AnyJob. A job is freed when it is released and no thread works on it any more.
template <typename Job> struct JobTable {
    using JobPtr = std::shared_ptr<Job>;

    // `missing`: the failure of a call about a job that is not there.
    explicit JobTable(const char * missing = "no job has this number") : missing(missing) {}

    // Protects the table, and the fields of jobs of which their library says so.
    std::mutex mutex;
    std::condition_variable changed;
    std::map<int32_t, JobPtr> jobs;
    // Numbers of jobs that `wait` is to return.
    std::deque<int32_t> reports;

    // The next three functions lock the mutex.

    // Calls `use` with a job. Returns its result, or `failed`, with the failure stored, when it throws or there is no job.
    template <typename Use, typename Result = int32_t> Result with(int32_t number, Use && use, Result failed = -1) noexcept {
        return guarded<Result>(failed, [&] {
            std::lock_guard<std::mutex> lock(mutex);
            const auto found = jobs.find(number);
            if (found == jobs.end()) throw std::runtime_error(missing);
            return use(found->second);
        });
    }

    // Waits up to `timeout_ms` for a report. Returns the job's number, or 0.
    int32_t wait(int32_t timeout_ms) noexcept {
        return guarded<int32_t>(0, [&] {
            std::unique_lock<std::mutex> lock(mutex);
            const auto some = [&] { return !reports.empty(); };
            if (!changed.wait_for(lock, std::chrono::milliseconds(timeout_ms), some)) return 0;
            const int32_t number = reports.front();
            reports.pop_front();
            return number;
        });
    }

    // Releases a job, and calls `leave` with it. Does nothing when there is no such job.
    template <typename Leave> void release(int32_t number, Leave && leave) noexcept {
        guarded<int32_t>(0, [&] {
            // Freed after the mutex is released, because it may have megabytes.
            JobPtr job;
            std::lock_guard<std::mutex> lock(mutex);
            const auto found = jobs.find(number);
            if (found == jobs.end()) return 0;
            job = std::move(found->second);
            job->released = true;
            jobs.erase(found);
            reports.erase(std::remove(reports.begin(), reports.end(), number), reports.end());
            leave(job);
            return 0;
        });
    }

    // The functions below require the mutex.

    // Adds a job under the next number, and returns that.
    int32_t add(const JobPtr & job) {
        job->number = last = last == INT32_MAX ? 1 : last + 1;
        jobs[last] = job;
        return last;
    }

    // Makes `wait` return a job's number, unless the job is released.
    void report(const Job & job) {
        if (job.released) return;
        reports.push_back(job.number);
        changed.notify_all();
    }

    // Releases all jobs.
    void clear() {
        for (const auto & entry : jobs) entry.second->released = true;
        jobs.clear();
        reports.clear();
    }

  private:
    const char * const missing;
    int32_t last = 0;
};

} // namespace svc
