#include "recent-prompts.hpp"

#include <chrono>
#include <list>
#include <mutex>

namespace svc {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds LONGEST_KEPT(10);
constexpr size_t MOST_KEPT = 64;
constexpr size_t MOST_BYTES_KEPT = 16 * 1024 * 1024;
struct RecentPrompt {
    std::string request;
    RenderedPtr rendered;
    Clock::time_point made = Clock::now();

    // Twice the request: a chat with media is kept as text, which is about as long.
    size_t bytes() const { return 2 * request.size() + rendered->tokens.size() * sizeof(llama_token); }
};
struct Recent {
    std::mutex mutex;
    // Newest first.
    std::list<RecentPrompt> prompts;
    size_t bytes = 0;
};
Recent & recent = *new Recent;

} // namespace

RenderedPtr find_recent(const std::string & request) {
    std::lock_guard<std::mutex> lock(recent.mutex);
    const auto oldest = Clock::now() - LONGEST_KEPT;
    for (const RecentPrompt & prompt : recent.prompts) {
        if (prompt.made < oldest) break;
        if (prompt.request == request) return prompt.rendered;
    }
    return nullptr;
}

void keep_recent(const std::string & request, const RenderedPtr & rendered) {
    std::lock_guard<std::mutex> lock(recent.mutex);
    auto & prompts = recent.prompts;
    prompts.push_front({request, rendered});
    recent.bytes += prompts.front().bytes();
    while (prompts.size() > MOST_KEPT || recent.bytes > MOST_BYTES_KEPT) {
        recent.bytes -= prompts.back().bytes();
        prompts.pop_back();
    }
}

void forget_recent() {
    std::lock_guard<std::mutex> lock(recent.mutex);
    recent.prompts.clear();
    recent.bytes = 0;
}

} // namespace svc
