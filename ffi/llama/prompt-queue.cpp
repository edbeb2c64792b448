// Prompts for the caller: submitted, awaited and taken. They are rendered and tokenized on separate native threads: a
// long prompt must not stall running streams, and short prompts do not wait for it.

#include "grammar-watch.hpp"
#include "recent-prompts.hpp"
#include "sampler.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <optional>

namespace svc {
namespace {

struct Prompt {
    RenderedPtr rendered;
    std::unique_ptr<Sampler> sampler;
    std::optional<Failure> failure;
    // Where the sampler is once it was taken.
    int32_t slot = -1;
};

// A request of at most this many bytes is small and does not wait for large ones.
constexpr size_t SMALL = 32 * 1024;

// Threads for all requests; one more takes small ones only. Two, so that no single request holds up all others.
constexpr int THREADS = 2;

struct Queued {
    int32_t job;
    // JSON, parsed only when its turn comes, because parsing may take long.
    std::string request;
    std::string sampler;
    std::string client;
    int32_t owner;
    // The request is not long and needs no grammar.
    bool is_small;
    // When it would be done if all clients were served at the same rate: the bytes of its client's requests up to it.
    uint64_t turn;
};

// A template or tokenizer that has begun cannot be interrupted. When nobody waits for its prompt any more, its thread
// counts as lost until it has finished: another thread takes its place, and its result is discarded.
constexpr int MOST_LOST = 4;
constexpr std::chrono::seconds LONGEST(20);

struct Running {
    Queued prompt;
    bool only_small;
    bool is_lost = false;
    bool is_reported = false;
    std::chrono::steady_clock::duration age{};
};

struct Prompts {
    std::mutex mutex;
    std::condition_variable submitted, finished;
    std::list<Queued> queue;
    // The latest turn that began, and the latest queued turn of each client.
    uint64_t now = 0;
    std::map<std::string, uint64_t> turns;
    std::list<Running> running;
    int lost = 0;
    std::chrono::steady_clock::time_point looked;
    // Number of each client's requests on the threads for all requests.
    std::map<std::string, int> held;
    std::map<int32_t, Prompt> results;
    std::deque<int32_t> unreported;
    int32_t next_job = 1;
    bool started = false;
};
Prompts & prompts = *new Prompts;

Prompt process(const Queued & one) {
    try {
        if (one.sampler.empty()) return {render(one.request), nullptr, std::nullopt};
        RenderedPtr rendered = find_recent(one.request);
        if (!rendered) keep_recent(one.request, rendered = render(one.request));
        auto sampler = make_sampler(common_json::parse(one.sampler), rendered->format, rendered->tokens);
        if (rendered->scores) sampler->prompt = rendered->tokens;
        return {std::move(rendered), std::move(sampler), std::nullopt};
    } catch (...) {
        Prompt failed;
        failed.failure = caught();
        return failed;
    }
}

// Requires the mutex.
void enqueue(Queued && one) {
    if (prompts.queue.empty()) prompts.turns.clear();
    uint64_t & of_client = prompts.turns[one.client];
    one.turn = of_client = std::max(of_client, prompts.now) + one.request.size();
    prompts.queue.push_back(std::move(one));
}

void work(bool only_small);

// The functions below require the mutex.

void leave_thread(const Running & one) {
    const std::string & client = one.prompt.client;
    if (!one.only_small && --prompts.held[client] == 0) prompts.held.erase(client);
    prompts.submitted.notify_all();
}

void report(int32_t job, Prompt && prompt) {
    prompts.results[job] = std::move(prompt);
    prompts.unreported.push_back(job);
    prompts.finished.notify_all();
}

// Gives up a thread and starts another in its place. Does nothing when too many are lost or no thread can be started.
void lose_thread(Running & one) {
    if (prompts.lost == MOST_LOST) return;
    try {
        start_thread([only_small = one.only_small] { work(only_small); });
    } catch (const std::exception &) {
        return;
    }
    one.is_lost = true;
    prompts.lost++;
    leave_thread(one);
}

void lose_late_ones() {
    const auto now = std::chrono::steady_clock::now();
    // While the process or the machine stood still, nothing was computed.
    const auto passed = std::min<std::chrono::steady_clock::duration>(now - prompts.looked, std::chrono::seconds(1));
    prompts.looked = now;
    for (Running & one : prompts.running) {
        one.age += passed;
        if (one.is_lost || one.age < LONGEST) continue;
        lose_thread(one);
        if (one.is_reported) continue;
        one.is_reported = true;
        Prompt late;
        late.failure = Failure(SVC_ERROR_PROMPT_TOO_SLOW, "the prompt takes too long to be made");
        report(one.prompt.job, std::move(late));
    }
}

// Returns the next request for a thread that takes all requests, or small ones only.
std::list<Queued>::iterator next_in_turn(bool only_small) {
    auto best = prompts.queue.end();
    for (auto one = prompts.queue.begin(); one != prompts.queue.end(); ++one) {
        if (only_small && !one->is_small) continue;
        // A single client must leave one thread to the others.
        const auto held = prompts.held.find(one->client);
        if (!only_small && held != prompts.held.end() && held->second >= THREADS - 1) continue;
        if (best == prompts.queue.end() || one->turn < best->turn) best = one;
    }
    return best;
}

// The functions below must be called without the mutex.

std::list<Running>::iterator begin_next(bool only_small) {
    std::unique_lock<std::mutex> lock(prompts.mutex);
    auto next = prompts.queue.end();
    prompts.submitted.wait(lock, [&] { return (next = next_in_turn(only_small)) != prompts.queue.end(); });
    const auto one = prompts.running.insert(prompts.running.end(), {std::move(*next), only_small});
    prompts.queue.erase(next);
    prompts.now = std::max(prompts.now, one->prompt.turn);
    if (!only_small) prompts.held[one->prompt.client]++;
    return one;
}

// Returns false when the thread is lost and must end.
bool finish(std::list<Running>::iterator one, Prompt && prompt) {
    // Freed after the mutex is released, because the request may be long and all callers wait for the mutex.
    std::list<Running> done;
    std::lock_guard<std::mutex> lock(prompts.mutex);
    done.splice(done.end(), prompts.running, one);
    if (one->is_lost) {
        prompts.lost--;
        prompts.finished.notify_all();
        return false;
    }
    leave_thread(*one);
    if (!one->is_reported) report(one->prompt.job, std::move(prompt));
    return true;
}

void work(bool only_small) {
    for (bool goes_on = true; goes_on;) {
        const auto one = begin_next(only_small);
        handle_for(one->prompt.owner);
        goes_on = finish(one, process(one->prompt));
    }
}

// Starts the threads at the first call.
int32_t submit(std::string request, std::string sampler, std::string client, bool has_grammar, int32_t owner) {
    const bool is_small = !has_grammar && request.size() <= SMALL;
    std::lock_guard<std::mutex> lock(prompts.mutex);
    if (!prompts.started) {
        for (int thread = 0; thread <= THREADS; thread++) start_thread([thread] { work(thread == THREADS); });
    }
    prompts.started = true;
    const int32_t job = prompts.next_job;
    prompts.next_job = job == INT32_MAX ? 1 : job + 1;
    enqueue({job, std::move(request), std::move(sampler), std::move(client), owner, is_small, 0});
    prompts.submitted.notify_all();
    return job;
}

// When a queued request is removed, the later requests of its client move forward by its size.
void cancel(int32_t job) {
    // Freed after the mutex is released, because the request may be long.
    std::list<Queued> cancelled;
    std::lock_guard<std::mutex> lock(prompts.mutex);
    for (Running & one : prompts.running) {
        if (one.prompt.job == job && !one.is_lost) return lose_thread(one);
    }
    const auto gone = std::find_if(prompts.queue.begin(), prompts.queue.end(), [job](const Queued & one) { return one.job == job; });
    if (gone == prompts.queue.end()) return;
    const size_t bytes = gone->request.size();
    prompts.turns[gone->client] -= bytes;
    for (Queued & one : prompts.queue) {
        if (one.client == gone->client && one.turn > gone->turn) one.turn -= bytes;
    }
    cancelled.splice(cancelled.end(), prompts.queue, gone);
}

} // namespace

void forget_prompts() {
    std::unique_lock<std::mutex> lock(prompts.mutex);
    prompts.queue.clear();
    prompts.finished.wait(lock, [] { return prompts.running.empty(); });
    prompts.results.clear();
    prompts.unreported.clear();
    forget_recent();
}

} // namespace svc

using namespace svc;

extern "C" {

int32_t svc_prompt_submit(const uint8_t * request, int32_t request_length, const uint8_t * sampler, int32_t sampler_length,
                          int32_t has_grammar, const char * client, int32_t owner) {
    return guarded<int32_t>(-1, [&] {
        if (!is_loaded()) return fail("no model is loaded");
        return submit(text_of(request, request_length), text_of(sampler, sampler_length), client, has_grammar != 0, owner);
    });
}

void svc_prompt_cancel(int32_t job) {
    guarded<int32_t>(0, [&] {
        cancel(job);
        return 0;
    });
}

int32_t svc_prompt_wait(int32_t timeout_ms, int32_t * tokens) {
    return guarded<int32_t>(0, [&] {
        std::unique_lock<std::mutex> lock(prompts.mutex);
        lose_late_ones();
        prompts.finished.wait_for(lock, std::chrono::milliseconds(timeout_ms), [] { return !prompts.unreported.empty(); });
        if (prompts.unreported.empty()) return 0;
        const int32_t job = prompts.unreported.front();
        prompts.unreported.pop_front();
        const Prompt & made = prompts.results.at(job);
        *tokens = made.failure ? fail(*made.failure) : static_cast<int32_t>(made.rendered->tokens.size());
        if (made.failure) prompts.results.erase(job);
        return job;
    });
}

int32_t svc_prompt_take(int32_t job, int32_t * tokens, int32_t tokens_capacity, uint8_t * json, int32_t json_capacity) {
    return guarded<int32_t>(-1, [&] {
        std::lock_guard<std::mutex> lock(prompts.mutex);
        const auto found = prompts.results.find(job);
        if (found == prompts.results.end()) return fail("no finished prompt has this number");
        Prompt & prompt = found->second;
        const std::vector<llama_token> & made = prompt.rendered->tokens;
        if (static_cast<int32_t>(made.size()) > tokens_capacity) return fail("the token buffer is too small");
        if (prompt.sampler) prompt.slot = place_sampler(std::move(prompt.sampler));
        common_json details = prompt.rendered->details;
        if (prompt.slot >= 0) details["sampler"] = prompt.slot;
        const int32_t length = copy_out(details.dump_safe(), json, json_capacity);
        if (length < 0) return length;
        std::copy(made.begin(), made.end(), tokens);
        prompts.results.erase(found);
        return length;
    });
}

} // extern "C"
