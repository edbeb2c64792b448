// Prompts for the caller: submitted, awaited and taken.

#include "prompt-queue.hpp"

#include <algorithm>

using namespace svc;

namespace {

int32_t fail_unknown() { return fail("no finished prompt has this number"); }

} // namespace

extern "C" {

int32_t svc_prompt_submit(const uint8_t * request, int32_t request_length, const uint8_t * sampler, int32_t sampler_length,
                          int32_t has_grammar, const char * client, int32_t owner) {
    return guarded<int32_t>(-1, [&] {
        if (!is_loaded()) return fail("no model is loaded");
        return submit_prompt(text_of(request, request_length), text_of(sampler, sampler_length), client, has_grammar != 0,
                             owner);
    });
}

void svc_prompt_cancel(int32_t job) {
    guarded<int32_t>(0, [&] {
        cancel_prompt(job);
        return 0;
    });
}

int32_t svc_prompt_wait(int32_t timeout_ms) {
    return guarded<int32_t>(0, [&] { return wait_for_prompt(timeout_ms); });
}

int32_t svc_prompt_tokens_count(int32_t job) {
    return guarded<int32_t>(-1, [&] {
        int32_t count = -1;
        const bool found = use_prompt(job, [&](const Prompt & prompt) {
            if (prompt.failure) fail(*prompt.failure);
            else count = static_cast<int32_t>(prompt.rendered->tokens.size());
            return prompt.failure.has_value();
        });
        return found ? count : fail_unknown();
    });
}

int32_t svc_prompt_take(int32_t job, int32_t * tokens, int32_t tokens_capacity, uint8_t * json, int32_t json_capacity) {
    return guarded<int32_t>(-1, [&] {
        int32_t length = -1;
        const bool found = use_prompt(job, [&](Prompt & prompt) {
            const std::vector<llama_token> & made = prompt.rendered->tokens;
            if (static_cast<int32_t>(made.size()) > tokens_capacity) {
                fail("the token buffer is too small");
                return false;
            }
            if (prompt.sampler) prompt.slot = place_sampler(std::move(prompt.sampler));
            common_json details = prompt.rendered->details;
            if (prompt.slot >= 0) details["sampler"] = prompt.slot;
            length = copy_out(details.dump_safe(), json, json_capacity);
            if (length >= 0) std::copy(made.begin(), made.end(), tokens);
            return length >= 0;
        });
        return found ? length : fail_unknown();
    });
}

} // extern "C"
