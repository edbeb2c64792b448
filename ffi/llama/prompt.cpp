// Chat templates and tokenizing on a native thread of their own: running streams must not feel a long prompt arriving.

#include "state.hpp"

#include "chat-auto-parser.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <stdexcept>

namespace svc {
namespace {

struct Prompt {
    std::vector<llama_token> tokens;
    std::string json;
    std::string error;
};

struct Prompts {
    std::mutex mutex;
    std::condition_variable submitted, finished;
    std::deque<std::pair<int32_t, common_json>> queue;
    std::map<int32_t, Prompt> results;
    std::deque<int32_t> unreported;
    int32_t next_job = 1;
    bool worker_started = false;
    bool working = false;
};
Prompts & prompts = *new Prompts;

struct ChatTemplate {
    common_chat_templates_ptr templates;
    // llama.cpp renders it as it is written, so it need not be analysed again for each prompt (5 ms; rendering is 0.5).
    bool plain = false;
    std::vector<std::string> stops;
};
ChatTemplate & chat_template = *new ChatTemplate;

// True when llama.cpp has code of its own for this template, which may change messages before they are rendered.
bool is_specialized(const std::string & source) {
    try {
        const common_chat_template parsed(source, "", "");
        autoparser::generation_params probe;
        probe.messages = common_json::parse(R"([{"role": "user", "content": "Hi"}])");
        probe.add_generation_prompt = true;
        return common_chat_try_specialized_template(parsed, source, probe).has_value();
    } catch (const std::exception &) {
        return true;
    }
}

std::vector<std::string> additional_stops(const common_chat_templates * templates) {
    common_chat_templates_inputs inputs;
    inputs.messages.resize(1);
    inputs.messages[0].role = "user";
    inputs.messages[0].content = "Hi";
    try {
        return common_chat_templates_apply(templates, inputs).additional_stops;
    } catch (const std::exception &) {
        // Analysing failed, which says nothing about rendering.
        return {};
    }
}

std::vector<common_chat_msg> parse_messages(const common_json & messages) {
    try {
        return common_chat_msgs_parse_oaicompat(messages);
    } catch (const std::exception &) {
        // The original sentence quotes the message, and prompts are private.
        throw std::runtime_error("the messages are not in the shape of the chat API");
    }
}

Prompt render_chat(const common_json & request) {
    common_chat_templates_inputs inputs;
    inputs.messages = parse_messages(request.at("messages"));
    inputs.enable_thinking = request.at("enableThinking").get<bool>();
    inputs.force_pure_content = chat_template.plain;
    for (const auto & item : request.at("kwargs").items()) inputs.chat_template_kwargs[item.key()] = item.value().dump();
    const common_chat_params rendered = common_chat_templates_apply(chat_template.templates.get(), inputs);
    Prompt prompt;
    // Rendering has taken off a begin-of-text token that tokenizing puts back.
    prompt.tokens = common_tokenize(state.vocab, rendered.prompt, true, true);
    common_json details = common_json::object();
    details["stops"] = chat_template.plain ? chat_template.stops : rendered.additional_stops;
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
    Prompt failed;
    try {
        return request.contains("messages") ? render_chat(request) : tokenize_text(request);
    } catch (const std::exception & error) {
        failed.error = error.what();
    } catch (...) {
    }
    if (failed.error.empty()) failed.error = "unknown native exception";
    return failed;
}

void work(void *) {
    std::unique_lock<std::mutex> lock(prompts.mutex);
    for (;;) {
        prompts.submitted.wait(lock, [] { return !prompts.queue.empty(); });
        auto [job, request] = std::move(prompts.queue.front());
        prompts.queue.pop_front();
        prompts.working = true;
        lock.unlock();
        Prompt prompt = process(request);
        lock.lock();
        prompts.working = false;
        prompts.results[job] = std::move(prompt);
        prompts.unreported.push_back(job);
        prompts.finished.notify_all();
    }
}

} // namespace

bool load_chat_template() {
    chat_template.templates = common_chat_templates_init(state.model, "");
    const common_chat_templates * templates = chat_template.templates.get();
    chat_template.plain = !is_specialized(common_chat_templates_source(templates));
    chat_template.stops = additional_stops(templates);
    return common_chat_templates_was_explicit(templates);
}

void forget_prompts() {
    std::unique_lock<std::mutex> lock(prompts.mutex);
    prompts.queue.clear();
    prompts.finished.wait(lock, [] { return !prompts.working; });
    prompts.results.clear();
    prompts.unreported.clear();
    chat_template.templates.reset();
}

} // namespace svc

using namespace svc;

extern "C" {

int32_t svc_prompt_submit(const uint8_t * request, int32_t request_length) {
    return guarded<int32_t>(-1, [&] {
        if (!state.ready) return fail("no model is loaded");
        common_json parsed = parse_json(request, request_length);
        std::lock_guard<std::mutex> lock(prompts.mutex);
        if (!prompts.worker_started) start_thread(work, nullptr);
        prompts.worker_started = true;
        const int32_t job = prompts.next_job;
        prompts.next_job = job == INT32_MAX ? 1 : job + 1;
        prompts.queue.emplace_back(job, std::move(parsed));
        prompts.submitted.notify_one();
        return job;
    });
}

int32_t svc_prompt_wait(int32_t timeout_ms) {
    return guarded<int32_t>(0, [&] {
        std::unique_lock<std::mutex> lock(prompts.mutex);
        prompts.finished.wait_for(lock, std::chrono::milliseconds(timeout_ms), [] { return !prompts.unreported.empty(); });
        if (prompts.unreported.empty()) return 0;
        const int32_t job = prompts.unreported.front();
        prompts.unreported.pop_front();
        return job;
    });
}

int32_t svc_prompt_tokens_count(int32_t job) {
    return guarded<int32_t>(-1, [&] {
        std::lock_guard<std::mutex> lock(prompts.mutex);
        const auto found = prompts.results.find(job);
        if (found == prompts.results.end()) return fail("no finished prompt has this number");
        if (found->second.error.empty()) return static_cast<int32_t>(found->second.tokens.size());
        set_error(found->second.error);
        prompts.results.erase(found);
        return -1;
    });
}

int32_t svc_prompt_take(int32_t job, int32_t * tokens, int32_t tokens_capacity, uint8_t * json, int32_t json_capacity) {
    return guarded<int32_t>(-1, [&] {
        std::lock_guard<std::mutex> lock(prompts.mutex);
        const auto found = prompts.results.find(job);
        if (found == prompts.results.end()) return fail("no finished prompt has this number");
        const Prompt & prompt = found->second;
        if (static_cast<int32_t>(prompt.tokens.size()) > tokens_capacity) return fail("the token buffer is too small");
        const int32_t length = copy_out(prompt.json, json, json_capacity);
        if (length < 0) return fail("the JSON buffer is too small");
        std::copy(prompt.tokens.begin(), prompt.tokens.end(), tokens);
        prompts.results.erase(found);
        return length;
    });
}

} // extern "C"
