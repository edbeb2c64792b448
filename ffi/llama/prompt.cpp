// Chat templates and tokenizing on a native thread of their own: running streams must not feel a long prompt arriving.

#include "state.hpp"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace svc {
namespace {

struct Prompt {
    std::vector<llama_token> tokens;
    std::string json;
    std::string error;
};

std::mutex mutex;
std::condition_variable submitted, finished;
std::deque<std::pair<int32_t, common_json>> queue;
std::map<int32_t, Prompt> results;
std::deque<int32_t> unreported;
int32_t next_job = 1;
bool worker_started = false;

Prompt render_chat(const common_json & request) {
    common_chat_templates_inputs inputs;
    inputs.messages = common_chat_msgs_parse_oaicompat(request.at("messages"));
    inputs.enable_thinking = request.at("enableThinking").get<bool>();
    for (const auto & item : request.at("kwargs").items()) inputs.chat_template_kwargs[item.key()] = item.value().dump();
    const common_chat_params rendered = common_chat_templates_apply(state.templates.get(), inputs);
    Prompt prompt;
    prompt.tokens = common_tokenize(state.vocab, rendered.prompt, true, true);
    common_json details = common_json::object();
    details["stops"] = rendered.additional_stops;
    prompt.json = details.dump_safe();
    return prompt;
}

Prompt tokenize_text(const common_json & request) {
    Prompt prompt;
    prompt.tokens = common_tokenize(state.vocab, request.at("text").get<std::string>(),
                                    request.at("addSpecial").get<bool>(), request.at("parseSpecial").get<bool>());
    prompt.json = "{\"stops\":[]}";
    return prompt;
}

Prompt process(const common_json & request) {
    try {
        return request.contains("messages") ? render_chat(request) : tokenize_text(request);
    } catch (const std::exception & error) {
        Prompt prompt;
        prompt.error = *error.what() ? error.what() : "unknown error";
        return prompt;
    }
}

void work() {
    for (;;) {
        std::unique_lock<std::mutex> lock(mutex);
        submitted.wait(lock, [] { return !queue.empty(); });
        auto [job, request] = std::move(queue.front());
        queue.pop_front();
        lock.unlock();
        Prompt prompt = process(request);
        lock.lock();
        results[job] = std::move(prompt);
        unreported.push_back(job);
        finished.notify_one();
    }
}

} // namespace
} // namespace svc

using namespace svc;

extern "C" {

int32_t svc_prompt_submit(const uint8_t * request, int32_t request_length) {
    return guarded<int32_t>(-1, [&] {
        if (!state.vocab) return fail("no model is loaded");
        common_json parsed = parse_json(request, request_length);
        std::lock_guard<std::mutex> lock(mutex);
        if (!worker_started) {
            std::thread(work).detach();
            worker_started = true;
        }
        const int32_t job = next_job;
        next_job = next_job == INT32_MAX ? 1 : next_job + 1;
        queue.emplace_back(job, std::move(parsed));
        submitted.notify_one();
        return job;
    });
}

int32_t svc_prompt_wait(int32_t timeout_ms) {
    return guarded<int32_t>(0, [&] {
        std::unique_lock<std::mutex> lock(mutex);
        finished.wait_for(lock, std::chrono::milliseconds(timeout_ms), [] { return !unreported.empty(); });
        if (unreported.empty()) return 0;
        const int32_t job = unreported.front();
        unreported.pop_front();
        return job;
    });
}

int32_t svc_prompt_tokens_count(int32_t job) {
    return guarded<int32_t>(-1, [&] {
        std::lock_guard<std::mutex> lock(mutex);
        const auto found = results.find(job);
        if (found == results.end()) return fail("no finished prompt has this number");
        if (found->second.error.empty()) return static_cast<int32_t>(found->second.tokens.size());
        set_error(found->second.error);
        results.erase(found);
        return -1;
    });
}

int32_t svc_prompt_take(int32_t job, int32_t * tokens, int32_t tokens_capacity, uint8_t * json, int32_t json_capacity) {
    return guarded<int32_t>(-1, [&] {
        std::lock_guard<std::mutex> lock(mutex);
        const auto found = results.find(job);
        if (found == results.end()) return fail("no finished prompt has this number");
        const Prompt & prompt = found->second;
        if (static_cast<int32_t>(prompt.tokens.size()) > tokens_capacity) return fail("the token buffer is too small");
        const int32_t length = copy_out(prompt.json, json, json_capacity);
        if (length < 0) return fail("the JSON buffer is too small");
        std::copy(prompt.tokens.begin(), prompt.tokens.end(), tokens);
        results.erase(found);
        return length;
    });
}

} // extern "C"
